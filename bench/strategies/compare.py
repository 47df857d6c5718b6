"""What replicas bring on this machine, beside PyTorch's DistributedDataParallel, interleaved.

Usage: compare.py PROGRAM RESULT [--rounds N] [--smoke] [--more]. With --more the rounds join those of
the result, so that a long run can be made in pieces. Each round trains the network of small.toml
with each of these in turn, so that a slow moment meets all of them; ratios are medians of the ratios
within a round. Examples per second are by each program's own clock, without start and evaluation.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
BATCH = 128
# The bars that this benchmark is held against.
BARS = {"mirrored over one device": 1.7, "mirrored over DDP": 1.0}


def ours(program, words, epochs):
    network = ["--network", str(HERE / "small.toml"), "--data", "fashion-mnist-sample"]
    job = ["--batch", str(BATCH), "--epochs", str(epochs), "--optimizer", "adam", "--json"]
    run = subprocess.run([program, "train", *network, *job, *words], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def torch(processes, steps, variant):
    words = [sys.executable, HERE / "peer_ddp.py", processes, BATCH, steps, variant]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    run = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True, env=environment)
    return float(run.stdout.split()[-1])


def contestants(program, epochs, steps):
    own = lambda *words: lambda: ours(program, words, epochs)["examples_per_s"]
    found = {
        "one device": own(),
        "one device, 2 threads": own("--threads", "2"),
        "mirrored": own("--strategy", "mirrored", "--replicas", "2"),
        "multi-worker": own("--strategy", "multi-worker", "--workers", "2"),
        "local-sgd, every 8": own("--strategy", "local-sgd", "--replicas", "2", "--sync-every", "8"),
    }
    for variant in ["channels-fused-view", "fused-view", "channels-foreach"]:
        found[f"torch {variant}"] = lambda variant=variant: torch(1, steps, variant)
        found[f"DDP {variant}"] = lambda variant=variant: torch(2, steps, variant)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("result")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--more", action="store_true")
    arguments = parser.parse_args()
    rounds, epochs, steps = (1, 2, 10) if arguments.smoke else (arguments.rounds, 12, 150)
    rates = {name: [] for name in contestants(arguments.program, epochs, steps)}
    if arguments.more and Path(arguments.result).exists():
        rates |= json.loads(Path(arguments.result).read_text())["rates"]
    for number in range(rounds):
        for name, run in contestants(arguments.program, epochs, steps).items():
            rates[name].append(run())
            print(f"round {number + 1}: {name} {rates[name][-1]:.0f} examples/s", file=sys.stderr)
    fastest = lambda start: [max(own) for own in zip(*(rates[name] for name in rates if name.startswith(start)))]
    ratio = lambda above, below: statistics.median(a / b for a, b in zip(above, below))
    ratios = {
        "mirrored over one device": ratio(rates["mirrored"], rates["one device"]),
        "multi-worker over one device": ratio(rates["multi-worker"], rates["one device"]),
        "local-sgd over one device": ratio(rates["local-sgd, every 8"], rates["one device"]),
        "mirrored over DDP": ratio(rates["mirrored"], fastest("DDP")),
        "multi-worker over DDP": ratio(rates["multi-worker"], fastest("DDP")),
        "DDP over torch": ratio(fastest("DDP"), fastest("torch")),
    }
    result = {
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
                    "torch": version("torch"), "rounds": len(rates["mirrored"]), "batch": BATCH},
        "examples_per_s": {name: statistics.median(own) for name, own in rates.items()},
        "ratios": ratios,
        "rates": rates,
        "bars": {name: {"bar": bar, "reached": ratios[name] >= bar} for name, bar in BARS.items()},
    }
    Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["ratios"], indent=1))


main()
