"""Accuracy of real trainings: each workload with five seeds, mean and 95 % interval.

A training's bits do not depend on the number of threads, so neither does its accuracy; seconds do,
and they are those of the machine as busy as it was. Curves are means over the seeds. `keras` and
`report` are figures of field report C and of Keras for the same network, batch and optimiser.
Usage: accuracy.py PROGRAM DATA RESULT [WORKLOAD...]
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = [1, 2, 3, 4, 5]
# Student's t for 95 % and four degrees of freedom.
T = 2.776445


def workloads(data, flowers):
    """Words of the command, what is demanded, and what others reached."""
    mlp = ["--network", "mlp", "--data", "fashion-mnist", "--neurons", "128",
           "--optimizer", "adam", "--batch", "32", "--epochs", "5"]
    return {
        # The report's rate stays; ours falls for the last two fifths of an epoch, because the end
        # of a constant rate is a matter of luck. Both are here.
        "fashion-mnist-mlp": {
            "words": [*mlp, "--schedule", "step:0.3@4.6"],
            "demands": {"test_accuracy": 0.87},
            "keras": {"train_accuracy_curve": [0.82, 0.87, 0.88, 0.885, 0.89]},
        },
        "fashion-mnist-mlp-constant-rate": {
            "words": mlp,
            "demands": {"test_accuracy": 0.87},
            "keras": {"train_accuracy_curve": [0.82, 0.87, 0.88, 0.885, 0.89]},
            "report": {"train_accuracy_curve": [0.8249, 0.8662, 0.8770, 0.8837, 0.8914],
                       "test_accuracy": 0.8728},
        },
        "mnist-bilstm": {
            "words": ["--network", "bilstm:128", "--data", "mnist", "--data-dir", f"{data}/mnist",
                      "--optimizer", "adam", "--batch", "128", "--lr", "0.002", "--epochs", "3"],
            "demands": {"test_accuracy": 0.97},
        },
        "flowers-cnn": {
            "words": ["--network", "cnn:flowers", "--data", flowers, "--optimizer", "adam",
                      "--batch", "32", "--epochs", "8", "--schedule", "cosine",
                      "--augment", "flip,crop:64,contrast:0.8-1.2"],
            "demands": {"test_accuracy": 0.66},
            "report": {"test_accuracy": 0.6611},
        },
        "a9a-logistic": {
            "words": ["--network", "logistic", "--data", f"{data}/sparse/a9a",
                      "--optimizer", "adagrad", "--lr", "0.1", "--batch", "100",
                      "--epochs", "10"],
            "demands": {"test_accuracy": 0.845, "test_auc": 0.90},
        },
    }


def train(program, words, seed, threads):
    """Epochs and the end of one training."""
    command = [program, "train", *words, "--seed", str(seed), "--threads", str(threads), "--json"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    events = [json.loads(line) for line in text.splitlines() if '"event":"step"' not in line]
    epochs = [event for event in events if event["event"] == "epoch"]
    assert events[-1]["event"] == "done", events[-1]
    return epochs, events[-1]


def summary(values):
    """Mean, interval and each value."""
    mean = statistics.mean(values)
    half = T * statistics.stdev(values) / len(values) ** 0.5
    return {"mean": mean, "low": mean - half, "high": mean + half, "each": values}


def measure(program, workload, threads):
    runs = [train(program, workload["words"], seed, threads) for seed in SEEDS]
    ends = [end for _, end in runs]
    found = {key: summary([end[key] for end in ends]) for key in workload["demands"]}
    curve = lambda key: [statistics.mean(each) for each in
                         zip(*[[epoch[key] for epoch in epochs] for epochs, _ in runs])]
    return {
        "command": " ".join(["trainwright", "train", *map(os.path.basename, workload["words"])]),
        "threads": threads,
        **found,
        "train_accuracy": summary([end["train_accuracy"] for end in ends]),
        "train_accuracy_curve": curve("train_accuracy"),
        "test_accuracy_curve": curve("test_accuracy"),
        "seconds": [end["time_s"] for end in ends],
        "demands": workload["demands"],
        "met": {key: found[key]["mean"] >= least for key, least in workload["demands"].items()},
        **{key: workload[key] for key in ["keras", "report"] if key in workload},
    }


def main():
    program, data, result, *chosen = sys.argv[1:]
    threads = int(os.environ.get("THREADS", os.cpu_count()))
    path = Path(result)
    results = json.loads(path.read_text())["workloads"] if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        flowers = f"{folder}/flowers72"
        prepare = [program, "data", "prepare", f"{data}/flowers/small192", "--out", flowers,
                   "--size", "72", "--shards", "4", "--split", "0.8,0,0.2", "--pixels"]
        subprocess.run(prepare, check=True, capture_output=True)
        for name, workload in workloads(data, flowers).items():
            if chosen and name not in chosen:
                continue
            results[name] = measure(program, workload, threads)
            print(name, json.dumps(results[name]["test_accuracy"]), results[name]["met"], flush=True)
            version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            machine = {"processor": platform.processor() or platform.machine(),
                       "cores": os.cpu_count(), "system": platform.platform()}
            text = {"version": version.strip(), "machine": machine, "seeds": SEEDS,
                    "workloads": results}
            path.write_text(json.dumps(text, indent=2) + "\n")


main()
