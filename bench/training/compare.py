"""Trains the same networks on the same data with Trainwright and its peers, interleaved.

`compare.py PROGRAMS DATA RESULT [--rounds N] [--smoke] [WORKLOAD...]`: `PROGRAMS` is the folder of
the built programs, `DATA` what data.py wrote; `--smoke` makes short rounds, which show that everything
runs and learns alike but whose figures mean nothing. Every trainer is a process of its own for each number of threads (one
thread is pinned to one core). All warm up first; then they train one round each in turn, so that a
slow moment of the machine meets all of them. Figures are medians over rounds: examples per second
and per CPU second of the trainer's process, and its peak of memory, data included. Ratios are
medians of the ratios within each round. THE figure of a peer is that against its fastest variant.
Losses after the same number of steps tell that all of them do the same work.

`HOLD` may name a command that reserves a shared machine while its arguments run.
"""

import argparse
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

HERE = Path(__file__).parent
THREADS = [int(it) for it in os.environ.get("THREADS", "1 2").split()]
# Variants of each peer, the likely fastest first: on two threads only PyTorch's first takes part. All
# trainers of a workload wait in memory for their turn, so MobileNetV2 has fewer.
TORCH = ["compiled-fused", "fused", "flat-fused", "foreach", "eager"]
TORCH_MLP = ["compiled-hand", "hand", *TORCH]
PICTURES = ["channels-fused", "compiled-channels-fused", "channels-flat-fused", "channels-foreach", "compiled-fused", "fused", "eager"]
MOBILENET = ["compiled-channels-fused", "channels-fused", "channels-flat-fused", "channels-foreach"]
KERAS = ["jax-loop", "loop", "jax-fit", "fit", "plain-fit"]
# XLA's convolutions within a loop are far slower than outside of it.
KERAS_PICTURES = ["plain-step", "plain-fit", "step", "jax-step", "fit", "jax-fit"]
JAX = ["scan", "step"]
# Losses of the same arithmetic from other random numbers differ by no more than this share.
ALIKE = 0.1

# What is trained, steps of a round, and by whom. Steps of sparse sets are passes.
WORKLOADS = {
    "mlp-b32": {
        "job": {"network": "mlp", "data": "fashion-mnist", "batch": 32, "neurons": 128},
        "name": "mlp", "warmup": 300, "steps": 1000, "peers": {"torch": TORCH_MLP, "keras": KERAS, "jax": JAX},
    },
    "mlp-b256": {
        "job": {"network": "mlp", "data": "fashion-mnist", "batch": 256, "neurons": 128},
        "name": "mlp", "warmup": 60, "steps": 300, "peers": {"torch": TORCH_MLP, "keras": KERAS, "jax": JAX},
    },
    "bilstm-b128": {
        "job": {"network": "bilstm:128", "data": "mnist", "batch": 128},
        "name": "bilstm", "warmup": 5, "steps": 20, "peers": {"torch": TORCH, "keras": KERAS, "jax": JAX},
    },
    "cnn-b32": {
        "job": {"network": "cnn:flowers", "data": "flowers-64", "batch": 32},
        "name": "cnn", "warmup": 4, "steps": 8, "peers": {"torch": PICTURES, "keras": KERAS_PICTURES},
    },
    "mobilenet-b32": {
        "job": {"network": "mobilenet-v2:1.0", "data": "flowers-128", "batch": 32},
        "name": "mobilenet", "warmup": 2, "steps": 2, "peers": {"torch": MOBILENET, "keras": KERAS_PICTURES[:4]},
    },
    "sparse-a9a": {"name": "a9a", "passes": 200, "examples": 32_561},
    "sparse-hashed": {"name": "hashed", "passes": 2, "examples": 400_000},
}  # fmt: skip
SMOKE = {
    "mlp-b32": {"warmup": 100, "steps": 200},
    "mlp-b256": {"warmup": 20, "steps": 40},
    "bilstm-b128": {"warmup": 2, "steps": 4},
    "cnn-b32": {"warmup": 2, "steps": 4},
    "mobilenet-b32": {"warmup": 1, "steps": 1},
    "sparse-a9a": {"passes": 20},
    "sparse-hashed": {"passes": 2, "examples": 40_000},
}

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
    yield from (sparse_trainers if "passes" in plan else dense_trainers)(plan, threads)


def wanted(name):
    only = os.environ.get("ONLY", "").split()
    return not only or any(name.startswith(prefix) for prefix in only)


def dense_trainers(plan, threads):
    batch, warmup, steps = plan["job"]["batch"], plan["warmup"], plan["steps"]
    job = dict(plan["job"])
    if job["data"] == "mnist":
        job["data_dir"] = os.environ["MNIST"]
    yield "trainwright", lambda: ours(job, threads, warmup * batch, steps * batch)
    for script, variants in plan["peers"].items():
        if threads > 1:
            variants = variants[:1] if script == "torch" else []
        for variant in variants:
            name = f"{'pytorch' if script == 'torch' else script} {variant}"
            start = lambda script=script, variant=variant: peer(
                script, plan["name"], variant, threads, batch, warmup, steps
            )
            if wanted(name):
                yield name, start


def sparse_job(plan, rule, mode):
    rates = {"sgd": 0.02 if mode == "hogwild" else 0.5, "adagrad": 0.05, "ftrl": 0.1}
    data = os.environ["A9A"] if plan["name"] == "a9a" else str(DATA / plan["name"])
    job = {"network": "logistic", "data": data, "optimizer": rule, "batch": 256}
    return job | {"update": mode, "lr": rates[rule]}


