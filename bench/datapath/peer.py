"""One pass after another of a peer over one part of the data path, timed like our datapath example.

peer.py PEER MODE PLACE THREADS SECONDS; prints JSON. A peer is a package, and after a colon a variant
of how it is used. SECONDS of `means` prints the mean of each picture of `files` instead.
"""

import glob
import json
import os
import statistics
import sys
import time

import numpy

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
peer, mode, place, threads, seconds = sys.argv[1:6]
peer, _, variant = peer.partition(":")
threads = int(threads)
files = sorted(glob.glob(os.path.join(place, "*", "*.jpg")))
shards = sorted(glob.glob(os.path.join(place, "*.tfrecord")))


def tensorflow():
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def finish(dataset):
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        return dataset.with_options(options)

    def square(encoded):
        """The largest square in the middle, then scaled; `cut` decodes no more than that square."""
        if variant == "cut":
            shape = tf.io.extract_jpeg_shape(encoded)
            short = tf.minimum(shape[0], shape[1])
            window = tf.stack([(shape[0] - short) // 2, (shape[1] - short) // 2, short, short])
            image = tf.image.decode_and_crop_jpeg(encoded, window, channels=3)
        else:
            image = tf.io.decode_jpeg(encoded, channels=3)
            shape = tf.shape(image)
            short = tf.minimum(shape[0], shape[1])
            image = tf.image.crop_to_bounding_box(image, (shape[0] - short) // 2, (shape[1] - short) // 2, short, short)
        image = tf.image.resize(image, (192, 192), antialias=variant == "antialias")
        return tf.cast(image, tf.uint8)

    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record):
        example = tf.io.parse_single_example(record, features)
        return tf.ensure_shape(tf.io.decode_jpeg(example["image/encoded"], channels=3), [192, 192, 3]), example["label"]

    if mode == "files":
        dataset = finish(tf.data.Dataset.from_tensor_slices(files).map(lambda f: square(tf.io.read_file(f)), threads).batch(32).prefetch(2))
        return lambda: dataset
    if mode == "records":
        dataset = finish(tf.data.TFRecordDataset(shards).shuffle(1024).map(parse, threads).batch(32).prefetch(2))
        return lambda: (images for images, _ in dataset)
    if mode == "scan":
        # Counted inside the graph, so that no record crosses into Python; still `reduce` calls a
        # traced function for each record, or with `batched` for each 1024 of them.
        dataset = tf.data.TFRecordDataset(shards, buffer_size=1 << 20)
        zero = tf.constant(0, tf.int64)
        if variant == "batched":
            dataset = finish(dataset.batch(1024))
            return lambda: int(dataset.reduce(zero, lambda n, some: n + tf.size(some, tf.int64)))
        dataset = finish(dataset)
        return lambda: int(dataset.reduce(zero, lambda n, _: n + 1))
    if mode == "write":
        records = [r.numpy() for r in tf.data.TFRecordDataset(shards)]

        def write():
            with tf.io.TFRecordWriter(os.path.join(place, ".peer")) as writer:
                for record in records:
                    writer.write(record)
            os.remove(os.path.join(place, ".peer"))
            return len(records)

        return write
    if mode == "prepare":
        def prepare():
            encode = lambda f: tf.io.encode_jpeg(square(tf.io.read_file(f)), quality=95)
            dataset = finish(tf.data.Dataset.from_tensor_slices(files).map(encode, threads).prefetch(2))
            count = 0
            with tf.io.TFRecordWriter(os.path.join(place, "..", ".peer")) as writer:
                for image in dataset:
                    feature = {"image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.numpy()])), "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[0]))}
                    writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
                    count += 1
            return count

        return prepare


