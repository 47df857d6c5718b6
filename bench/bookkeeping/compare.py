"""Time that a trial costs beyond its own process, for trials that run `true`.

Every tool runs the same number of trials in a folder of its own on the same disk; the time of the
processes themselves, as each tool's own clock saw it, is taken off. Rounds are interleaved and the
median is reported, with the smallest and the largest round.
"""

import itertools
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import optuna

TRIALS = 200
ROUNDS = 7
MANY = 10_000

STUDY = """schema = 1
[study]
name = "bookkeeping"
[factors.i]
levels = {levels}
[design]
type = "full"
[run]
command = ["true", "{{i}}"]
[metrics.time]
from = "wall"
unit = "s"
[analysis]
terms = "main"
"""


def trainwright(program, folder, *flags):
    """Milliseconds a trial, without its process."""
    study = folder / "study.toml"
    study.write_text(STUDY.format(levels=list(range(TRIALS))))
    start = time.perf_counter()
    subprocess.run([program, "run", study, "--json", *flags], check=True, capture_output=True)
    total = time.perf_counter() - start
    rows = subprocess.run(
        [program, "status", study, "--json"], check=True, capture_output=True
    ).stdout
    processes = sum(trial["wall_s"] for trial in json.loads(rows)["trials"])
    return 1000 * (total - processes) / TRIALS


def optuna_sqlite(folder):
    """The same for Optuna with its SQLite storage and random sampler."""
    processes = 0.0

    def objective(trial):
        nonlocal processes
        trial.suggest_int("i", 0, TRIALS)
        start = time.perf_counter()
        subprocess.run(["true"], check=True)
        took = time.perf_counter() - start
        processes += took
        return took

    start = time.perf_counter()
    study = optuna.create_study(
        storage=f"sqlite:///{folder}/study.db", sampler=optuna.samplers.RandomSampler(seed=1)
    )
    study.optimize(objective, n_trials=TRIALS)
    return 1000 * (time.perf_counter() - start - processes) / TRIALS


def start_up(program):
    """Milliseconds for the shortest call there is."""
    start = time.perf_counter()
    subprocess.run([program, "--version"], check=True, capture_output=True)
    return 1000 * (time.perf_counter() - start)


def listing(program, folder):
    """Seconds to list a study of many finished trials, and to export it."""
    side = round(MANY**0.5)
    levels = list(range(side))
    study = folder / "study.toml"
    study.write_text(
        STUDY.format(levels=levels)
        .replace("[design]", f"[factors.j]\nlevels = {levels}\n[design]")
        .replace('["true", "{i}"]', '["true", "{i}", "{j}"]')
    )
    table = folder / "results.csv"
    lines = [f"{i},{j},{i + j}.5" for i in levels for j in levels]
    table.write_text("i,j,time\n" + "\n".join(lines) + "\n")
    quiet = {"check": True, "capture_output": True}
    subprocess.run([program, "import", table, "--study", study], **quiet)
    times = {}
    for verb in ["status", "export"]:
        start = time.perf_counter()
        subprocess.run([program, verb, study], **quiet)
        times[verb] = time.perf_counter() - start
    return times


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def main():
    # Folders go at the end only: deleting thousands of files slows the creation of the next.
    with tempfile.TemporaryDirectory(dir=".") as root:
        measure(Path(root))


def measure(root):
    numbers = itertools.count()

    def folder():
        path = root / str(next(numbers))
        path.mkdir()
        return path

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    program, output = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    figures = {"trainwright": [], "trainwright --no-flush": [], "optuna SQLite": []}
    starts = []
    for _ in range(ROUNDS):
        figures["trainwright"].append(trainwright(program, folder()))
        figures["trainwright --no-flush"].append(trainwright(program, folder(), "--no-flush"))
        figures["optuna SQLite"].append(optuna_sqlite(folder()))
        starts.extend(start_up(program) for _ in range(5))
    medians = {name: statistics.median(values) for name, values in figures.items()}
    lists = [listing(program, folder()) for _ in range(3)]
    result = {
        "trials": TRIALS,
        "rounds": ROUNDS,
        "ms_per_trial_beyond_its_process": {k: summary(v) for k, v in figures.items()},
        "optuna_over_trainwright": medians["optuna SQLite"] / medians["trainwright"],
        "start_up_ms": summary(starts),
        f"seconds_for_{MANY}_trials": {
            verb: summary([times[verb] for times in lists]) for verb in lists[0]
        },
        "optuna": optuna.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    Path(output).write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
