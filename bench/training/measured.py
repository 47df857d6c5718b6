"""What all peers share: data, threads, and the talk with compare.py.

A peer warms up and prints `ready`; then, for each line on its input, it trains one round and prints
one line of JSON: examples, seconds, CPU seconds, mean loss, peak of memory so far.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy

FOLDER, WORKLOAD = Path(sys.argv[1]), sys.argv[2]
VARIANT, THREADS, BATCH, WARMUP, STEPS = sys.argv[3], *map(int, sys.argv[4:8])

SHAPES = {"mlp": "fashion", "bilstm": "mnist", "cnn": "flowers-64", "mobilenet": "flowers-128"}
CLASSES = {"mlp": 10, "bilstm": 10, "cnn": 5, "mobilenet": 5}


def pictures():
    """Pictures as floats from 0 to 1 and their classes."""
    name = SHAPES[WORKLOAD]
    return numpy.load(FOLDER / f"{name}-x.npy"), numpy.load(FOLDER / f"{name}-y.npy")


def rows():
    """A sparse set: starts, ids, labels."""
    found = numpy.load(FOLDER / f"{WORKLOAD}.npz")
    return found["starts"], found["ids"], found["labels"]


def batches(count):
    """Endless shuffled batches of indices, of one size."""
    random = numpy.random.default_rng(1)
    while True:
        order = random.permutation(count)
        for start in range(0, count - BATCH + 1, BATCH):
            yield order[start : start + BATCH]


def peak_kb():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise OSError("no peak of memory")


def serve(train):
    """Talks with compare.py; `train(steps)` returns examples and their mean loss."""
    train(WARMUP)
    print("ready", flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        examples, loss = train(STEPS)
        told = {
            "examples": examples,
            "seconds": time.perf_counter() - wall,
            "cpu_seconds": time.process_time() - cpu,
            "loss": float(loss),
            "peak_kb": peak_kb(),
        }
        print(json.dumps(told), flush=True)
    # Some frameworks fail on their way out; everything has been told by now.
    os._exit(0)
