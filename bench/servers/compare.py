"""Asynchronous steps a second of Trainwright and of TensorFlow's ParameterServerStrategy.

`compare.py PROGRAM FOLDER RESULT [--rounds N] [--smoke] [--only SET:BATCH]`. With --only one row is
measured and takes its place in the result, so that the whole can be done in pieces. Two workers and one server, all processes of
this machine, one thread each; plain descent. Both take turns, so that a slow moment of the machine
meets both; figures are medians over rounds, ratios medians of the ratios within each round. The loss
of the test part after the same number of examples tells that both do the same work.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from data import sets  # noqa: E402

RATE = 0.1
# Of each round by batch: steps of the peer, whole epochs of ours.
STEPS = {1: (400, 1), 100: (400, 10), 1000: (200, 30)}
# A peer that stands still is an error.
LIMIT_S = 180


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for own in sockets:
        own.bind(("127.0.0.1", 0))
    ports = [own.getsockname()[1] for own in sockets]
    for own in sockets:
        own.close()
    return ports


def ours(program, path, batch, epochs):
    words = [
        program, "train", "--network", "logistic", "--data", str(path), "--optimizer", "sgd", "--lr", str(RATE),
        "--batch", str(batch), "--epochs", str(epochs), "--strategy", "parameter-server", "--workers", "2",
        "--servers", "1", "--consistency", "async", "--json",
    ]
    text = subprocess.run(words, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    done = json.loads(text.splitlines()[-1])
    return {"steps": done["steps"], "seconds": done["time_s"], "test_loss": done["test_loss"]}


def theirs(path, features, batch, steps):
    ports = ",".join(f"127.0.0.1:{port}" for port in free_ports(3))
    words = [
        sys.executable, str(HERE / "peer_tensorflow.py"), str(path), f"{path}.t", str(features), str(batch),
        str(RATE), str(steps), ports,
    ]
    text = subprocess.run(words, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    return json.loads(text.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("result")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    rounds = 1 if arguments.smoke else arguments.rounds
    result = Path(arguments.result)
    rows = json.loads(result.read_text())["rows"] if arguments.only and result.exists() else []
    for name, path, features in sets(arguments.folder, arguments.smoke):
        examples = sum(1 for _ in open(path))
        for batch, (steps, epochs) in STEPS.items():
            if arguments.only and arguments.only != f"{name}:{batch}":
                continue
            steps = steps // 10 if arguments.smoke else steps
            taken = {"ours": [], "tensorflow": []}
            for _ in range(rounds):
                taken["ours"].append(ours(arguments.program, path, batch, epochs))
                taken["tensorflow"].append(theirs(path, features, batch, steps))
            # One epoch of both, where that does not take minutes: the same loss.
            once = ours(arguments.program, path, batch, 1)
            alike = theirs(path, features, batch, max(1, examples // batch)) if batch >= 100 else None
            speed = {who: [own["steps"] / own["seconds"] for own in all_of] for who, all_of in taken.items()}
            ratio = statistics.median(a / b for a, b in zip(speed["ours"], speed["tensorflow"], strict=True))
            row = {
                "set": name, "examples": examples, "features": features, "batch": batch,
                "ours_steps_per_s": statistics.median(speed["ours"]),
                "tensorflow_steps_per_s": statistics.median(speed["tensorflow"]),
                "ratio": ratio, "ratios": [a / b for a, b in zip(speed["ours"], speed["tensorflow"], strict=True)],
                "ours_test_loss": once["test_loss"],
                "tensorflow_test_loss": alike and alike["test_loss"],
            }
            rows = [own for own in rows if (own["set"], own["batch"]) != (name, batch)] + [row]
            print(json.dumps(row), flush=True)
    import tensorflow

    about = {
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"tensorflow": tensorflow.__version__, "python": platform.python_version()},
        "rounds": rounds, "workers": 2, "servers": 1, "rate": RATE, "rows": rows,
    }
    result.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
