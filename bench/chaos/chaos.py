"""Kills at random moments; a study and a preparation must come out as if nothing had happened.

Usage: chaos.py PROGRAM KILLS SEED. Victims are the runner, a trial, a trial's child, a child that
left the trial's session, several of these at once, and `data prepare`. Checked are: no trial that
the store called finished is lost or runs again, every value is right, no process is left behind
when a run has ended, and shards are equal byte for byte. Moments and victims follow from the seed.
"""

import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

LEVELS = 12
REPLICATIONS = 2

TRIAL = """\
sleep 0.03 &
child=$!
setsid sh -c 'echo $$ > "$0/stray"; exec sleep 600' "$TRAINWRIGHT_DIR" > /dev/null 2>&1 &
while [ ! -s "$TRAINWRIGHT_DIR/stray" ]; do sleep 0.001; done
echo "start $TRAINWRIGHT_TRIAL $$ $child $(cat "$TRAINWRIGHT_DIR/stray")" >> journal
wait $child
echo "::metric {\\"y\\": $1}"
"""

STUDY = """\
schema = 1
[study]
name = "chaos"
seed = {seed}
[factors.x]
levels = {levels}
[design]
type = "full"
replications = {replications}
[run]
command = ["sh", "trial.sh", "{{x}}"]
retries = 1000000
retry_on = [137]
[engine]
slots = {slots}
[metrics.y]
from = "stdout"
objective = "maximize"
[analysis]
response = "y"
"""


