"""One pass after another of a peer over one part of the data path, timed like our datapath example.

peer.py PEER MODE PLACE THREADS SECONDS; prints JSON.
"""

import glob
import json
import os
import statistics
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
peer, mode, place, threads, seconds = sys.argv[1:6]
threads, seconds = int(threads), float(seconds)
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
        image = tf.io.decode_jpeg(encoded, channels=3)
        shape = tf.shape(image)
        short = tf.cast(tf.minimum(shape[0], shape[1]), tf.float32)
        size = tf.cast(tf.math.ceil(tf.cast(shape[:2], tf.float32) * 192.0 / short), tf.int32)
        image = tf.image.resize(image, size)
        return tf.cast(tf.image.resize_with_crop_or_pad(image, 192, 192), tf.uint8)

    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record):
        example = tf.io.parse_single_example(record, features)
        return tf.ensure_shape(tf.io.decode_jpeg(example["image/encoded"], channels=3), [192, 192, 3]), example["label"]

    if mode == "files":
        dataset = finish(tf.data.Dataset.from_tensor_slices(files).map(lambda f: square(tf.io.read_file(f)), threads).batch(32).prefetch(2))
        return lambda: sum(batch.shape[0] for batch in dataset)
    if mode == "records":
        dataset = finish(tf.data.TFRecordDataset(shards).shuffle(1024).map(parse, threads).batch(32).prefetch(2))
        return lambda: sum(batch[0].shape[0] for batch in dataset)
    if mode == "scan":
        # Summed inside the graph, so that no record crosses into Python.
        dataset = finish(tf.data.TFRecordDataset(shards, buffer_size=1 << 20))
        return lambda: int(dataset.reduce(tf.constant(0, tf.int64), lambda n, _: n + 1))
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
        return F.center_crop(F.resize(image, 192, antialias=True), 192)

    class Pictures(torch.utils.data.Dataset):
        __len__ = lambda self: len(files)
        __getitem__ = lambda self, at: one(files[at])

    workers = 0 if threads == 1 else threads
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=32, num_workers=workers, persistent_workers=workers > 0)
    return lambda: sum(len(batch) for batch in loader)


def dali():
    import nvidia.dali.fn as fn
    import nvidia.dali.tfrecord as tfrec
    from nvidia.dali import pipeline_def, types

    if mode == "files":
        @pipeline_def(batch_size=32, num_threads=threads, device_id=None)
        def build():
            encoded, labels = fn.readers.file(files=files, name="reader")
            image = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
            image = fn.resize(image, resize_shorter=192, antialias=True)
            return fn.crop(image, crop=(192, 192)), labels
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
        for _ in range((count + 31) // 32):
            pipe.run()
        return count

    return one_pass


def webdataset():
    import torch
    import torchvision
    import webdataset as wds

    torch.set_num_threads(1)
    decode = lambda data: torchvision.io.decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode=torchvision.io.ImageReadMode.RGB)
    tars = sorted(glob.glob(os.path.join(place, "*.tar")))
    dataset = wds.WebDataset(tars, shardshuffle=False).shuffle(1024).to_tuple("jpg", "cls").map_tuple(decode, int).batched(32)
    return lambda: sum(len(batch[1]) for batch in dataset)


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


one_pass = globals()[peer]()
one_pass()
walls, begun, processor = [], time.perf_counter(), processor_seconds()
while len(walls) < 3 or time.perf_counter() - begun < seconds:
    wall = time.perf_counter()
    items = one_pass()
    walls.append(time.perf_counter() - wall)
processor = processor_seconds() - processor
print(json.dumps({"items": items, "passes": len(walls), "wall_s": statistics.median(walls), "best_wall_s": min(walls), "cpu_s": processor / len(walls)}))
