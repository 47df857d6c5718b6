"""A training program of your own, with nothing of Trainwright in it but the line it prints.

Logistic regression by stochastic gradient descent on made-up points, standard library only.
"""

import argparse
import json
import math
import random


def points(count, rng):
    """Two overlapping clouds in ten dimensions, labelled 0 and 1."""
    for _ in range(count):
        label = rng.random() < 0.5
        shift = 0.6 if label else -0.6
        yield [rng.gauss(shift, 1.0) for _ in range(10)], int(label)


def probability(weights, bias, x):
    score = bias + sum(w * v for w, v in zip(weights, x))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"learning rate {options.lr}")

    rng = random.Random(options.seed)
    train, test = list(points(400, rng)), list(points(400, rng))
    weights, bias = [0.0] * 10, 0.0
    for epoch in range(1, options.epochs + 1):
        rng.shuffle(train)
        for start in range(0, len(train), options.batch):
            batch = train[start : start + options.batch]
            errors = [(probability(weights, bias, x) - y, x) for x, y in batch]
            step = options.lr / len(batch)
            for i in range(10):
                weights[i] -= step * sum(e * x[i] for e, x in errors)
            bias -= step * sum(e for e, _ in errors)
        right = sum((probability(weights, bias, x) > 0.5) == bool(y) for x, y in test)
        print("::metric " + json.dumps({"accuracy": right / len(test), "step": epoch}))


if __name__ == "__main__":
    main()