class Chaos:
    def __init__(self, program, kills, seed):
        self.program = str(Path(program).resolve())
        self.kills = kills
        self.dice = random.Random(seed)
        self.killed = {}
        self.studies = 0
        self.preparations = 0
        self.faults = []

    def spent(self):
        return sum(self.killed.values())

    def fault(self, text):
        self.faults.append(text)
        print(f"FAULT: {text}", file=sys.stderr)

    def kill(self, kind, pid):
        """Kills a process, if it is there, and counts it."""
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.killed[kind] = self.killed.get(kind, 0) + 1

    def start(self, folder, *words):
        with open(folder / "said", "ab") as said:
            return subprocess.Popen([self.program, *words], cwd=folder, stdout=said, stderr=said)

    def rows(self, folder):
        words = [self.program, "export", "study.toml", "--format", "json"]
        done = subprocess.run(words, cwd=folder, capture_output=True)
        return json.loads(done.stdout)["rows"] if done.returncode == 0 else []

    # A study.

    def study(self, folder):
        self.studies += 1
        slots = self.dice.choice([1, 2, 3])
        text = STUDY.format(
            seed=self.studies,
            levels=list(range(1, LEVELS + 1)),
            replications=REPLICATIONS,
            slots=slots,
        )
        (folder / "study.toml").write_text(text)
        (folder / "trial.sh").write_text(TRIAL)
        finished = {}
        while True:
            runner = self.start(folder, "run", "study.toml")
            code = self.harm(folder, runner)
            self.note_finished(folder, finished)
            if code is not None:
                break
        if code != 0:
            self.fault(f"study {self.studies} ended with {code}: {(folder / 'said').read_text()}")
        self.check_study(folder, finished)

    def harm(self, folder, runner):
        """Kills things until the runner is one of them; its exit code where it ends before."""
        while True:
            # With all kills spent, the study is left to end by itself.
            rest = 60 if self.spent() >= self.kills else self.dice.uniform(0.0, 0.6)
            try:
                return runner.wait(rest)
            except subprocess.TimeoutExpired:
                pass
            if self.spent() >= self.kills:
                self.fault(f"study {self.studies} hangs")
                runner.kill()
                return runner.wait()
            kinds = self.dice.choice(
                [["runner"], ["trial"], ["child"], ["stray"], ["runner", "trial"], ["runner", "stray"]]
            )
            for kind in kinds:
                if kind == "runner":
                    self.kill("runner", runner.pid)
                elif pid := self.pid_of(folder, kind):
                    self.kill(kind, pid)
            if "runner" in kinds:
                runner.wait()
                return None

    def pid_of(self, folder, kind):
        """The process of a trial under way that started last, if it still is the trial's."""
        lines = journal(folder)
        if not lines:
            return None
        pid = int(lines[-1][{"trial": 2, "child": 3, "stray": 4}[kind]])
        return pid if belongs(pid, folder) else None

    def note_finished(self, folder, finished):
        starts = starts_of(folder)
        states = {row["trial"]: row["state"] for row in self.rows(folder)}
        for trial, count in finished.items():
            if states and states.get(trial) != "finished":
                self.fault(f"study {self.studies}: finished trial {trial} is {states.get(trial)}")
            if starts.get(trial, 0) != count:
                self.fault(f"study {self.studies}: finished trial {trial} ran again")
        for trial, state in states.items():
            if state == "finished":
                finished.setdefault(trial, starts.get(trial, 0))

    def check_study(self, folder, finished):
        rows = self.rows(folder)
        if len(rows) != LEVELS * REPLICATIONS:
            self.fault(f"study {self.studies} has {len(rows)} rows")
        for row in rows:
            if row["state"] != "finished" or row["y"] != row["x"]:
                self.fault(f"study {self.studies}: {row}")
        left = [pid for pid in processes() if belongs(pid, folder)]
        for pid in left:
            self.fault(f"study {self.studies}: process {pid} is left: {words_of(pid)}")
            os.kill(pid, signal.SIGKILL)

    # A preparation.

    def preparation(self, folder):
        self.preparations += 1
        pictures(folder / "photos", 60, self.preparations)
        words = ["data", "prepare", "photos", "--size", "64", "--shards", "6", "--threads", "2"]
        began = time.monotonic()
        whole = self.start(folder, *words, "--out", "whole")
        if whole.wait() != 0:
            return self.fault(f"preparation failed: {(folder / 'said').read_text()}")
        took = time.monotonic() - began
        for _ in range(10):
            if self.spent() >= self.kills:
                break
            running = self.start(folder, *words, "--out", "killed")
            try:
                running.wait(self.dice.uniform(0.0, took))
                break
            except subprocess.TimeoutExpired:
                self.kill("prepare", running.pid)
                running.wait()
        if self.start(folder, *words, "--out", "killed").wait() != 0:
            self.fault(f"preparation not resumed: {(folder / 'said').read_text()}")
        if shards(folder / "whole") != shards(folder / "killed"):
            self.fault(f"preparation {self.preparations}: shards differ")


def journal(folder):
    """The whole lines that trials wrote when they started."""
    path = folder / "journal"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [words for words in map(str.split, lines) if len(words) == 5]


def starts_of(folder):
    starts = {}
    for words in journal(folder):
        starts[int(words[1])] = starts.get(int(words[1]), 0) + 1
    return starts


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def belongs(pid, folder):
    """Whether a living process works in a folder."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state != "Z" and Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(folder)
    except OSError:
        return False


def words_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "gone"


def shards(folder):
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".tfrecord", ".idx"))
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]


def pictures(folder, count, seed):
    """Writes PNG files of noise into folders of two classes."""
    noise = random.Random(seed)
    for number in range(count):
        path = folder / ("a" if number % 2 else "b") / f"{number:03}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(noise, 96))


def png(noise, side):
    def chunk(kind, data):
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    rows = b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def main():
    program, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chaos = Chaos(program, kills, seed)
    while chaos.spent() < kills and not chaos.faults:
        for part in (chaos.study, chaos.preparation):
            with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
                part(Path(folder).resolve())
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(chaos.killed.items()))
    print(
        f"{chaos.spent()} kills ({counts}) in {chaos.studies} studies and {chaos.preparations} "
        f"preparations, seed {seed}: {len(chaos.faults)} faults"
    )
    sys.exit(1 if chaos.faults else 0)


main()
