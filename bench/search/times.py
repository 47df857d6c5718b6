"""How long a suggestion takes when 50 trials are known, searcher beside searcher.

times.py PROGRAM FOLDER writes FOLDER/times.json. Every searcher sees the same 50 random points of
Hartmann's function of six variables, or has searched it for 50 trials where it takes no points from
outside (ours), and is then asked five times; the rounds of all searchers alternate. Run it on an
idle machine.
"""

import json
import pathlib
import platform
import random
import statistics
import sys
import time
import warnings

import compare
import problems as catalogue

KNOWN, ASKED, ROUNDS = 50, 5, 3
SPACE, _, VALUE = catalogue.problems()["hartmann6"]


def points(seed):
    chance = random.Random(seed)
    return [{name: chance.random() for name in SPACE} for _ in range(KNOWN)]


def ours(method):
    def times(program, seed):
        _, seconds = compare.suggest_ours(program, method, "hartmann6", SPACE, VALUE, seed, KNOWN + ASKED)
        return seconds[-ASKED:]

    return times


def optuna_times(kind):
    def times(program, seed):
        import optuna

        study = optuna.create_study(sampler=compare.optuna_sampler(kind, seed))
        distribution = {name: optuna.distributions.FloatDistribution(0, 1) for name in SPACE}
        for point in points(seed):
            told = optuna.trial.create_trial(params=point, distributions=distribution, value=VALUE(point))
            study.add_trial(told)
        seconds = []
        for _ in range(ASKED):
            begun = time.perf_counter()
            trial = study.ask()
            point = {name: trial.suggest_float(name, 0, 1) for name in SPACE}
            seconds.append(time.perf_counter() - begun)
            study.tell(trial, VALUE(point))
        return seconds

    return times


def scikit_optimize(program, seed):
    import skopt

    own = skopt.Optimizer([(0.0, 1.0)] * len(SPACE), random_state=seed, n_initial_points=10)
    known = points(seed)
    own.tell([list(point.values()) for point in known], [VALUE(point) for point in known])
    seconds = []
    for _ in range(ASKED):
        # It fits its model when it is told, and looks for the next point there too.
        begun = time.perf_counter()
        point = own.ask()
        own.tell(point, VALUE(dict(zip(SPACE, point))))
        seconds.append(time.perf_counter() - begun)
    return seconds


def hebo(program, seed):
    import numpy
    import pandas
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    space = DesignSpace().parse([{"name": name, "type": "num", "lb": 0, "ub": 1} for name in SPACE])
    own = HEBO(space, scramble_seed=seed)
    known = points(seed)
    own.observe(pandas.DataFrame(known), numpy.array([[VALUE(point)] for point in known]))
    seconds = []
    for _ in range(ASKED):
        begun = time.perf_counter()
        row = own.suggest(n_suggestions=1)
        seconds.append(time.perf_counter() - begun)
        own.observe(row, numpy.array([[VALUE(row.iloc[0].to_dict())]]))
    return seconds


SEARCHERS = {
    "trainwright-bayesian": ours("bayesian"),
    "trainwright-tpe": ours("tpe"),
    "optuna-gp": optuna_times("optuna-gp"),
    "optuna-tpe": optuna_times("optuna-tpe"),
    "scikit-optimize-gp": scikit_optimize,
    "hebo": hebo,
}


def main():
    warnings.filterwarnings("ignore")
    program, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    there = [own for own in SEARCHERS if compare.installed(own)]
    seconds = {own: [] for own in there}
    for seed in range(ROUNDS):
        for own in there:
            try:
                seconds[own] += SEARCHERS[own](program, seed)
            except ImportError as reason:
                print(f"{own} is left out: {reason}", file=sys.stderr)
    medians = {own: statistics.median(all) for own, all in seconds.items() if all}
    base = medians["trainwright-bayesian"]
    result = {
        "machine": platform.processor() or platform.machine(),
        "known_trials": KNOWN,
        "median_s": medians,
        "times_ours": {own: value / base for own, value in medians.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "times.json").write_text(json.dumps(result, indent=1) + "\n")
    for own, value in medians.items():
        print(f"{own:24} {1000 * value:9.2f} ms, {value / base:7.2f} times our Gaussian process")


main()
