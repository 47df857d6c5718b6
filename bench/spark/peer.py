"""The same preparation as PySpark programs do it: PIL in mapPartitions, a file a partition.

Each picture is decoded, cut to the largest square in the middle, scaled to 192 x 192 with antialias
and stored as JPEG of quality 95. Records have a length before them and no checksum, and no message
around the picture, which is less than ours writes.
"""

import json
import os
import struct
import sys
import time

from pyspark import SparkConf, SparkContext


def prepare(index, paths, out):
    begun = time.process_time()
    import io
    from PIL import Image

    images = 0
    path = os.path.join(out, f"part-{index:05}")
    with open(path + ".tmp", "wb") as file:
        for source in paths:
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
            content = encoded.getvalue()
            file.write(struct.pack("<Q", len(content)) + content)
            images += 1
    os.replace(path + ".tmp", path)
    return [(images, time.process_time() - begun)]


def main():
    source, out, partitions = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.makedirs(out)
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(source) for name in sorted(names)]
    paths = [path for path in paths if path.endswith(".jpg")]
    sc = SparkContext(conf=SparkConf().setAppName("peer"))
    sc.setLogLevel("ERROR")
    sc.parallelize(range(8), 8).map(lambda number: number).collect()
    begun = time.perf_counter()
    work = sc.parallelize(paths, partitions).mapPartitionsWithIndex(lambda i, rows: prepare(i, rows, out))
    parts = work.collect()
    wall = time.perf_counter() - begun
    sc.stop()
    images, cpu = sum(own[0] for own in parts), sum(own[1] for own in parts)
    print(json.dumps({"images": images, "cpu_s": cpu, "wall_s": wall}))


if __name__ == "__main__":
    main()
