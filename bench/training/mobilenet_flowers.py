"""The learning curve of a training from its JSON lines. Usage: mobilenet_flowers.py LINES RESULT"""

import json
import os
import platform
import sys

lines, result = sys.argv[1:]
with open(lines) as file:
    events = [json.loads(line) for line in file if '"event":"step"' not in line]
epochs = {event["epoch"]: event for event in events if event["event"] == "epoch"}
done = events[-1]
assert done["event"] == "done", done
first = next(number for number, epoch in epochs.items() if epoch["test_accuracy"] > 0.75)
report = {
    "what": "MobileNetV2 (width 0.5, 96 x 96) from scratch on the flowers, seed 1",
    "demands": {"test_accuracy": 0.75},
    "test_accuracy": done["test_accuracy"],
    "met": done["test_accuracy"] > 0.75,
    "epochs": done["epochs"],
    "first_epoch_past_0.75": first,
    "seconds": done["time_s"],
    "test_accuracy_curve": [epoch["test_accuracy"] for epoch in epochs.values()],
    "train_accuracy_curve": [epoch["train_accuracy"] for epoch in epochs.values()],
    "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
}
with open(result, "w") as file:
    json.dump(report, file, indent=2)
    file.write("\n")
print(report["test_accuracy"], "after", report["epochs"], "epochs")
