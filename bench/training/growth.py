"""How the time of a training step grows with the set: growth.py PROGRAM [OUT.json]

Makes sets of 4 x 4 pictures that differ in their number alone, prepares them as shards, trains a tiny
network on each for an epoch of batches of 32, streamed, and prints the time of a step without the wait
for pictures: it should be the same for all. Three rounds a set; the median is told.
"""

import json
import platform
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTS = [16_000, 64_000, 256_000, 1_024_000]
BATCH = 32
ROUNDS = 3


def idx(folder, prefix, count):
    pixels = bytes((place * 31 + place // 16) % 251 for place in range(16 * 1000)) * (count // 1000)
    labels = bytes(number % 2 for number in range(count))
    head = struct.pack(">BBBBIII", 0, 0, 8, 3, count, 4, 4)
    (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + pixels)
    (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, count) + labels)


def shards(program, folder, count):
    source, out = folder / f"idx-{count}", folder / f"shards-{count}"
    source.mkdir()
    idx(source, "train", count)
    idx(source, "t10k", 1000)
    subprocess.run([program, "data", "prepare", source, "--out", out], check=True, capture_output=True)
    return out


def step_time(program, data):
    words = [program, "train", "--data", data, "--neurons", "2", "--batch", str(BATCH), "--epochs", "1"]
    told = subprocess.run([*words, "--json"], check=True, capture_output=True, text=True).stdout
    done = json.loads(told.splitlines()[-1])
    return (done["time_s"] - done["input_wait_s"]) / done["steps"] * 1e6, done["steps"]


def main():
    program = sys.argv[1]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        sets = {count: shards(program, Path(folder), count) for count in COUNTS}
        rounds = [{count: step_time(program, data) for count, data in sets.items()} for _ in range(ROUNDS)]
    print("pictures     steps  microseconds a step")
    for count in COUNTS:
        times = [found[count][0] for found in rounds]
        steps = rounds[0][count][1]
        rows.append({"pictures": count, "steps": steps, "step_us": times, "median_us": statistics.median(times)})
        print(f"{count:9,}  {steps:8,}  {rows[-1]['median_us']:8.1f}")
    growth = rows[-1]["median_us"] / rows[0]["median_us"]
    print(f"a set {COUNTS[-1] // COUNTS[0]} times as large: {growth:.2f} times the time of a step")
    if len(sys.argv) > 2:
        result = {"machine": platform.processor() or platform.machine(), "batch": BATCH, "rows": rows, "growth": growth}
        Path(sys.argv[2]).write_text(json.dumps(result, indent=2) + "\n")


main()
