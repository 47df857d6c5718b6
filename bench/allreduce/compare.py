"""All-reduce of vectors: threads against copying, processes against gloo and Open MPI over TCP.

`compare.py PROGRAM MPI RESULT [--rounds N] [--smoke]`: `PROGRAM` is the built example
all_reduce_speed, `MPI` the built peer_mpi. In each round every contender starts anew and measures
every size in turn, so that a slow moment of the machine meets all of them. A figure is the
milliseconds of one all-reduce, from many of them between two barriers; the table has medians over
rounds, and medians of the ratios within rounds.

Threads are compared with copying: in an all-reduce of K bytes over N ranks each rank must receive
2K(N-1)/N bytes, so with two ranks K. `share_of_copy_bandwidth` is the time in which two threads
copy K bytes each at the same time, over the time of the all-reduce.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# Bytes, and repetitions for about the same time of each.
LOADS = {400_000: 200, 10_000_000: 20, 100_000_000: 4}
RANKS = [2, 4]
LIMIT_S = 300


def parse():
    parser = argparse.ArgumentParser()
    for name in ["program", "mpi", "result"]:
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.smoke:
        options.rounds = 1
    return options


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def figures(text):
    return [float(it) for it in text.split()]


def together(commands):
    """Starts the ranks, waits for all, gives what the first has printed."""
    ranks = [subprocess.Popen(it, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for it in commands]
    said = [rank.communicate(timeout=LIMIT_S) for rank in ranks]
    for rank, (_, fault) in zip(ranks, said):
        assert rank.returncode == 0, fault
    return figures(said[0][0])


def one(command, **more):
    return figures(subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S, **more).stdout)


def contenders(options, loads, secret):
    """What is measured: (kind, ranks, contender) and how."""
    program = options.program

    def ours(size):
        address = f"127.0.0.1:{free_port()}"
        return together([[program, "tcp", address, str(rank), str(size), secret, loads] for rank in range(size)])

    def gloo(size):
        port = str(free_port())
        script = str(HERE / "peer_gloo.py")
        return together([[sys.executable, script, port, str(rank), str(size), loads] for rank in range(size)])

    def mpi(size):
        may = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        words = ["mpirun", "-np", str(size), "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1"]
        words += ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", options.mpi, loads]
        return one(words, env=os.environ | may)

    found = {("threads", 2, "copy"): lambda: one([program, "copy", "2", loads])}
    found["threads", 2, "trainwright"] = lambda: one([program, "threads", "2", loads])
    for size in RANKS:
        for name, way in [("trainwright", ours), ("gloo", gloo), ("openmpi", mpi)]:
            found["processes", size, name] = lambda way=way, size=size: way(size)
    return found


def spread(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def ratio(times, key, peer, at):
    """The peer's time over ours, as the median over rounds."""
    own = times[(*key, "trainwright")]
    return statistics.median(theirs[at] / ours[at] for theirs, ours in zip(times[(*key, peer)], own))


def table(times):
    rows = []
    for key in [("threads", 2), *(("processes", size) for size in RANKS)]:
        names = [name for kind, size, name in times if (kind, size) == key]
        for at, count in enumerate(LOADS):
            row = {"between": key[0], "ranks": key[1], "bytes": count}
            row["ms"] = {name: spread([it[at] for it in times[(*key, name)]]) for name in names}
            peers = [name for name in names if name != "trainwright"]
            row["times_faster"] = {peer: ratio(times, key, peer, at) for peer in peers}
            if "copy" in peers:
                row["share_of_copy_bandwidth"] = row.pop("times_faster")["copy"]
            rows.append(row)
    return rows


def processor():
    with open("/proc/cpuinfo") as lines:
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))


def versions():
    import torch

    mpi = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return {"torch": torch.__version__, "openmpi": mpi, "python": platform.python_version()}


def main():
    options = parse()
    loads = {count: 1 if options.smoke else repeats for count, repeats in LOADS.items()}
    text = ",".join(f"{count}:{repeats}" for count, repeats in loads.items())
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text(os.urandom(32).hex())
        ways = contenders(options, text, str(secret))
        times = {key: [] for key in ways}
        for round_ in range(options.rounds):
            for key, way in ways.items():
                times[key].append(way())
            print(f"round {round_ + 1} of {options.rounds}", file=sys.stderr)
    result = {
        "rounds": options.rounds,
        "rows": table(times),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": versions(),
    }
    Path(options.result).write_text(json.dumps(result, indent=2) + "\n")
    for row in result["rows"]:
        medians = ", ".join(f"{name} {it['median']:.2f} ms" for name, it in row["ms"].items())
        against = row.get("times_faster", {"copy": row.get("share_of_copy_bandwidth")})
        print(row["between"], row["ranks"], row["bytes"], medians, {name: round(it, 2) for name, it in against.items()})


if __name__ == "__main__":
    main()
