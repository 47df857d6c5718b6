"""The same preparation as PySpark programs do it: PIL or tf in mapPartitions, a file a partition.

Each picture is decoded, cut to the largest square in the middle, scaled to 192 x 192 with antialias
and stored as JPEG of quality 95. Records have a length before them and no checksum, and no message
around the picture, which is less than ours writes. Imports are not part of the time.
peer.py SOURCE OUT PARTITIONS pil|tf
"""

import json
import os
import struct
import sys
import time

from pyspark import SparkConf, SparkContext


def with_pil():
    import io
    from PIL import Image

    def square(source):
        with Image.open(source) as picture:
            # Decodes at a half or quarter where that is enough, as PIL's documentation advises.
            picture.draft("RGB", (192, 192))
            picture = picture.convert("RGB")
            side = min(picture.size)
            left, top = (picture.width - side) // 2, (picture.height - side) // 2
            square = picture.crop((left, top, left + side, top + side))
            small = square.resize((192, 192), Image.BILINEAR)
        encoded = io.BytesIO()
        small.save(encoded, "JPEG", quality=95)
        return encoded.getvalue()

    return square


def with_tf():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf

    def square(source):
        picture = tf.io.decode_jpeg(tf.io.read_file(source), channels=3)
        rows, columns = picture.shape[:2]
        side = min(rows, columns)
        cut = tf.image.crop_to_bounding_box(picture, (rows - side) // 2, (columns - side) // 2, side, side)
        small = tf.image.resize(cut, (192, 192), antialias=True)
        pixels = tf.cast(tf.clip_by_value(tf.round(small), 0, 255), tf.uint8)
        return tf.io.encode_jpeg(pixels, quality=95).numpy()

    return square


def prepare(index, paths, out, kind):
    square = {"pil": with_pil, "tf": with_tf}[kind]()
    begun = time.process_time()
    images = 0
    path = os.path.join(out, f"part-{index:05}")
    with open(path + ".tmp", "wb") as file:
        for source in paths:
            content = square(source)
            file.write(struct.pack("<Q", len(content)) + content)
            images += 1
    os.replace(path + ".tmp", path)
    return [(images, time.process_time() - begun)]


def main():
    source, out, partitions, kind = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    os.makedirs(out)
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(source) for name in sorted(names)]
    paths = [path for path in paths if path.endswith(".jpg")]
    sc = SparkContext(conf=SparkConf().setAppName("peer"))
    sc.setLogLevel("ERROR")
    sc.parallelize(range(8), 8).map(lambda number: number).collect()
    begun = time.perf_counter()
    work = sc.parallelize(paths, partitions).mapPartitionsWithIndex(lambda i, rows: prepare(i, rows, out, kind))
    parts = work.collect()
    wall = time.perf_counter() - begun
    sc.stop()
    images, cpu = sum(own[0] for own in parts), sum(own[1] for own in parts)
    print(json.dumps({"images": images, "cpu_s": cpu, "wall_s": wall}))


if __name__ == "__main__":
    main()
