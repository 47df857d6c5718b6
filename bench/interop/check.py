"""Compares what Trainwright and TensorFlow read and write. Called by run.sh; writes result.json."""

import glob
import hashlib
import json
import os
import platform
import socket
import subprocess
import sys
import time
import urllib.request

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf

binary, pack, write_events, pictures, work, result = sys.argv[1:7]
checks = {}
digest = lambda data: hashlib.sha256(data).hexdigest()


def check(name, holds, detail=""):
    checks[name] = {"holds": bool(holds), "detail": str(detail)}
    print(("ok      " if holds else "FAILED  ") + name, detail, flush=True)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# 1. TensorFlow reads all our shards: every record, its label, its picture.
out = os.path.join(work, "shards")
made = json.loads(run(binary, "data", "prepare", pictures, "--out", out, "--shards", "8", "--json"))
shards = sorted(glob.glob(os.path.join(out, "*.tfrecord")))
features = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/name": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}
classes = open(os.path.join(out, "classes.txt")).read().split()
names, wrong, shapes = set(), 0, set()
for record in tf.data.TFRecordDataset(shards):
    example = tf.io.parse_single_example(record, features)
    name = example["image/name"].numpy().decode()
    names.add(name)
    wrong += classes[int(example["label"])] != name.split("/")[0]
    shapes.add(tuple(tf.io.decode_jpeg(example["image/encoded"], channels=3).shape))
check("TensorFlow reads our shards", len(shards) == 8 and len(names) == made["records"], f"{len(names)} records")
check("labels are the folders", wrong == 0)
check("pictures are 192 x 192 x 3", shapes == {(192, 192, 3)}, shapes)

# 2. Compressed both ways.
payloads = [r.numpy() for r in tf.data.TFRecordDataset(shards[:1])]
for suffix, kind in [("gz", "GZIP"), ("zlib", "ZLIB"), ("tfrecord", "")]:
    ours = os.path.join(work, "ours." + suffix)
    run(pack, shards[0], ours)
    read = [r.numpy() for r in tf.data.TFRecordDataset([ours], compression_type=kind)]
    check(f"TensorFlow reads our {kind or 'plain'} file", read == payloads, f"{len(read)} records")
    theirs = os.path.join(work, "theirs." + suffix)
    with tf.io.TFRecordWriter(theirs, options=kind) as writer:
        for payload in payloads:
            writer.write(payload)
    read = run(pack, theirs).split()
    check(f"we read TensorFlow's {kind or 'plain'} file", read == [digest(p) for p in payloads])

# 3. Damage that TensorFlow sees, we see.
whole = open(shards[0], "rb").read()
for name, damaged in [("bit", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]), ("tail", whole[:-7])]:
    path = os.path.join(work, name + ".tfrecord")
    open(path, "wb").write(damaged)
    try:
        for _ in tf.data.TFRecordDataset([path]):
            pass
        theirs = "read"
    except tf.errors.DataLossError:
        theirs = "DataLossError"
    ours = subprocess.run([binary, "data", "verify", path], capture_output=True).returncode
    check(f"a damaged {name} is found by both", theirs == "DataLossError" and ours == 1, f"{theirs}, exit {ours}")

# 4. TensorBoard serves what we wrote.
logs = os.path.join(work, "logs")
run(write_events, os.path.join(logs, "run"))
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
board = subprocess.Popen(
    [sys.executable, "-m", "tensorboard.main", "--logdir", logs, "--port", str(port), "--host", "127.0.0.1", "--load_fast", "false"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
try:
    base = f"http://127.0.0.1:{port}/data/plugin"

    def get(path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(base + path, data=data, headers={"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=20).read()

    for _ in range(120):
        try:
            if json.loads(get("/scalars/tags")).get("run"):
                break
        except OSError:
            pass
        time.sleep(0.5)
    scalars = json.loads(get("/scalars/scalars?run=run&tag=loss"))
    expected = [1 / (step + 1) for step in range(5)]
    check("TensorBoard returns our scalars", [s[1] for s in scalars] == list(range(5)) and all(abs(s[2] - e) < 1e-7 for s, e in zip(scalars, expected)), scalars[:2])
    histograms = json.loads(get("/histograms/histograms?run=run&tag=weights"))
    check("TensorBoard returns our histograms", len(histograms) == 5 and sum(b[2] for b in histograms[1][2]) == 100)
    images = json.loads(get("/images/images?run=run&tag=sample&sample=0"))
    shown = get("/images/individualImage?" + images[0]["query"])
    shape = tuple(tf.io.decode_png(shown).shape)
    check("TensorBoard returns our pictures", shape == (24, 40, 3), shape)
    experiment = json.loads(get("/hparams/experiment", {"experimentName": ""}))
    names = sorted(info["name"] for info in experiment["hparamInfos"])
    check("TensorBoard returns our hyperparameters", names == ["lr", "optimizer"], names)
    body = {"experimentName": "", "allowedStatuses": ["STATUS_SUCCESS", "STATUS_RUNNING", "STATUS_FAILURE", "STATUS_UNKNOWN"], "colParams": [{"hparam": "lr", "includeInResult": True}, {"hparam": "optimizer", "includeInResult": True}, {"metric": {"group": "", "tag": "loss"}, "includeInResult": True}], "startIndex": 0, "sliceSize": 10}
    groups = json.loads(get("/hparams/session_groups", body))["sessionGroups"]
    group = groups[0] if groups else {}
    check("TensorBoard returns our session", group.get("hparams") == {"lr": 0.01, "optimizer": "adam"} and group["sessions"][0]["status"] == "STATUS_SUCCESS", group.get("hparams"))
finally:
    board.terminate()
    board.wait()

import tensorboard

report = {
    "what": "interoperation with TensorFlow and TensorBoard",
    "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
    "versions": {"tensorflow": tf.__version__, "tensorboard": tensorboard.__version__, "python": platform.python_version()},
    "checks": checks,
}
json.dump(report, open(result, "w"), indent=2)
sys.exit(0 if all(c["holds"] for c in checks.values()) else 1)
