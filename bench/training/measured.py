"""What all peers share: data, order, threads, and the talk with compare.py.

A peer warms up and prints `ready`; then, for each line on its input, it trains one round and prints
one line of JSON: examples, seconds, CPU seconds, mean loss, peak of memory so far.
"""

import json
import math
import os
import sys
import time
from pathlib import Path

import numpy

FOLDER, WORKLOAD = Path(sys.argv[1]), sys.argv[2]
VARIANT, THREADS, BATCH, WARMUP, STEPS = sys.argv[3], *map(int, sys.argv[4:8])
# Steps that one call of a compiled loop makes: what divides the warming up and a round alike.
CHUNK = math.gcd(WARMUP, STEPS)

SHAPES = {"mlp": "fashion", "bilstm": "mnist", "cnn": "flowers-64", "mobilenet": "flowers-128"}
CLASSES = {"mlp": 10, "bilstm": 10, "cnn": 5, "mobilenet": 5}


def pictures():
    """Pictures as floats from 0 to 1 and their classes, all in memory."""
    name = SHAPES[WORKLOAD]
    # Mapped, so that the trainers, which all wait in memory for their turn, hold them once.
    x = numpy.load(FOLDER / f"{name}-x.npy", mmap_mode="c")
    x.sum()
    return x, numpy.load(FOLDER / f"{name}-y.npy")


def rows(part=""):
    """A sparse set: starts, ids, labels."""
    found = numpy.load(FOLDER / f"{WORKLOAD}{part}.npz")
    return found["starts"], found["ids"], found["labels"]


def epochs(count):
    """Endless epochs, each a new order of all examples in rows of one batch."""
    random = numpy.random.default_rng(1)
    while True:
        whole = count // BATCH * BATCH
        yield random.permutation(count)[:whole].reshape(-1, BATCH)


def batches(count):
    """Endless shuffled batches of indices, of one size."""
    for epoch in epochs(count):
        yield from epoch


def chunks(count):
    """The batches of so many steps as one compiled loop makes."""
    of_steps = batches(count)
    while True:
        yield numpy.stack([next(of_steps) for _ in range(CHUNK)]).astype(numpy.int32)


def peak_kb():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise OSError("no peak of memory")


def serve(train, ready=lambda steps: None):
    """Talks with compare.py; `train(steps)` returns examples and their mean loss.

    `ready` is called before each round with its steps, outside of what is measured.
    """
    ready(WARMUP)
    train(WARMUP)
    print("ready", flush=True)
    for _ in sys.stdin:
        ready(STEPS)
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
