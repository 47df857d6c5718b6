"""Best-so-far curves of searchers on the same problems, and how long a suggestion takes.

Each run (problem, searcher, seed) is a file in runs/, so that a comparison can be made in parts and
goes on where it stopped. The summary has medians over seeds and paired comparisons of the best
value at the end by `trainwright compare`; times.py measures suggestion times.
"""

import argparse
import importlib
import json
import math
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import problems as catalogue

OURS = ["bayesian", "tpe", "random"]
PAIRS = [
    ("trainwright-bayesian", "optuna-gp"),
    ("trainwright-bayesian", "optuna-tpe"),
    ("trainwright-bayesian", "hebo"),
    ("trainwright-tpe", "optuna-tpe"),
]


def suggest_ours(program, method, problem, space, value, seed, trials):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "study.toml"
        path.write_text(catalogue.study(problem, space))
        words = [program / "examples" / "suggestions", path, method, str(seed), str(trials)]
        own = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        values, seconds = [], []
        for _ in range(trials):
            line = own.stdout.readline()
            if not line:
                break
            told = json.loads(line)
            configuration = {
                name: str(level) if space[name]["kind"] == "levels" else level
                for name, level in told["configuration"].items()
            }
            values.append(value(configuration))
            seconds.append(told["micros"] / 1e6)
            own.stdin.write(f"{values[-1]!r}\n")
            own.stdin.flush()
        own.stdin.close()
        own.wait()
    return values, seconds


def optuna_sampler(kind, seed):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if kind == "optuna-tpe":
        return optuna.samplers.TPESampler(seed=seed)
    return optuna.samplers.GPSampler(seed=seed)


def suggest_optuna(kind, space, value, seed, trials):
    import warnings

    import optuna

    warnings.filterwarnings("ignore")
    study = optuna.create_study(sampler=optuna_sampler(kind, seed))
    values, seconds = [], []
    for _ in range(trials):
        begun = time.perf_counter()
        trial = study.ask()
        configuration = {}
        for name, own in space.items():
            if own["kind"] == "real":
                configuration[name] = trial.suggest_float(name, own["low"], own["high"], log=own["log"])
            elif own["kind"] == "whole":
                configuration[name] = trial.suggest_int(name, own["low"], own["high"], log=own["log"])
            elif own["kind"] == "levels":
                place = trial.suggest_int(name, 0, len(own["values"]) - 1)
                configuration[name] = own["values"][place]
            else:
                configuration[name] = trial.suggest_categorical(name, own["values"])
        seconds.append(time.perf_counter() - begun)
        values.append(value(configuration))
        study.tell(trial, values[-1])
    return values, seconds


def suggest_hebo(space, value, seed, trials):
    import numpy as np
    import pandas as pd
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    def dimension(name, own):
        if own["kind"] == "real":
            kind = "pow" if own["log"] else "num"
            return {"name": name, "type": kind, "lb": own["low"], "ub": own["high"]}
        if own["kind"] == "whole":
            kind = "pow_int" if own["log"] else "int"
            return {"name": name, "type": kind, "lb": own["low"], "ub": own["high"]}
        if own["kind"] == "levels":
            return {"name": name, "type": "int", "lb": 0, "ub": len(own["values"]) - 1}
        return {"name": name, "type": "cat", "categories": own["values"]}

    np.random.seed(seed)
    own_space = DesignSpace().parse([dimension(name, own) for name, own in space.items()])
    own = HEBO(own_space, scramble_seed=seed)
    values, seconds = [], []
    for _ in range(trials):
        begun = time.perf_counter()
        row = own.suggest(n_suggestions=1)
        seconds.append(time.perf_counter() - begun)
        configuration = row.iloc[0].to_dict()
        for name, part in space.items():
            if part["kind"] == "levels":
                configuration[name] = part["values"][int(configuration[name])]
            elif part["kind"] == "whole":
                configuration[name] = int(configuration[name])
        values.append(value(configuration))
        own.observe(pd.DataFrame(row), np.array([[values[-1]]]))
    return values, seconds


PEERS = {"optuna-tpe": ["optuna"], "optuna-gp": ["optuna", "torch"], "hebo": ["hebo.optimizers.hebo"]}


def installed(searcher):
    """Whether all that a searcher needs is there; slow to find out, so only for those asked for."""
    try:
        for module in PEERS.get(searcher, []):
            importlib.import_module(module)
    except Exception as reason:
        print(f"{searcher} is left out: {reason}", file=sys.stderr)
        return False
    if searcher == "optuna-gp":
        sys.modules["torch"].set_num_threads(1)
    return True


