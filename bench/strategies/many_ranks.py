"""What a rank sends among 8, 16 and 32 ranks, each in a network namespace of its own.

Usage: many_ranks.py PROGRAM RESULT [RANKS...]. Needs root. Every rank has a link of 1 Gbit/s (a token
bucket) to one bridge. Ranks share this machine's cores, so that the time of a step is that of
time-sliced ranks and says little; bytes and messages a rank and step are exact, and the simulated time
is what they cost on a link of that bandwidth and of the latencies listed, were nothing hidden.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BANDWIDTH = 125e6
LATENCIES = [50e-6, 500e-6]
JOB = ["--neurons", "256", "--batch", "256", "--epochs", "2", "--optimizer", "sgd", "--json"]
STRATEGIES = {
    "multi-worker": ["--strategy", "multi-worker"],
    "multi-worker, ring": ["--strategy", "multi-worker", "--all-reduce", "ring"],
    "multi-worker, bf16": ["--strategy", "multi-worker", "--compress", "bf16"],
    "local-sgd, every 4": ["--strategy", "local-sgd", "--sync-every", "4"],
}


def run(*words, check=True):
    return subprocess.run(list(map(str, words)), check=check, capture_output=True, text=True)


class Network:
    """A bridge with a namespace for each rank; all of it goes when it is left."""

    def __init__(self, ranks, rate="1gbit"):
        self.rate = rate
        self.mark = f"tw{os.getpid() % 10000}"
        self.names = [f"{self.mark}n{rank}" for rank in range(ranks)]
        self.bridge = f"{self.mark}b"

    def __enter__(self):
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "link", "set", self.bridge, "up")
        for rank, name in enumerate(self.names):
            near, far = f"{self.mark}v{rank}", f"{self.mark}w{rank}"
            run("ip", "netns", "add", name)
            run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
            run("ip", "link", "set", near, "master", self.bridge, "up")
            run("ip", "link", "set", far, "netns", name)
            inside = ["ip", "netns", "exec", name]
            run(*inside, "ip", "address", "add", f"10.99.0.{rank + 1}/24", "dev", far)
            run(*inside, "ip", "link", "set", far, "up")
            run(*inside, "ip", "link", "set", "lo", "up")
            limit = ["rate", self.rate, "burst", "256kb", "latency", "100ms"]
            run(*inside, "tc", "qdisc", "add", "dev", far, "root", "tbf", *limit)
            run("tc", "qdisc", "add", "dev", near, "root", "tbf", *limit)
        return self

    def __exit__(self, *_):
        for name in self.names:
            run("ip", "netns", "del", name, check=False)
        run("ip", "link", "del", self.bridge, check=False)

    def start(self, rank, *words):
        inside = ["ip", "netns", "exec", self.names[rank]]
        return subprocess.Popen([*inside, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def measured(program, network, ranks, words, secret, job=JOB):
    meeting = ["--secret-file", secret, "--patience", "60s"]
    first = network.start(0, program, "train", *job, *words, "--workers", ranks, "--listen", "10.99.0.1:7700", *meeting)
    others = [network.start(rank, program, "worker", "--join", "10.99.0.1:7700", *meeting) for rank in range(1, ranks)]
    out, error = first.communicate(timeout=900)
    for other in others:
        other.communicate(timeout=60)
    if first.returncode != 0:
        raise SystemExit(f"{ranks} ranks, {words}: {error}")
    return json.loads(out.splitlines()[-1])


def row(name, ranks, done):
    steps = done["steps"]
    sent = max(own["bytes_sent"] for own in done["ranks"]) / steps
    messages = max(own["messages"] for own in done["ranks"]) / steps
    simulated = {f"latency {1e6 * own:.0f} us": messages * own + sent / BANDWIDTH for own in LATENCIES}
    return {
        "strategy": name, "ranks": ranks, "bytes_per_rank_and_step": sent,
        "messages_per_rank_and_step": messages, "simulated_s_per_step": simulated,
        "time_sliced_s_per_step": done["time_s"] / steps, "test_accuracy": done["test_accuracy"],
    }


def main():
    program, result = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    counts = [int(word) for word in sys.argv[3:]] or [8, 16, 32]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder, "secret")
        secret.write_text("a secret that all ranks share")
        secret.chmod(0o600)
        for ranks in counts:
            with Network(ranks) as network:
                for name, words in STRATEGIES.items():
                    rows.append(row(name, ranks, measured(program, network, ranks, words, secret)))
                    print(json.dumps(rows[-1]))
    about = {"bandwidth_bytes_per_s": BANDWIDTH, "cores": os.cpu_count(), "time_sliced": True}
    result.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
