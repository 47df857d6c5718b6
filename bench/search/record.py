"""Records six surfaces of the built-in trainer on its embedded pictures: every combination of a grid.

record.py PROGRAM FOLDER writes one CSV a surface: the factors and `value`, the share of wrong
answers, or for `cost` the time over the square of the accuracy in percent. A surface that is there
already is left alone.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

RATES = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3]
BATCHES = [16, 32, 64, 128, 256]

SURFACES = {
    "sgd": ({"lr": RATES, "batch": BATCHES}, {"optimizer": "sgd", "epochs": 3}, "wrong"),
    "adam": ({"lr": RATES, "batch": BATCHES}, {"optimizer": "adam", "epochs": 2}, "wrong"),
    "shape": (
        {"lr": RATES, "neurons": [16, 64, 256], "hidden_layers": [1, 2, 3]},
        {"optimizer": "adam", "epochs": 2, "batch": 64},
        "wrong",
    ),
    "schedule": (
        {"lr": RATES, "batch": [16, 64, 256], "optimizer": ["sgd", "adam"], "schedule": ["constant", "cosine"]},
        {"epochs": 2},
        "wrong",
    ),
    "length": ({"lr": RATES, "epochs": [1, 2, 4, 8], "optimizer": ["sgd", "adam"]}, {"batch": 64}, "wrong"),
    "cost": ({"neurons": [8, 32, 128, 512], "batch": BATCHES, "epochs": [1, 2, 4]}, {"optimizer": "adam", "lr": 0.003}, "cost"),
}


def study(name, factors, job, value):
    lines = ["schema = 1", "[study]", f'name = "{name}"', "seed = 1"]
    for factor, levels in factors.items():
        lines += [f"[factors.{factor}]", "levels = " + repr(levels).replace("'", '"')]
    lines += ["[design]", 'type = "full"', 'order = "standard"', "[job]", 'network = "mlp"', 'data = "fashion-mnist-sample"', "threads = 1"]
    lines += [f"{key} = {own!r}".replace("'", '"') for key, own in job.items()]
    lines += ["[metrics.accuracy]", 'from = "jsonl"', "[metrics.train_time]", 'from = "jsonl"', 'unit = "s"']
    lines += ["[metrics.wrong]", 'expr = "1 - accuracy"', "[metrics.cost]", 'expr = "train_time / (accuracy * 100)^2"']
    lines += ["[analysis]", f'response = "{value}"', 'terms = "main"', 'diverged = "count"']
    return "\n".join(lines) + "\n"


def record(program, folder, name):
    factors, job, value = SURFACES[name]
    target = folder / f"{name}.csv"
    if target.exists():
        return
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "study.toml"
        path.write_text(study(name, factors, job, value))
        subprocess.run([program, "run", path, "--no-flush"], capture_output=True)
        table = subprocess.run([program, "export", path, "--format", "csv"], capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(table.stdout.splitlines()))
    # A training that fell apart is as bad as guessing.
    lines = [[*(row[factor] for factor in factors), row[value] or "0.9"] for row in rows]
    with open(target, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*factors, "value"])
        writer.writerows(lines)
    print(f"{name}: {len(lines)} configurations")


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for name in sys.argv[3:] or SURFACES:
        record(program, folder, name)


main()