def torchvision():
    import torch
    import torchvision
    from torchvision.transforms.v2 import functional as F

    torch.set_num_threads(1)

    def one(path):
        image = torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)
        rows, columns = image.shape[1:]
        short = min(rows, columns)
        image = F.crop(image, (rows - short) // 2, (columns - short) // 2, short, short)
        return F.resize(image, [192, 192], antialias=True)

    class Pictures(torch.utils.data.Dataset):
        __len__ = lambda self: len(files)
        __getitem__ = lambda self, at: one(files[at])

    workers = 0 if threads == 1 else threads
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=32, num_workers=workers, persistent_workers=workers > 0)
    return lambda: loader


def dali():
    import nvidia.dali.fn as fn
    import nvidia.dali.tfrecord as tfrec
    from nvidia.dali import pipeline_def, types

    if mode == "files":
        @pipeline_def(batch_size=32, num_threads=threads, device_id=None)
        def build():
            encoded, labels = fn.readers.file(files=files, name="reader")
            sides = fn.cast(fn.slice(fn.peek_image_shape(encoded), 0, 2, axes=[0]), dtype=types.FLOAT)
            short = fn.reductions.min(sides)
            start = (sides - short) * 0.5
            if variant == "cut":
                # No more than the square is decoded.
                start, short = fn.cast(start, dtype=types.INT32), fn.cast(fn.stack(short, short), dtype=types.INT32)
                image = fn.decoders.image_slice(encoded, start=start, shape=short, axes=[0, 1], output_type=types.RGB)
                return fn.resize(image, size=[192, 192], antialias=True), labels
            image = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
            return fn.resize(image, size=[192, 192], roi_start=start, roi_end=start + short, antialias=True), labels
        count = len(files)
    else:
        index = [s + ".idx" for s in shards]
        count = sum(len(open(i).readlines()) for i in index)

        @pipeline_def(batch_size=32, num_threads=threads, device_id=None)
        def build():
            features = {"image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""), "label": tfrec.FixedLenFeature([1], tfrec.int64, 0)}
            data = fn.readers.tfrecord(path=shards, index_path=index, features=features, name="reader", random_shuffle=True, initial_fill=1024)
            return fn.decoders.image(data["image/encoded"], device="cpu", output_type=types.RGB), data["label"]

    pipe = build()
    pipe.build()

    def one_pass():
        for _ in range(0, count, 32):
            pipe.run()
        return count

    # Arrays are copies, made only where they are looked at. The last batch is filled up with pictures
    # of the next pass.
    as_arrays = lambda: (pipe.run()[0].as_array()[: count - start] for start in range(0, count, 32))
    return as_arrays if seconds == "means" else one_pass


def webdataset():
    import torch
    import torchvision
    import webdataset as wds

    torch.set_num_threads(1)
    decode = lambda data: torchvision.io.decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode=torchvision.io.ImageReadMode.RGB)
    tars = sorted(glob.glob(os.path.join(place, "*.tar")))
    dataset = wds.WebDataset(tars, shardshuffle=False).shuffle(1024).to_tuple("jpg", "cls").map_tuple(decode, int).batched(32)
    return lambda: (images for images, _ in dataset)


def processor_seconds():
    """User and system time of this process and of the workers that it has started."""
    total = sum(os.times()[:4])
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = open(stat).read().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def counted(one_pass):
    """Items of a pass, which is a number or gives batches."""
    made = one_pass()
    return made if isinstance(made, int) else sum(len(batch) for batch in made)


def timed(one_pass):
    counted(one_pass)
    walls, begun, processor = [], time.perf_counter(), processor_seconds()
    while len(walls) < 3 or time.perf_counter() - begun < float(seconds):
        wall = time.perf_counter()
        items = counted(one_pass)
        walls.append(time.perf_counter() - wall)
    processor = processor_seconds() - processor
    return {"items": items, "passes": len(walls), "wall_s": statistics.median(walls), "best_wall_s": min(walls), "cpu_s": processor / len(walls)}


one_pass = globals()[peer]()
if seconds == "means":
    pictures = (numpy.asarray(batch) for batch in one_pass())
    print(json.dumps({"means": [float(it.mean()) for batch in pictures for it in batch]}))
else:
    print(json.dumps(timed(one_pass)))
