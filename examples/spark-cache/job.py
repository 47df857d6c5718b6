"""A Spark job as many are written: read files lazily, then ask several questions of what was read.

Without a cache every question reads all files again. Files differ in size, as photographs do, so
that with few partitions one of them ends last.
"""

import argparse
import os
import random
import time
import zlib

from pyspark import SparkConf, SparkContext

FILES = 48
WORK = 24  # Times that each file is read, so that a task takes a while.


def make_files(folder):
    """Writes packed files of different sizes, unless they are there."""
    os.makedirs(folder, exist_ok=True)
    source = random.Random(5)
    for number in range(FILES):
        path = os.path.join(folder, f"{number:03}.z")
        size = 30_000 * (1 + number // 6)  # The later ones are larger.
        content = bytes(source.getrandbits(8) & 31 for _ in range(size))
        if not os.path.exists(path):
            with open(path + f".{os.getpid()}", "wb") as file:
                file.write(zlib.compress(content, 6))
            os.replace(path + f".{os.getpid()}", path)


def read(path):
    """Bytes, checksum and seconds of a file."""
    begun = time.perf_counter()
    for _ in range(WORK):
        with open(path, "rb") as file:
            content = zlib.decompress(file.read())
        checksum = zlib.crc32(content)
    return len(content), checksum, time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--partitions", type=int, required=True)
    parser.add_argument("--cache", choices=["yes", "no"], required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = os.path.abspath("files")
    make_files(folder)
    conf = SparkConf().setAppName("spark-cache").setMaster(os.environ.get("SPARK_MASTER", "local[2]"))
    conf.set("spark.ui.enabled", "false")
    sc = SparkContext(conf=conf)
    sc.setLogLevel("ERROR")
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".z")]
    # The start of Python processes is not what is asked about.
    sc.parallelize(range(4), 4).map(lambda number: number).collect()
    begun = time.perf_counter()
    read_files = sc.parallelize(paths, arguments.partitions).map(read)
    if arguments.cache == "yes":
        read_files = read_files.cache()
    total = read_files.map(lambda own: own[0]).sum()
    mixed = read_files.map(lambda own: own[1]).reduce(lambda a, b: a ^ b)
    largest = read_files.map(lambda own: own[0]).max()
    seconds = read_files.mapPartitions(lambda rows: [sum(own[2] for own in rows)]).collect()
    job_time = time.perf_counter() - begun
    sc.stop()
    imbalance = max(seconds) / (sum(seconds) / len(seconds))
    checksum = (total ^ mixed ^ largest) % 1_000_000
    print(f'::metric {{"job_time": {job_time}, "checksum": {checksum}, "imbalance": {imbalance}}}')


if __name__ == "__main__":
    main()