def sparse_trainers(plan, threads):
    passes = plan["passes"]
    for rule, mode in SPARSE_JOBS:
        # The table warms up within the first pass.
        start = lambda job=sparse_job(plan, rule, mode): ours(job, threads, 1, passes * plan["examples"])
        yield f"trainwright {mode} {rule}", start
    # The peers have no second thread to give to it, and need fewer passes for a round as long.
    peers = {"sklearn fit": 2, "sklearn partial-fit": 2, "vw sgd": 10, "vw adaptive": 10}
    for name, share in peers.items() if threads == 1 else []:
        count = max(passes // share, 2)
        start = lambda name=name, count=count: peer("sparse", plan["name"], name.split()[1], 1, 1, 1, count)
        if wanted(name):
            yield name, start


def spread(values):
    rounds = [float(f"{value:.5g}") for value in values]
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "rounds": rounds}


def ratio(some, others, times=1):
    """The median of the ratios within rounds."""
    pairs = zip(some["rounds"], others["rounds"])
    return round(statistics.median([one * times / other for one, other in pairs]), 3)


def measure(workload, rounds_wanted):
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
        for _ in range(rounds_wanted):
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
        "first_loss": rounds[0]["loss"],
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


def best(workload, found):
    """THE figures: ours over the fastest variant of each peer per CPU second, at one thread.

    Plain descent is held against plain descent, so Vowpal Wabbit's AdaGrad does not count here.
    """
    own = found.get("trainwright hogwild sgd") or found.get("trainwright") or {}
    answer = {}
    for peer_name in ["pytorch", "keras", "jax", "sklearn", "vw"]:
        of_peer = {
            name: it["examples_per_cpu_s"]
            for name, it in own.get("1_threads", {}).items()
            if name.startswith(peer_name + " ") and name != "vw adaptive"
        }
        if of_peer:
            variant = min(of_peer, key=of_peer.get)
            answer[peer_name] = {"variant": variant, "ratio": of_peer[variant]}
            answer[peer_name] |= {"target": TARGETS[workload].get(peer_name)}
    return answer


def agreement(workload, by_threads):
    """Losses on one thread after the same number of steps, and whether they are like ours."""
    plan, found = WORKLOADS[workload], by_threads[1]["trainers"]
    if "passes" in plan:
        # Ours tells no loss of the test part while it is timed, so it is asked apart.
        losses = {f"trainwright hogwild {it}": test_loss(plan, it) for it in ["sgd", "adagrad"]}
        steps = "two passes, of the test part"
    else:
        losses = {"trainwright": found["trainwright"]["first_loss"]}
        steps = f"{plan['warmup']} steps, mean of the next {plan['steps']}"
    answer = {}
    for name in found:
        if name.startswith("trainwright"):
            continue
        adaptive = "passes" in plan and name.endswith("adaptive")
        own = losses["trainwright hogwild adagrad" if adaptive else next(iter(losses))]
        loss = found[name]["first_loss"]
        answer[name] = {"ours": own, "loss": loss, "alike": abs(loss - own) <= ALIKE * own}
        word = "like" if answer[name]["alike"] else "UNLIKE"
        print(f"  loss after {steps}: {name} {loss:.4f}, {word} ours {own:.4f}", file=sys.stderr)
    return answer


def test_loss(plan, rule):
    job = {"seed": 1, "epochs": 2, "threads": 1, **sparse_job(plan, rule, "hogwild")}
    file = DATA / "job.json"
    file.write_text(json.dumps(job))
    told = subprocess.run([PROGRAMS / "trainwright", "job", file], check=True, capture_output=True, text=True)
    return float(re.findall(r"test loss ([0-9.]+)", told.stdout + told.stderr)[-1])


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
    global PROGRAMS, DATA
    parser = argparse.ArgumentParser()
    for name in ["programs", "data", "result"]:
        parser.add_argument(name, type=Path)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("workloads", nargs="*", help=" ".join(WORKLOADS))
    asked = parser.parse_intermixed_args()
    for unknown in set(asked.workloads) - set(WORKLOADS):
        parser.error(f"no workload {unknown}; there are {' '.join(WORKLOADS)}")
    PROGRAMS, DATA = asked.programs, asked.data
    if asked.smoke:
        for workload, short in SMOKE.items():
            WORKLOADS[workload] |= short
    rounds = asked.rounds or (1 if asked.smoke else 7)
    old = json.loads(asked.result.read_text()) if asked.result.exists() else {}
    answer = {
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": versions(),
        "workloads": old.get("workloads", {}),
    }
    for workload in asked.workloads or WORKLOADS:
        print(workload, file=sys.stderr)
        by_threads = measure(workload, rounds)
        found = ratios(workload, by_threads)
        answer["workloads"][workload] = {
            "rounds": rounds,
            "best": best(workload, found),
            "agreement": agreement(workload, by_threads),
            "ratios": found,
            "measured": {f"{threads}_threads": it for threads, it in by_threads.items()},
        }
        # Lists of numbers stay on one line.
        text = re.sub(r"\[[^][{}]*\]", lambda it: " ".join(it[0].split()), json.dumps(answer, indent=1))
        asked.result.write_text(text + "\n")
        summary(workload, answer["workloads"][workload])


def summary(workload, answer):
    """The line of the table in the README: ours over the best of each peer."""
    own = answer["ratios"].get("trainwright hogwild sgd") or answer["ratios"]["trainwright"]
    of_peers = [f"{it['ratio']:.2f} ({it['variant']})" for it in answer["best"].values()]
    two = own.get("two_threads_over_one")
    print("|", " | ".join([workload, *of_peers, f"two threads over one {two}"]), "|", flush=True)


main()
