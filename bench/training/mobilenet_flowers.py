"""The learning curve of two trainings, the second from the weights of the first, from their JSON
lines. Usage: mobilenet_flowers.py FIRST SECOND RESULT"""

import json
import os
import platform
import sys


def read(path):
    """Epochs by number, and the end."""
    with open(path) as file:
        events = [json.loads(line) for line in file if '"event":"step"' not in line]
    assert events[-1]["event"] == "done", events[-1]
    return {event["epoch"]: event for event in events if event["event"] == "epoch"}, events[-1]


*lines, result = sys.argv[1:]
runs = [read(path) for path in lines]
epochs = [epoch for curve, _ in runs for epoch in curve.values()]
done = runs[-1][1]
report = {
    "what": "MobileNetV2 (width 0.5, 96 x 96) from scratch on the flowers, one seed",
    "demands": {"test_accuracy": 0.75},
    "test_accuracy": done["test_accuracy"],
    "met": done["test_accuracy"] > 0.75,
    "epochs": [end["epochs"] for _, end in runs],
    "test_accuracy_after": [end["test_accuracy"] for _, end in runs],
    "seconds": [end["time_s"] for _, end in runs],
    "test_accuracy_curve": [epoch["test_accuracy"] for epoch in epochs],
    "train_accuracy_curve": [epoch["train_accuracy"] for epoch in epochs],
    "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
}
with open(result, "w") as file:
    json.dump(report, file, indent=2)
    file.write("\n")
print(report["test_accuracy"], "after", report["epochs"], "epochs")