def one(program, problem, searcher, seed, trials):
    space, noisy, true = catalogue.problems()[problem]
    chance = catalogue.chance(problem, seed)
    truths = []

    def value(configuration):
        truths.append(true(configuration))
        return noisy(configuration, chance)

    begun = time.perf_counter()
    if searcher.startswith("trainwright-"):
        method = searcher.removeprefix("trainwright-")
        told, seconds = suggest_ours(program, method, problem, space, value, seed, trials)
    elif searcher == "hebo":
        told, seconds = suggest_hebo(space, value, seed, trials)
    else:
        told, seconds = suggest_optuna(searcher, space, value, seed, trials)
    # The best is what the searcher would call it by what it was told; it counts by its true value.
    best, curve = None, []
    for place, own in enumerate(told):
        if best is None or own < told[best]:
            best = place
        curve.append(truths[best])
    # A small space may be exhausted: its best stays.
    curve += [curve[-1]] * (trials - len(curve))
    return {"curve": curve, "seconds": seconds, "total_s": time.perf_counter() - begun}


def trials_of(problem, arguments):
    """A recorded surface has few configurations, so that fewer trials tell searchers apart."""
    return min(arguments.trials, 20) if problem.startswith("recorded-") else arguments.trials


def run_all(arguments):
    begun = time.monotonic()
    runs = arguments.folder / "runs"
    runs.mkdir(exist_ok=True)
    names = arguments.problems or list(catalogue.problems())
    searchers = [f"trainwright-{own}" for own in OURS] + list(PEERS)
    if arguments.searchers:
        searchers = [own for own in searchers if own in arguments.searchers.split(",")]
    searchers = [own for own in searchers if installed(own)]
    for seed in range(arguments.seeds):
        for problem in names:
            for searcher in searchers:
                path = runs / f"{problem}.{searcher}.{seed}.json"
                if searcher == "hebo" and seed >= arguments.slow_seeds:
                    continue
                if path.exists():
                    continue
                if time.monotonic() - begun > 60 * arguments.minutes:
                    return
                found = one(arguments.program, problem, searcher, seed, trials_of(problem, arguments))
                path.write_text(json.dumps(found))


def paired(program, ours, theirs):
    """The p-value and the words of our own comparison of two searchers over seeds."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ends.csv"
        lines = ["seed,searcher,loss"]
        for seed, (a, b) in enumerate(zip(ours, theirs)):
            lines += [f"{seed},ours,{a!r}", f"{seed},theirs,{b!r}"]
        path.write_text("\n".join(lines) + "\n")
        words = [program / "trainwright", "compare", "--data", path, "--column", "loss", "--by", "searcher"]
        words += ["--baseline", "theirs", "--paired", "seed"]
        own = subprocess.run(words, capture_output=True, text=True)
    return own.stdout.strip() or own.stderr.strip()


def summarise(arguments):
    runs = {}
    for path in sorted((arguments.folder / "runs").glob("*.json")):
        problem, searcher, seed = path.name.removesuffix(".json").rsplit(".", 2)
        runs.setdefault(problem, {}).setdefault(searcher, {})[int(seed)] = json.loads(path.read_text())
    result = {"machine": platform.processor() or platform.machine(), "trials": arguments.trials, "problems": {}}
    for problem, searchers in runs.items():
        lowest = min(min(run["curve"]) for own in searchers.values() for run in own.values())
        rows = {}
        for searcher, own in searchers.items():
            curves = [own[seed]["curve"] for seed in sorted(own)]
            at = lambda place: statistics.median(curve[place - 1] for curve in curves)
            marks = [mark for mark in (10, 20, 30, 40, 50) if mark <= min(map(len, curves))]
            rows[searcher] = {
                "seeds": len(curves),
                "median_best": {str(mark): at(mark) for mark in marks},
                "mean_regret": {
                    str(mark): statistics.fmean(curve[mark - 1] - lowest for curve in curves) for mark in marks
                },
            }
        for own, peer in PAIRS:
            ours, theirs = searchers.get(own, {}), searchers.get(peer, {})
            both = sorted(set(ours) & set(theirs))
            if len(both) < 3:
                continue
            ends = [[runs[seed]["curve"][-1] for seed in both] for runs in (ours, theirs)]
            rows[peer].setdefault("against", {})[own] = {
                "seeds": len(both),
                "ours_better": sum(a < b for a, b in zip(*ends)),
                "ours_worse": sum(a > b for a, b in zip(*ends)),
                "compare": paired(arguments.program, *ends),
            }
        result["problems"][problem] = rows
    (arguments.folder / "result.json").write_text(json.dumps(result, indent=1) + "\n")
    for problem, rows in result["problems"].items():
        print(problem)
        for searcher, own in sorted(rows.items(), key=lambda row: list(row[1]["mean_regret"].values())[-1]):
            print(f"  {searcher:28} {own['seeds']:3} seeds  best {list(own['median_best'].values())[-1]:.5g}"
                  f"  mean regret {list(own['mean_regret'].values())[-1]:.4g}")
            for ours, words in own.get("against", {}).items():
                print(f"    {ours}: better {words['ours_better']}, worse {words['ours_worse']} of {words['seeds']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--slow-seeds", type=int, default=20, help="seeds of peers that take seconds a suggestion")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no run after so many minutes, and leave the summary")
    parser.add_argument("--searchers", help="only these, separated by commas")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    if not arguments.summary:
        run_all(arguments)
    if math.isinf(arguments.minutes):
        summarise(arguments)


if __name__ == "__main__":
    main()
