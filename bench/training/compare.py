"""Trains the same networks on the same data with Trainwright and its peers, interleaved.

`compare.py PROGRAMS DATA RESULT [WORKLOAD...]`: `PROGRAMS` is the folder of the built programs,
`DATA` what data.py wrote. Every trainer is a process of its own for each number of threads (one
thread is pinned to one core). All warm up first; then they train one round each in turn, so that a
slow moment of the machine meets all of them. Figures are medians over rounds: examples per second
and per CPU second of the trainer's process, and its peak of memory, data included. Ratios are
medians of the ratios within each round. The loss tells that all of them learn.

`HOLD` may name a command that reserves a shared machine while its arguments run.
"""

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PROGRAMS, DATA, RESULT = map(Path, sys.argv[1:4])
HERE = Path(__file__).parent
ROUNDS = int(os.environ.get("ROUNDS", "5"))
THREADS = [int(it) for it in os.environ.get("THREADS", "1 2").split()]
TORCH = ["eager", "eager-fused", "compiled-fused"]
PICTURES = ["eager", "channels-last", "channels-last-fused", "compiled-channels-last-fused"]

# What is trained, steps of a round, and by whom. Steps of sparse sets are passes.
WORKLOADS = {
    "mlp-b32": {
        "job": {"network": "mlp", "data": "fashion-mnist", "batch": 32, "neurons": 128},
        "name": "mlp", "warmup": 300, "steps": 1000, "torch": TORCH, "others": ["keras", "jax"],
    },
    "mlp-b256": {
        "job": {"network": "mlp", "data": "fashion-mnist", "batch": 256, "neurons": 128},
        "name": "mlp", "warmup": 60, "steps": 300, "torch": TORCH, "others": ["keras", "jax"],
    },
    "bilstm-b128": {
        "job": {"network": "bilstm:128", "data": "mnist", "batch": 128},
        "name": "bilstm", "warmup": 5, "steps": 20, "torch": TORCH, "others": ["keras", "jax"],
    },
    "cnn-b32": {
        "job": {"network": "cnn:flowers", "data": "flowers-64", "batch": 32},
        "name": "cnn", "warmup": 3, "steps": 8, "torch": PICTURES, "others": ["keras"],
    },
    "mobilenet-b32": {
        "job": {"network": "mobilenet-v2:1.0", "data": "flowers-128", "batch": 32},
        "name": "mobilenet", "warmup": 2, "steps": 2, "torch": PICTURES, "others": ["keras"],
    },
    "sparse-a9a": {"name": "a9a", "passes": 200, "examples": 32_561},
    "sparse-hashed": {"name": "hashed", "passes": 2, "examples": 400_000},
}  # fmt: skip

# What the ratios are held against: examples per CPU second, ours over the peer's.
TARGETS = {
    "mlp-b32": {"pytorch": 4, "keras": 6, "jax": 1.7},
    "mlp-b256": {"pytorch": 1.8},
    "bilstm-b128": {"pytorch": 1.3},
    "cnn-b32": {"pytorch": 1.3},
    "mobilenet-b32": {"pytorch": 1.2},
    "sparse-a9a": {"sklearn": 7, "vw": 20},
    "sparse-hashed": {"sklearn": 7, "vw": 20},
}

SPARSE_JOBS = [(rule, mode) for mode in ["hogwild", "sync"] for rule in ["sgd", "adagrad", "ftrl"]]


