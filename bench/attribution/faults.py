#!/usr/bin/env python3
"""Trains with one fault at a time and checks that the program names what binds.

    faults.py PROGRAM [FAULT...]

Every fault is real: a namespace whose loopback is slow, messages that leave late, a program that spins on
every core, a worker that is stopped most of the time, pictures on a disk that answers late, one server
for all that has a tenth of a core. The
capacities are measured under the fault where it is one of the link. Exit code 1 when a verdict is
wrong.
"""
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[1])
WORKERS = ["--strategy", "multi-worker", "--workers", "2"]
SMALL = ["--network", "mlp", "--neurons", "256", "--batch", "64"]


class Lab:
    """A folder, and a way to run the program in it, possibly in a network namespace."""

    def __init__(self, folder, namespace=None):
        self.folder = folder
        self.before = ["ip", "netns", "exec", namespace] if namespace else []
        self.environment = {**os.environ, "TRAINWRIGHT_CACHE": str(Path(folder) / "cache")}

    def start(self, *words):
        return subprocess.Popen(
            [*self.before, PROGRAM, *words], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words):
        return self.wait(self.start(*words))

    def wait(self, process):
        output, errors = process.communicate(timeout=300)
        if process.returncode != 0:
            raise RuntimeError(f"exit code {process.returncode}: {errors}")
        return output

    def measure(self):
        self.run("machine", "--measure", "--json")

    def preload(self, name, **variables):
        """Lets what runs from now on load a library that makes something slow."""
        library = str(Path(self.folder) / f"{name}.so")
        source = Path(__file__).with_name(f"{name}.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        self.environment |= {"LD_PRELOAD": library, **variables}

    def train(self, *words):
        return verdict(self.run("train", *words, "--json"))


def verdict(lines):
    done = json.loads(lines.strip().splitlines()[-1])
    assert done["event"] == "done", done
    return done["bottleneck"]


@contextlib.contextmanager
def namespace(*rule):
    """A network namespace whose loopback follows a rule of tc."""
    name = f"trainwright-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        inside = ["ip", "netns", "exec", name]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
        subprocess.run([*inside, "tc", "qdisc", "add", "dev", "lo", "root", *rule], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def clean(folder):
    lab = Lab(folder)
    lab.measure()
    return lab.train(*SMALL, "--epochs", "8"), {"processor"}, None


def throttled_link(folder):
    with namespace("tbf", "rate", "100mbit", "burst", "256kb", "latency", "200ms") as name:
        lab = Lab(folder, name)
        lab.measure()
        return lab.train(*SMALL, *WORKERS, "--epochs", "1"), {"network-bandwidth"}, None


def added_round_trip(folder):
    """Messages that leave late, when the link is measured as when it is used."""
    lab = Lab(folder)
    lab.preload("far_link", FAR_LINK_US="10000")
    lab.measure()
    small = ["--network", "mlp", "--neurons", "8", "--batch", "256", "--epochs", "2"]
    return lab.train(*small, *WORKERS), {"network-latency"}, None


def slow_input(folder):
    """Pictures on a disk that answers late."""
    lab = Lab(folder)
    lab.measure()
    make_pictures(Path(folder) / "photos")
    lab.preload("slow_open", SLOW_OPEN_US="10000")
    found = lab.train(
        "--network", "cnn:flowers", "--data", "photos", "--size", "32", "--batch", "16",
        "--epochs", "3")
    return found, {"input", "disk"}, None


def make_pictures(folder):
    """A folder of PNG pictures of two classes."""
    for number in range(160):
        name = folder / ("light" if number % 2 else "dark") / f"{number}.png"
        name.parent.mkdir(parents=True, exist_ok=True)
        row = b"\0" + bytes([160 if number % 2 else 60, number, 90]) * 32
        name.write_bytes(png(32, 32, row * 32))


def png(width, height, rows):
    def chunk(kind, content):
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def hog(folder):
    lab = Lab(folder)
    lab.measure()
    spin = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(spin) for _ in range(2 * os.cpu_count())]
    try:
        found = lab.train(*SMALL, "--epochs", "10")
    finally:
        for own in hogs:
            own.kill()
            own.wait()
    return found, {"processor", "shared-cores"}, "shared-cores"


def slow_worker(folder):
    lab = Lab(folder)
    lab.measure()
    process = lab.start("train", *SMALL, *WORKERS, "--epochs", "6", "--json")
    stop = threading.Event()
    stopper = threading.Thread(target=stop_often, args=(process.pid, stop))
    stopper.start()
    try:
        lines = lab.wait(process)
    finally:
        stop.set()
        stopper.join()
    return verdict(lines), {"stragglers"}, None


def children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(child) for child in path.read_text().split()]
    except FileNotFoundError:
        return []


def stop_often(pid, stop):
    """Stops the first worker of a training for most of its time."""
    while not stop.is_set():
        workers = children(pid)
        if not workers:
            time.sleep(0.01)
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(workers[0], signal.SIGSTOP)
            time.sleep(0.08)
            os.kill(workers[0], signal.SIGCONT)
            time.sleep(0.02)


@contextlib.contextmanager
def tenth_of_a_core():
    """A control group whose processes together get a tenth of a core; gives the file that takes them."""
    root = Path("/sys/fs/cgroup")
    old = (root / "cpu").is_dir()
    group = (root / "cpu" if old else root) / f"trainwright-{os.getpid()}"
    group.mkdir()
    try:
        if old:
            (group / "cpu.cfs_quota_us").write_text("10000")
        else:
            (group / "cpu.max").write_text("10000 100000")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def single_server(folder):
    """All workers push to one server that cannot keep up."""
    lab = Lab(folder)
    lab.measure()
    servers = ["--strategy", "parameter-server", "--workers", "2", "--servers", "1", "--consistency", "async"]
    with tenth_of_a_core() as members:
        process = lab.start("train", *SMALL, *servers, "--epochs", "4", "--json")
        while len(children(process.pid)) < 3 and process.poll() is None:
            time.sleep(0.01)
        members.write_text(str(children(process.pid)[-1]))
        found = verdict(lab.wait(process))
    return found, {"server"}, None


FAULTS = {
    "clean": clean,
    "throttled-link": throttled_link,
    "added-round-trip": added_round_trip,
    "slow-input": slow_input,
    "hog": hog,
    "slow-worker": slow_worker,
    "single-server": single_server,
}


def main():
    names = sys.argv[2:] or list(FAULTS)
    wrong = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found, expected, also = FAULTS[name](folder)
        shares = {own["resource"]: own["shrinks_by"] for own in found["idealised"]}
        right = found.get("resource") in expected and (also is None or shares.get(also, 0) >= 0.1)
        wrong += not right
        print(f"{'right' if right else 'WRONG'}  {name}: {found['text']}")
        if not right:
            print(f"       expected {sorted(expected)}{f' and {also}' if also else ''}, shares {shares}")
    print(f"{len(names) - wrong} of {len(names)} named rightly")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
