"""Writes the test vectors of crates/records/tests/data with TensorFlow.

Usage: python make_vectors.py OUT_FOLDER   (tensorflow-cpu 2.21 and tensorboard made the kept ones)
"""

import glob
import hashlib
import os
import struct
import sys

import numpy as np
import tensorflow as tf
from tensorboard.plugins.hparams import api as hp

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
path = lambda name: os.path.join(out, name)

payloads = [b"", b"a", bytes(range(256)), b"\x00" * 1000]
for kind, suffix in [("", ""), ("GZIP", ".gz"), ("ZLIB", ".zlib")]:
    with tf.io.TFRecordWriter(path("records.tfrecord" + suffix), options=kind) as writer:
        for payload in payloads:
            writer.write(payload)

Feature, Features = tf.train.Feature, tf.train.Features
bytes_of = lambda *v: Feature(bytes_list=tf.train.BytesList(value=v))
floats_of = lambda *v: Feature(float_list=tf.train.FloatList(value=v))
ints_of = lambda *v: Feature(int64_list=tf.train.Int64List(value=v))
example = tf.train.Example(features=Features(feature={
    "name": bytes_of(b"rose", b"\xff\x00"),
    "weights": floats_of(0.5, -1.25, 3e10),
    "label": ints_of(-1, 0, 2**62),
    "empty": Feature(),
}))


def varint(number):
    number &= 2**64 - 1
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


# The same lists unpacked, the value before the key; TensorFlow must read it as we do.
floats = b"".join(b"\x0d" + struct.pack("<f", v) for v in (0.5, -1.25, 3e10))
ints = b"".join(b"\x08" + varint(v) for v in (-1, 0, 2**62))
entry = lambda key, feature: field(1, field(2, feature) + field(1, key))
unpacked = field(1, entry(b"weights", field(2, floats)) + entry(b"label", field(3, ints)))
parsed = tf.train.Example.FromString(unpacked)
assert list(parsed.features.feature["label"].int64_list.value) == [-1, 0, 2**62]
assert list(parsed.features.feature["weights"].float_list.value) == [0.5, -1.25, np.float32(3e10)]
with tf.io.TFRecordWriter(path("examples.tfrecord")) as writer:
    writer.write(example.SerializeToString(deterministic=True))
    writer.write(unpacked)

FeatureList = tf.train.FeatureList
sequence = tf.train.SequenceExample(
    context=Features(feature={"length": ints_of(2)}),
    feature_lists=tf.train.FeatureLists(feature_list={
        "tokens": FeatureList(feature=[ints_of(5, 6), ints_of(7)]),
        "frames": FeatureList(feature=[bytes_of(b"one"), bytes_of(b"two")]),
    }),
)
with tf.io.TFRecordWriter(path("sequence.tfrecord")) as writer:
    writer.write(sequence.SerializeToString(deterministic=True))

rows, columns = np.mgrid[0:24, 0:40]
picture = np.stack([rows * 8, columns * 6, (rows + columns) * 3], axis=-1).astype(np.uint8)
jpeg = tf.io.encode_jpeg(picture, quality=95).numpy()
open(path("picture.jpg"), "wb").write(jpeg)
decoded = tf.io.decode_jpeg(jpeg, channels=3, dct_method="INTEGER_ACCURATE").numpy()
open(path("picture.rgb"), "wb").write(decoded.tobytes())
open(path("picture.png"), "wb").write(tf.io.encode_png(picture).numpy())
open(path("picture-png.rgb"), "wb").write(picture.tobytes())

folder = path("events")
writer = tf.summary.create_file_writer(folder)
with writer.as_default():
    hp.hparams({"lr": 0.01, "optimizer": "adam"}, trial_id="one")
    for step, value in enumerate([1.5, 0.75, float("nan")]):
        tf.summary.scalar("loss", value, step=step)
    tf.summary.image("picture", picture[None], step=1)
    tf.summary.histogram("weights", np.arange(100) / 10, step=1)
    tf.summary.text("note", "hello", step=1)
writer.close()
(events,) = glob.glob(os.path.join(folder, "*tfevents*"))
os.rename(events, path("tensorflow.tfevents"))
os.rmdir(folder)

for name in sorted(os.listdir(out)):
    print(hashlib.sha256(open(path(name), "rb").read()).hexdigest(), name)