class Trainer:
    """A process that trains a round when it is asked to."""

    def __init__(self, words, threads):
        threads_of = ["OMP", "MKL", "OPENBLAS", "NUMEXPR", "VECLIB"]
        environment = {f"{name}_NUM_THREADS": str(threads) for name in threads_of}
        pinned = ["taskset", "-c", "0"] if threads == 1 else []
        self.words = words
        self.process = subprocess.Popen(
            [*pinned, *map(str, words)],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if "DEBUG" not in os.environ else None,
            text=True,
        )

    def line(self):
        """The next line that is ours; some peers print others."""
        for line in self.process.stdout:
            if line.startswith(("ready", "{")):
                return line
        raise SystemExit(f"{' '.join(map(str, self.words))} ended early; run with DEBUG=1")

    def round(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


@contextmanager
def held():
    """Reserves the machine, where a command for that is given."""
    command = os.environ.get("HOLD", "").split()
    if not command:
        yield
        return
    words = [*command, "sh", "-c", "echo held; read line"]
    holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdout.readline()
    try:
        yield
    finally:
        holder.stdin.close()
        holder.wait()


def ours(job, threads, warmup, examples):
    job = {"seed": 1, "epochs": 1_000_000, "threads": threads, **job}
    if (DATA / job["data"]).exists():
        job["data"] = str(DATA / job["data"])
    words = [PROGRAMS / "examples/training_speed", json.dumps(job), warmup, examples]
    return Trainer(words, threads)


def peer(script, name, variant, threads, batch, warmup, steps):
    words = [sys.executable, HERE / f"peer_{script}.py", DATA, name, variant]
    return Trainer([*words, threads, batch, warmup, steps], threads)


def trainers(workload, threads):
    """What trains it, by name, and how that is started."""
    plan = WORKLOADS[workload]
    only = os.environ.get("ONLY", "").split()
    wanted = lambda name: not only or any(name.startswith(prefix) for prefix in only)
    if "passes" in plan:
        count = plan["passes"] * plan["examples"]
        for rule, mode in SPARSE_JOBS:
            rates = {"sgd": 0.02 if mode == "hogwild" else 0.5, "adagrad": 0.05, "ftrl": 0.1}
            job = {"network": "logistic", "data": plan["name"], "optimizer": rule, "batch": 256}
            job |= {"update": mode, "lr": rates[rule]}
            if plan["name"] == "a9a":
                job["data"] = os.environ["A9A"]
            # The table warms up within the first pass.
            yield f"trainwright {mode} {rule}", lambda job=job: ours(job, threads, 1, count)
        if threads == 1:
            for variant in ["fit", "partial-fit"]:
                start = lambda variant=variant: peer(
                    "sparse", plan["name"], variant, 1, 1, 1, max(plan["passes"] // 2, 2)
                )
                if wanted("sklearn"):
                    yield f"sklearn {variant}", start
        if threads == 1 and wanted("vw"):
            start = lambda: peer("sparse", plan["name"], "vw", threads, 1, 1, max(plan["passes"] // 10, 1))
            yield "vw", start
        return
    batch, warmup, steps = plan["job"]["batch"], plan["warmup"], plan["steps"]
    job = dict(plan["job"])
    if job["data"] == "mnist":
        job["data_dir"] = os.environ["MNIST"]
    yield "trainwright", lambda: ours(job, threads, warmup * batch, steps * batch)
    # On two threads fewer of them take part, which keeps the machine reserved for less long.
    for variant in plan["torch"] if threads == 1 else plan["torch"][:2]:
        name = f"pytorch {variant}"
        start = lambda variant=variant: peer(
            "torch", plan["name"], variant, threads, batch, warmup, steps
        )
        if wanted(name):
            yield name, start
    for other in plan["others"] if threads == 1 else []:
        start = lambda other=other: peer(
            other, plan["name"], "default", threads, batch, warmup, steps
        )
        if wanted(other):
            yield other, start


def spread(values):
    rounds = [float(f"{value:.5g}") for value in values]
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "rounds": rounds}


def ratio(some, others, times=1):
    """The median of the ratios within rounds."""
    pairs = zip(some["rounds"], others["rounds"])
    return round(statistics.median([one * times / other for one, other in pairs]), 3)


def measure(workload):
    """Rounds of all trainers on one thread and on two, interleaved, and of matrix products."""
    with held():
        running = {
            (threads, name): start()
            for threads in THREADS
            for name, start in trainers(workload, threads)
        }
        # Ours on one thread and on two come one after the other.
        in_turn = sorted(running, key=lambda key: ours_first(key[1]))
        products = Trainer([PROGRAMS / "examples/product_speed"], 1)
        for trainer in [*running.values(), products]:
            trainer.line()
        print(f"  all {len(running)} trainers are warm", file=sys.stderr)
        rounds, peaks = {key: [] for key in running}, []
        for _ in range(ROUNDS):
            peaks.append(products.round()["gflops"])
            for key in in_turn:
                # Threads that still spin come to rest.
                time.sleep(0.1)
                rounds[key].append(running[key].round())
    for trainer in [*running.values(), products]:
        trainer.end()
    found = {threads: {} for threads in THREADS}
    for (threads, name), of_one in rounds.items():
        found[threads][name] = figures(of_one)
    return {it: {"gemm_gflops": spread(peaks), "trainers": found[it]} for it in THREADS}


def ours_first(name):
    """A key that sorts our trainers, one kind behind the other, before all peers."""
    return (0, name) if name.startswith("trainwright") else (1, "")


def figures(rounds):
    return {
        "examples_per_cpu_s": spread([it["examples"] / it["cpu_seconds"] for it in rounds]),
        "examples_per_s": spread([it["examples"] / it["seconds"] for it in rounds]),
        "loss": rounds[-1]["loss"],
        "peak_mb": max(it["peak_kb"] for it in rounds) / 1024,
    }


def flops(workload):
    """Operations of learning from one example: forward, and back to all but the first inputs."""
    plan = WORKLOADS[workload]
    shapes = {"mlp": "28x28", "bilstm": "28x28", "cnn": "64x64x3", "mobilenet": "128x128x3"}
    names = {"mlp": "mlp:784-128-10"}
    network = names.get(plan["name"], plan["job"]["network"])
    classes = "10" if plan["name"] in ["mlp", "bilstm"] else "5"
    words = ["network", network, "--input", shapes[plan["name"]], "--classes", classes, "--json"]
    told = subprocess.run([PROGRAMS / "trainwright", *words], check=True, capture_output=True)
    layers = json.loads(told.stdout)["operators"]
    return 3 * sum(layer["flops"] for layer in layers) - layers[0]["flops"]


def ratios(workload, by_threads):
    """Ours over each peer's, per CPU second and by the clock; memory; two threads over one."""
    answer = {}
    for threads, measured in by_threads.items():
        found = measured["trainers"]
        own = {name: it for name, it in found.items() if name.startswith("trainwright")}
        for name, it in own.items():
            entry = answer.setdefault(name, {}).setdefault(f"{threads}_threads", {})
            for other, peer_found in found.items():
                if other in own:
                    continue
                entry[other] = {
                    key: ratio(it[key], peer_found[key])
                    for key in ["examples_per_cpu_s", "examples_per_s"]
                }
                entry[other]["memory"] = round(it["peak_mb"] / peer_found["peak_mb"], 3)
            if "passes" not in WORKLOADS[workload]:
                gflops_an_example = flops(workload) / 1e9
                entry["share_of_gemm_peak"] = ratio(
                    it["examples_per_s"], measured["gemm_gflops"], gflops_an_example / threads
                )
    for name, entry in answer.items():
        one, two = by_threads.get(1), by_threads.get(2)
        if one and two:
            rates = [it["trainers"][name]["examples_per_s"] for it in [two, one]]
            entry["two_threads_over_one"] = ratio(*rates)
    return answer


def targets(workload, found):
    """The least ratio per CPU second to any variant of each peer, at one thread, and its target."""
    own = found.get("trainwright hogwild sgd") or found.get("trainwright") or {}
    answer = {}
    for peer_name, target in TARGETS[workload].items():
        of_peer = [
            it["examples_per_cpu_s"]
            for name, it in own.get("1_threads", {}).items()
            if name.startswith(peer_name)
        ]
        if of_peer:
            answer[peer_name] = {"target": target, "measured": min(of_peer)}
    return answer


def versions():
    names = ["torch", "torchvision", "tensorflow-cpu", "keras", "jax", "scikit-learn", "vowpalwabbit", "numpy"]
    answer = {"python": platform.python_version()}
    for name in names:
        try:
            answer[name] = version(name)
        except PackageNotFoundError:
            pass
    return answer


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    chosen = sys.argv[4:] or list(WORKLOADS)
    old = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    answer = {
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": versions(),
        "rounds": ROUNDS,
        "workloads": old.get("workloads", {}),
    }
    for workload in chosen:
        print(workload, file=sys.stderr)
        by_threads = measure(workload)
        found = ratios(workload, by_threads)
        answer["workloads"][workload] = {
            "targets": targets(workload, found),
            "ratios": found,
            "measured": {f"{threads}_threads": it for threads, it in by_threads.items()},
        }
        # Lists of numbers stay on one line.
        text = re.sub(r"\[[^][{}]*\]", lambda it: " ".join(it[0].split()), json.dumps(answer, indent=1))
        RESULT.write_text(text + "\n")
        print(json.dumps({"targets": answer["workloads"][workload]["targets"], "ratios": found}, indent=1))


main()
