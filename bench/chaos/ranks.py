"""Disturbs ranks of trainings at random moments; each must end as it promises, and none may hang.

Usage: ranks.py PROGRAM DISTURBANCES SEED. A disturbance kills a worker or rank 0, stops a worker for
less or for longer than the patience, or cuts a worker off by a proxy that holds back all bytes. What
is checked: a training that goes on ends with the parameters of an undisturbed one (local-sgd after a
loss: with all its steps); one that ends has exit code 3, names the lost rank and the checkpoint, and
resumes with another number of workers to the parameters of an undisturbed one; no process is left.
"""

import collections
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PATIENCE = 1.0
LIMIT = 90.0
JOB = ["train", "--neurons", "16", "--batch", "96", "--micro-batch", "16", "--clip-norm", "1",
       "--optimizer", "momentum", "--lr", "0.02", "--epochs", "15", "--json"]
STRATEGIES = {
    "multi-worker": ["--strategy", "multi-worker"],
    "local-sgd": ["--strategy", "local-sgd", "--sync-every", "4"],
}
KINDS = ["kill worker", "kill rank 0", "stop shortly", "stop long", "cut off"]


class Proxy:
    """Passes bytes on both ways until it is cut; connections stay open."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.passes = threading.Event()
        self.passes.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = self.connected()
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self.forward, args=ends, daemon=True).start()

    def connected(self):
        """A connection to rank 0, once it listens."""
        while True:
            try:
                return socket.create_connection(self.target)
            except OSError:
                time.sleep(0.02)

    def forward(self, source, sink):
        try:
            while data := source.recv(65536):
                self.passes.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as own:
        return own.getsockname()[1]


def children(pid):
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until(what, limit=LIMIT):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.005)
    return False


class Chaos:
    def __init__(self, program, seed, folder):
        self.program, self.folder = str(Path(program).resolve()), Path(folder)
        self.dice = random.Random(seed)
        self.faults, self.ends, self.number = [], collections.Counter(), 0
        self.secret = self.folder / "secret"
        self.secret.write_text("a secret that all ranks share")
        self.secret.chmod(0o600)
        self.hashes = {}

    def fault(self, text):
        self.faults.append(text)
        print(f"FAULT: {text}", file=sys.stderr)

    def events(self, path):
        lines = path.read_text().splitlines() if path.exists() else []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
        return found

    def undisturbed(self, strategy, workers):
        """Parameters of an undisturbed training; for multi-worker those of one device."""
        key = (strategy, workers if strategy == "local-sgd" else 1)
        if key not in self.hashes:
            words = [] if strategy == "multi-worker" else [*STRATEGIES[strategy], "--workers", str(workers)]
            run = subprocess.run([self.program, *JOB, *words], capture_output=True, text=True, check=True)
            self.hashes[key] = json.loads(run.stdout.splitlines()[-1])
        return self.hashes[key]

    def one(self, kind):
        self.number += 1
        strategy = self.dice.choice(list(STRATEGIES))
        elastic, workers = self.dice.random() < 0.5, self.dice.choice([2, 3, 4])
        moment = self.dice.randrange(2, 60)
        name = f"{self.number}: {kind}, {strategy}, {workers} workers{', elastic' if elastic else ''}, event {moment}"
        expected = self.undisturbed(strategy, workers)
        folder = self.folder / str(self.number)
        folder.mkdir()
        words = [*JOB, *STRATEGIES[strategy], "--workers", str(workers), "--patience", f"{PATIENCE}s",
                 "--checkpoint", str(folder / "kept"), "--checkpoint-every", "7 steps"]
        words += ["--elastic"] if elastic else []
        proxy, joined = None, []
        if kind == "cut off":
            port = free_port()
            words += ["--listen", f"127.0.0.1:{port}", "--secret-file", str(self.secret)]
        with open(folder / "out", "w") as out, open(folder / "err", "w") as err:
            training = subprocess.Popen([self.program, *words], stdout=out, stderr=err)
            if kind == "cut off":
                proxy = Proxy(port)
                join = ["worker", "--secret-file", str(self.secret), "--patience", f"{PATIENCE}s", "--join"]
                for rank in range(1, workers):
                    # All through the proxy: ranks other than 0 find each other directly.
                    far = proxy.port if rank == 1 else port
                    joined.append(subprocess.Popen([self.program, *join, f"127.0.0.1:{far}", "--rank", str(rank)],
                                                   stdout=subprocess.DEVNULL, stderr=err))
        try:
            self.disturb(name, kind, (training, joined, proxy), folder, moment)
            self.judge(name, kind, (training, joined), folder, (strategy, elastic, words, expected))
        finally:
            for process in [training, *joined]:
                if process.poll() is None:
                    process.kill()
                process.wait()

    def disturb(self, name, kind, parts, folder, moment):
        training, joined, proxy = parts
        told = lambda: len(self.events(folder / "out")) >= moment or training.poll() is not None
        if not until(told):
            self.fault(f"{name}: no events")
        self.workers = [own.pid for own in joined] or children(training.pid)
        if training.poll() is not None or not self.workers:
            return
        victim = self.dice.choice(self.workers)
        try:
            if kind == "kill worker":
                os.kill(victim, signal.SIGKILL)
            elif kind == "kill rank 0":
                os.kill(training.pid, signal.SIGKILL)
            elif kind == "cut off":
                proxy.passes.clear()
            else:
                os.kill(victim, signal.SIGSTOP)
                time.sleep(0.3 * PATIENCE if kind == "stop shortly" else 3 * PATIENCE)
                os.kill(victim, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def judge(self, name, kind, processes, folder, job):
        training, joined = processes
        strategy, elastic, words, expected = job
        if not until(lambda: training.poll() is not None):
            return self.fault(f"{name}: it hangs")
        told, message = self.events(folder / "out"), (folder / "err").read_text()
        done = next((event for event in told if event.get("event") == "done"), None)
        lost = [event for event in told if event.get("event") == "rank-lost"]
        code = training.returncode
        if code == 0:
            outcome = "went on without a rank" if lost else "undisturbed"
            self.same(name, (strategy, bool(lost)), done, expected)
            if lost and not elastic:
                self.fault(f"{name}: it goes on without being elastic")
        elif kind == "kill rank 0" and code == -signal.SIGKILL:
            outcome = self.resumed(name, folder, job)
        elif code == 3 and not elastic and kind != "stop shortly":
            kept = "--resume" in message or "nothing was kept" in message
            if "is lost" not in message or not kept:
                self.fault(f"{name}: the message is {message!r}")
            outcome = self.resumed(name, folder, job)
        else:
            outcome = "wrong"
            self.fault(f"{name}: exit code {code}, {message!r}")
        left = lambda: not any(is_alive(pid) for pid in self.workers if pid not in [own.pid for own in joined]) and all(own.poll() is not None for own in joined)
        if not until(left):
            self.fault(f"{name}: workers are left")
        self.ends[f"{kind}: {outcome}"] += 1

    def same(self, name, job, done, expected):
        strategy, lost = job
        if done is None or done["steps"] != expected["steps"]:
            self.fault(f"{name}: it did not make all steps: {done}")
        elif done["parameters_hash"] != expected["parameters_hash"] and not (strategy == "local-sgd" and lost):
            self.fault(f"{name}: other parameters")

    def resumed(self, name, folder, job):
        """Goes on from the checkpoint; the number of workers changes where that changes no bit."""
        strategy, _, words, expected = job
        words = list(words)
        if "--listen" in words:
            at = words.index("--listen")
            del words[at:at + 4]
        if strategy == "multi-worker":
            words[words.index("--workers") + 1] = str(self.dice.choice([2, 3]))
        run = subprocess.run([self.program, *words, "--resume"], capture_output=True, text=True, timeout=LIMIT)
        if run.returncode != 0:
            self.fault(f"{name}: resumed with exit code {run.returncode}, {run.stderr!r}")
            return "not resumed"
        self.same(name, (strategy, False), json.loads(run.stdout.splitlines()[-1]), expected)
        return "ended and resumed"


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        chaos = Chaos(program, seed, folder)
        for number in range(count):
            chaos.one(KINDS[number % len(KINDS)])
    for end, times in sorted(chaos.ends.items()):
        print(f"{times:4} {end}")
    print(f"{count} disturbances, {len(chaos.faults)} faults")
    sys.exit(1 if chaos.faults else 0)


main()
