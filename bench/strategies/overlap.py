"""What --overlap brings between two processes whose link is slow, with and without it by turns.

Usage: overlap.py PROGRAM RESULT [--rounds N] [--mbit RATE...]. Needs root. Each process is in a network
namespace of its own, with a token bucket on both ends of its link. The network is a perceptron of three
layers with 1,024 neurons (11.6 MB of parameters), batch 256. The times are real ones: each rank
has a core of this machine. Both ways end with the same parameters, which is checked.
"""

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path

from many_ranks import Network, measured

JOB = ["--hidden-layers", "3", "--neurons", "1024", "--batch", "256", "--epochs", "2", "--optimizer", "sgd", "--json"]
WAYS = {"after": [], "beside": ["--overlap"]}


def row(program, mbit, rounds, secret):
    steps, hashes, hidden, exposed = {way: [] for way in WAYS}, set(), [], []
    with Network(2, f"{mbit}mbit") as network:
        for _ in range(rounds):
            for way, words in WAYS.items():
                done = measured(program, network, 2, ["--strategy", "multi-worker", *words], secret, JOB)
                steps[way].append(1e3 * done["time_s"] / done["steps"])
                hashes.add(done["parameters_hash"])
                if way == "beside":
                    first = done["ranks"][0]
                    hidden.append(1e3 * first["hidden_communication_s"] / done["steps"])
                    exposed.append(1e3 * first["communication_s"] / done["steps"])
    assert len(hashes) == 1, hashes
    ratios = [a / b for a, b in zip(steps["after"], steps["beside"], strict=True)]
    return {
        "mbit_per_s": mbit, "rounds": rounds,
        "ms_per_step": {way: {"median": statistics.median(own), "all": own} for way, own in steps.items()},
        "after_over_beside": {"median": statistics.median(ratios), "low": min(ratios), "high": max(ratios)},
        "hidden_ms": statistics.median(hidden), "exposed_ms": statistics.median(exposed),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("result")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mbit", type=int, nargs="+", default=[500, 1000, 4000])
    arguments = parser.parse_args()
    program, rows = str(Path(arguments.program).resolve()), []
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder, "secret")
        secret.write_text("a secret that all ranks share")
        secret.chmod(0o600)
        for mbit in arguments.mbit:
            rows.append(row(program, mbit, arguments.rounds, secret))
            print(json.dumps(rows[-1]), flush=True)
    about = {"cores": os.cpu_count(), "parameters_mb": 11.6, "batch": 256}
    Path(arguments.result).write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n")


main()
