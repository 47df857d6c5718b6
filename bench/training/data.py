"""Makes the data that every trainer gets: `data.py FOLDER TRAINWRIGHT FLOWERS A9A MNIST EXAMPLES`.

Writes arrays for the peers (NumPy, CSR, Vowpal Wabbit's text) and what Trainwright reads (prepared
shards, libsvm files); `EXAMPLES` is the size of the hashed set. Pictures are bytes on our side and
ready float32 arrays on the peers'.
"""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy

HASHED_FEATURES = 39
HASHED_BITS = 20


def idx(path):
    with gzip.open(path) as file:
        content = file.read()
    dimensions = content[3]
    shape = [int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(dimensions)]
    return numpy.frombuffer(content[4 + 4 * dimensions :], numpy.uint8).reshape(shape)


def pictures(folder, name, pixels, labels):
    numpy.save(folder / f"{name}-x.npy", pixels.astype(numpy.float32) / 255)
    numpy.save(folder / f"{name}-y.npy", labels.astype(numpy.int64))


def flowers(folder, program, source, size):
    """Shards by our program, and the same pixels from them by TensorFlow."""
    shards = folder / f"flowers-{size}"
    words = ["data", "prepare", source, "--out", shards, "--size", str(size), "--pixels"]
    subprocess.run([program, *words, "--split", "0.8,0.1,0.1", "--shards", "4"], check=True)
    import tensorflow

    features = {
        "image/raw": tensorflow.io.FixedLenFeature([], tensorflow.string),
        "label": tensorflow.io.FixedLenFeature([], tensorflow.int64),
    }
    files = sorted(str(path) for path in (shards / "train").glob("*.tfrecord"))
    pixels, labels = [], []
    for record in tensorflow.data.TFRecordDataset(files):
        example = tensorflow.io.parse_single_example(record, features)
        raw = numpy.frombuffer(example["image/raw"].numpy(), numpy.uint8)
        pixels.append(raw.reshape(size, size, 3))
        labels.append(int(example["label"]))
    pictures(folder, f"flowers-{size}", numpy.stack(pixels), numpy.array(labels))


def sparse(folder, name, starts, ids, labels):
    """A set of ones as CSR and as Vowpal Wabbit's text."""
    numpy.savez(folder / f"{name}.npz", starts=starts, ids=ids, labels=labels)
    with open(folder / f"{name}.vw", "w") as out:
        for row, label in enumerate(labels):
            words = " ".join(map(str, ids[starts[row] : starts[row + 1]]))
            out.write(f"{'1' if label else '-1'} | {words}\n")


def libsvm(path, starts, ids, labels):
    with open(path, "w") as out:
        for row, label in enumerate(labels):
            words = " ".join(f"{id + 1}:1" for id in ids[starts[row] : starts[row + 1]])
            out.write(f"{'+1' if label else '-1'} {words}\n")


def adult(folder, name, source):
    starts, ids, labels = [0], [], []
    for line in open(source):
        words = line.split()
        labels.append(words[0] == "+1")
        ids.extend(int(word.split(":")[0]) - 1 for word in words[1:])
        starts.append(len(ids))
    sparse(folder, name, numpy.array(starts), numpy.array(ids, numpy.int32), numpy.array(labels))


def hashed(folder, examples):
    """Examples like those of click logs: each column's values follow Zipf's law, hashed together."""
    random = numpy.random.default_rng(1)
    size = (examples, HASHED_FEATURES)
    values = random.zipf(1.3, size).astype(numpy.uint64) + numpy.arange(39, dtype=numpy.uint64) * 7919
    ids = (values * numpy.uint64(0x9E3779B97F4A7C15)) >> numpy.uint64(64 - HASHED_BITS)
    ids = numpy.sort(ids.astype(numpy.int32), axis=1)
    weights = random.normal(size=1 << HASHED_BITS) * 0.4
    repeated = numpy.zeros(size, bool)
    repeated[:, 1:] = ids[:, 1:] == ids[:, :-1]
    margins = numpy.where(repeated, 0, weights[ids]).sum(axis=1) - 0.5
    labels = random.random(len(ids)) < 1 / (1 + numpy.exp(-margins))
    starts = numpy.concatenate([[0], numpy.cumsum((~repeated).sum(axis=1))])
    ids = ids[~repeated]
    tenth = len(labels) // 10
    libsvm(folder / "hashed", starts, ids, labels)
    libsvm(folder / "hashed.t", starts[: tenth + 1], ids, labels[:tenth])
    sparse(folder, "hashed", starts, ids, labels)
    sparse(folder, "hashed-test", starts[: tenth + 1], ids[: starts[tenth]], labels[:tenth])


def main():
    folder, program, source, a9a, mnist, examples = sys.argv[1:]
    folder = Path(folder)
    # Where Debian's package dataset-fashion-mnist puts it.
    fashion = Path("/usr/share/datasets/fashion-mnist")
    for name, place in [("fashion", fashion), ("mnist", Path(mnist))]:
        pixels = idx(place / "train-images-idx3-ubyte.gz")
        pictures(folder, name, pixels, idx(place / "train-labels-idx1-ubyte.gz"))
    adult(folder, "a9a", a9a)
    adult(folder, "a9a-test", f"{a9a}.t")
    hashed(folder, int(examples))
    for size in [64, 128]:
        flowers(folder, program, source, size)


main()
