"""Sparse examples to train on: a9a where it is there, else made ones of the same shape.

Also writes a set with 100,000 features, which pulls and pushes of single rows are for.
"""

import os
import random
from pathlib import Path


def made(path, examples, features, per_example, seed):
    """Rows of ones whose class follows from hidden weights, with noise."""
    draw = random.Random(seed)
    weights = random.Random(7)
    hidden = [weights.gauss(0, 1) for _ in range(features)]
    with open(path, "w") as file:
        for _ in range(examples):
            # Low numbers come often, as features of real sets do.
            ids = sorted({int(features * draw.random() ** 3) for _ in range(per_example)})
            margin = sum(hidden[own] for own in ids) + draw.gauss(0, 1)
            label = "+1" if margin > 0 else "-1"
            file.write(label + "".join(f" {own + 1}:1" for own in ids) + "\n")


def sets(folder, smoke):
    """The sets: name, training file, features."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shared = Path(os.environ.get("TRAINWRIGHT_TEST_DATA", "../shared/data")) / "sparse" / "a9a"
    examples = 2_000 if smoke else 32_000
    if shared.exists():
        small = shared
    else:
        small = folder / f"small-{examples}"
        if not small.exists():
            made(f"{small}.t", examples // 4, 123, 14, 2)
            made(small, examples, 123, 14, 1)
    wide = folder / f"wide-{examples}"
    if not wide.exists():
        made(f"{wide}.t", examples // 4, 100_000, 40, 4)
        made(wide, examples, 100_000, 40, 3)
    return [("a9a" if small == shared else "small", small, 124), ("wide", wide, 100_001)]


def rows(path):
    """Features and classes of a file."""
    ids, labels = [], []
    with open(path) as file:
        for line in file:
            label, *features = line.split()
            labels.append(1.0 if float(label) > 0 else 0.0)
            ids.append([int(own.split(":")[0]) for own in features])
    return ids, labels
