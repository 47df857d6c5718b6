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
class Board:
    """A TensorBoard over a folder of runs, asked once it knows the run."""

    def __init__(self, logs, known):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [sys.executable, "-m", "tensorboard.main", "--logdir", logs, "--port", str(port)]
        words += ["--host", "127.0.0.1", "--load_fast", "false"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base, self.known = f"http://127.0.0.1:{port}/data/plugin", known

    def __enter__(self):
        for _ in range(120):
            try:
                if json.loads(self.get("/scalars/tags")).get(self.known):
                    break
            except OSError:
                pass
            time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data=data, headers=headers)
        return urllib.request.urlopen(request, timeout=20).read()

    def hparams(self):
        experiment = json.loads(self.get("/hparams/experiment", {"experimentName": ""}))
        return sorted(info["name"] for info in experiment["hparamInfos"])

    def session(self, hparams, metric):
        columns = [{"hparam": name, "includeInResult": True} for name in hparams]
        columns.append({"metric": {"group": "", "tag": metric}, "includeInResult": True})
        statuses = ["STATUS_SUCCESS", "STATUS_RUNNING", "STATUS_FAILURE", "STATUS_UNKNOWN"]
        body = {"experimentName": "", "allowedStatuses": statuses, "colParams": columns,
                "startIndex": 0, "sliceSize": 10}
        groups = json.loads(self.get("/hparams/session_groups", body))["sessionGroups"]
        return groups[0] if groups else {}


logs = os.path.join(work, "logs")
run(write_events, os.path.join(logs, "run"))
with Board(logs, "run") as board:
    scalars = json.loads(board.get("/scalars/scalars?run=run&tag=loss"))
    expected = [1 / (step + 1) for step in range(5)]
    check("TensorBoard returns our scalars", [s[1] for s in scalars] == list(range(5)) and all(abs(s[2] - e) < 1e-7 for s, e in zip(scalars, expected)), scalars[:2])
    histograms = json.loads(board.get("/histograms/histograms?run=run&tag=weights"))
    check("TensorBoard returns our histograms", len(histograms) == 5 and sum(b[2] for b in histograms[1][2]) == 100)
    images = json.loads(board.get("/images/images?run=run&tag=sample&sample=0"))
    shown = board.get("/images/individualImage?" + images[0]["query"])
    shape = tuple(tf.io.decode_png(shown).shape)
    check("TensorBoard returns our pictures", shape == (24, 40, 3), shape)
    names = board.hparams()
    check("TensorBoard returns our hyperparameters", names == ["lr", "optimizer"], names)
    group = board.session(["lr", "optimizer"], "loss")
    check("TensorBoard returns our session", group.get("hparams") == {"lr": 0.01, "optimizer": "adam"} and group["sessions"][0]["status"] == "STATUS_SUCCESS", group.get("hparams"))

# 5. TensorBoard serves a training.
logs = os.path.join(work, "trainings")
lines = run(binary, "train", "--neurons", "8", "--batch", "100", "--epochs", "3", "--json",
            "--tensorboard", os.path.join(logs, "first")).splitlines()
epochs = [event for event in map(json.loads, lines) if event["event"] == "epoch"]
with Board(logs, "first") as board:
    scalars = json.loads(board.get("/scalars/scalars?run=first&tag=accuracy%2Ftest"))
    told = [(epoch["step"], epoch["test_accuracy"]) for epoch in epochs]
    same = len(scalars) == 3 and all(s[1] == step and abs(s[2] - value) < 1e-6 for s, (step, value) in zip(scalars, told))
    check("TensorBoard returns a training's accuracies", same, scalars)
    histograms = json.loads(board.get("/histograms/histograms?run=first&tag=parameters%2F0.weight"))
    counts = [sum(bucket[2] for bucket in own[2]) for own in histograms]
    check("TensorBoard returns a training's histograms", counts == [784 * 8] * 3, counts)
    images = json.loads(board.get("/images/images?run=first&tag=inputs&sample=0"))
    shape = tuple(tf.io.decode_png(board.get("/images/individualImage?" + images[0]["query"])).shape)
    check("TensorBoard returns a training's pictures", shape == (28, 28, 1), shape)
    names = board.hparams()
    check("TensorBoard returns a training's hyperparameters", {"lr", "optimizer", "batch", "neurons"} <= set(names), names)
    group = board.session(["lr", "optimizer"], "accuracy/test")
    found = group.get("hparams"), group["sessions"][0]["status"], [m["value"] for m in group["metricValues"]]
    same = found[:2] == ({"lr": 0.001, "optimizer": "adam"}, "STATUS_SUCCESS") and abs(found[2][0] - told[-1][1]) < 1e-6
    check("TensorBoard returns a training's session", same, found)

import tensorboard

report = {
    "what": "interoperation with TensorFlow and TensorBoard",
    "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
    "versions": {"tensorflow": tf.__version__, "tensorboard": tensorboard.__version__, "python": platform.python_version()},
    "checks": checks,
}
json.dump(report, open(result, "w"), indent=2)
sys.exit(0 if all(c["holds"] for c in checks.values()) else 1)
