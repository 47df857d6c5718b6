"""Runs our data path and its peers in turn and writes result.json. Called by run.sh."""

import json
import os
import platform
import statistics
import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, version

datapath, binary, flowers, work, result, seconds, rounds = sys.argv[1:8]
originals, small = os.path.join(flowers, "original"), os.path.join(flowers, "small192")
python = sys.executable
here = os.path.dirname(os.path.abspath(__file__))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1:]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def prepare(source, out, threads):
    subprocess.run(["rm", "-rf", out], check=True)
    before = os.times()
    made = run(binary, "data", "prepare", source, "--out", out, "--shards", "16", "--threads", str(threads), "--json")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"items": made["records"], "bytes": made["bytes"], "wall_s": made["seconds"], "cpu_s": cpu}


shards = os.path.join(work, "shards")
prepare(small, shards, 2)
# The same pictures as tar files for webdataset.
import tensorflow as tf

for number, shard in enumerate(sorted(os.listdir(shards))):
    if not shard.endswith(".tfrecord"):
        continue
    with tarfile.open(os.path.join(shards, shard[:-9] + ".tar"), "w") as tar:
        for at, record in enumerate(tf.data.TFRecordDataset([os.path.join(shards, shard)])):
            feature = tf.train.Example.FromString(record.numpy()).features.feature
            for name, content in [("jpg", feature["image/encoded"].bytes_list.value[0]), ("cls", str(feature["label"].int64_list.value[0]).encode())]:
                info = tarfile.TarInfo(f"{number:05}{at:05}.{name}")
                info.size = len(content)
                import io
                tar.addfile(info, io.BytesIO(content))

contenders = []
for threads in (1, 2):
    contenders += [("ours", "files", originals, threads), ("tensorflow", "files", originals, threads), ("torchvision", "files", originals, threads), ("dali", "files", originals, threads)]
    contenders += [("ours", "records", shards, threads), ("tensorflow", "records", shards, threads), ("dali", "records", shards, threads)]
    contenders += [("ours", "prepare", originals, threads), ("tensorflow", "prepare", originals, threads)]
contenders += [("webdataset", "records", shards, 1), ("ours", "scan", shards, 1), ("ours", "stream", shards, 1), ("ours", "memcpy", shards, 1), ("tensorflow", "scan", shards, 1)]
contenders += [("ours", "write", shards, 1), ("ours", "plain-write", shards, 1), ("tensorflow", "write", shards, 1)]

measured = {}
for _ in range(int(rounds)):
    for who, mode, place, threads in contenders:
        if who != "ours":
            found = run(python, os.path.join(here, "peer.py"), who, mode, place, str(threads), seconds)
        elif mode == "prepare":
            found = prepare(place, os.path.join(work, "made"), threads)
        else:
            found = run(datapath, mode, place, str(threads), seconds)
        print(who, mode, threads, found, flush=True)
        measured.setdefault((who, mode, threads), []).append(found)

rows, speed = [], {}
for (who, mode, threads), all_found in measured.items():
    good = [found for found in all_found if "error" not in found]
    if not good:
        rows.append({"who": who, "mode": mode, "threads": threads, "error": all_found[0]["error"]})
        continue
    amount = good[0]["items"] or good[0]["bytes"]
    cpu = statistics.median(found["cpu_s"] for found in good)
    wall = statistics.median(found["wall_s"] for found in good)
    speed[who, mode, threads] = (amount / cpu if cpu else None, amount / wall)
    rows.append({"who": who, "mode": mode, "threads": threads, "items": good[0]["items"], "bytes": good[0].get("bytes"), "items_per_cpu_s": amount / cpu if cpu else None, "items_per_s": amount / wall, "rounds": good})

ratios = []


def ratio(name, ours, theirs, wanted, by=0):
    if ours in speed and theirs in speed and speed[ours][by] and speed[theirs][by]:
        found = speed[ours][by] / speed[theirs][by]
        ratios.append({"name": name, "ratio": found, "wanted": wanted})
        print(f"{name}: {found:.2f} (wanted {wanted})")


for threads in (1, 2):
    note = f"{threads} thread{'s' if threads > 1 else ''}"
    for peer, wanted in [("tensorflow", 1.4), ("torchvision", 1.3), ("dali", None)]:
        ratio(f"files against {peer}, {note}, per CPU second", ("ours", "files", threads), (peer, "files", threads), wanted)
    for peer, wanted in [("tensorflow", 1.4), ("dali", 1.1), ("webdataset", None)]:
        ratio(f"records against {peer}, {note}, per CPU second", ("ours", "records", threads), (peer, "records", threads), wanted)
    ratio(f"prepare against tensorflow, {note}, per CPU second", ("ours", "prepare", threads), ("tensorflow", "prepare", threads), 1.3)
ratio("prepare, 2 threads against 1, wall", ("ours", "prepare", 2), ("ours", "prepare", 1), 1.8, by=1)
ratio("scan against tensorflow", ("ours", "scan", 1), ("tensorflow", "scan", 1), 3)
ratio("write against tensorflow", ("ours", "write", 1), ("tensorflow", "write", 1), None)
bytes_per_s = lambda mode, by: statistics.median(f["bytes"] / f[by] for f in measured["ours", mode, 1] if f.get(by))
for mode, limit, wanted in [("scan", "memcpy", 0.75), ("stream", "memcpy", None), ("write", "plain-write", 0.65)]:
    found = bytes_per_s(mode, "wall_s") / bytes_per_s(limit, "wall_s")
    ratios.append({"name": f"{mode} against {limit}, bytes per second", "ratio": found, "wanted": wanted})
    print(f"{mode} against {limit}: {found:.2f} (wanted {wanted})")


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


packages = ["tensorflow-cpu", "torch", "torchvision", "webdataset", "nvidia-dali-cuda120", "nvidia-dali-cuda130"]
model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
report = {
    "what": "the data path against tf.data, torchvision, webdataset and DALI",
    "machine": {"processor": model, "cores": os.cpu_count()},
    "versions": {name: installed(name) for name in packages},
    "features": os.environ.get("FEATURES", ""),
    "ratios": ratios,
    "rows": rows,
}
json.dump(report, open(result, "w"), indent=2)
