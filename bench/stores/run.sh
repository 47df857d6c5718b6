#!/usr/bin/env bash
# Reads and writes shards in a real S3 server on this machine: moto, from PyPI into bench/.venv.
# gs:// is untested: the emulator on PyPI (gcp-storage-emulator 2026.7.19) answers a put without an
# ETag, which the client library refuses, and moto does not take requests with Google's headers.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${BENCH_VENV:-bench/.venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import moto, boto3' 2>/dev/null ||
  "$venv/bin/pip" install --quiet 'moto[server]'

work=$(mktemp -d)
servers=()
finish() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
answers() { # waits until a server takes connections
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    sleep 0.2
  done
  return 1
}

same_as_whole() { # compares a folder of the bucket with what one run made on disk
  "$venv/bin/python" - "$work/whole" "$1/" <<'PY'
import boto3, os, sys
folder, prefix = sys.argv[1:]
client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")
keys = [o["Key"] for o in client.list_objects_v2(Bucket="trainwright", Prefix=prefix)["Contents"]]
there = {key.removeprefix(prefix): client.get_object(Bucket="trainwright", Key=key)["Body"].read() for key in keys}
whole = {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}
assert there == whole, (sorted(there), sorted(whole))
PY
}

port=$(free_port)
"$venv/bin/moto_server" -H 127.0.0.1 -p "$port" >"$work/moto.log" 2>&1 &
servers+=($!)
answers "$port" || { cat "$work/moto.log"; exit 1; }

export AWS_ENDPOINT_URL="http://127.0.0.1:$port" AWS_ACCESS_KEY_ID=test \
  AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1
"$venv/bin/python" - <<'PY'
import boto3, os
boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1").create_bucket(Bucket="trainwright")
PY

echo "== buckets: list, read, ranges, write, parts"
TRAINWRIGHT_TEST_BUCKETS=s3://trainwright/contract ${BUILD:-} cargo test --release -p trainwright-records \
  --features object-stores object_stores_keep_the_contract

echo "== the program: prepare into a bucket, verify, inspect, speedtest"
${BUILD:-} cargo build --release --features object-stores
program=$work/trainwright
cp target/release/trainwright "$program"
export TRAINWRIGHT_CACHE=$work/cache
python3 - "$work/photos" <<'PY'
import os, struct, sys, zlib
# Small PNG pictures, so that nothing but Python is needed.
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for number in range(30):
    rows = b"".join(b"\0" + bytes((number * 7 + x * y) % 256 for x in range(3 * 60)) for y in range(40))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60, 40, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    folder = os.path.join(sys.argv[1], ("rose", "tulip")[number % 2])
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, f"{number}.png"), "wb").write(png)
PY
"$program" data prepare "$work/photos" --out s3://trainwright/shards --size 32 --shards 3
"$program" data verify 's3://trainwright/shards/*.tfrecord'
if "$program" data prepare "$work/photos" --out s3://trainwright/shards --size 32 --shards 3; then
  echo "a finished set was written over" && exit 1
fi

echo "== killed at any moment and run again: the bucket ends up with what one run makes"
"$program" data prepare "$work/photos" --out "$work/whole" --size 32 --shards 8 >/dev/null
kills=0
for delay in 0.005 0.01 0.02 0.03 0.04 0.06 0.08 0.1 0.15; do
  "$program" data prepare "$work/photos" --out s3://trainwright/resumed --size 32 --shards 8 >/dev/null 2>&1 &
  sleep "$delay"
  kill -9 $! 2>/dev/null && kills=$((kills + 1))
  wait $! 2>/dev/null || true
done
"$program" data prepare "$work/photos" --out s3://trainwright/resumed --size 32 --shards 8 >/dev/null || true
same_as_whole resumed
echo "$kills kills, then the same bytes"

echo "== executors of Spark put shards into the bucket"
if python=$(bash scripts/spark_python.sh); then
  # shellcheck disable=SC2016  # the cluster's address is known inside alone
  "$python" bench/spark/cluster.py 1 sh -c '"$@" --master "$SPARK_MASTER"' sh \
    "$program" data prepare "$work/photos" --out s3://trainwright/spread --size 32 --shards 8 \
    --engine spark --conf spark.executor.memory=512m
  same_as_whole spread
  echo "the same bytes"
else
  echo "left out: there is no Spark here"
fi

echo "== training from a bucket"
"$program" data prepare "$work/photos" --out s3://trainwright/parts --size 32 --shards 2 --split 0.6,0,0.4
"$program" train --data s3://trainwright/parts --epochs 2 --batch 4

echo "== damage, and the speed test"
"$program" data verify s3://trainwright/shards
"$program" data inspect s3://trainwright/shards --show 1
"$venv/bin/python" - "$work/photos" <<'PY'
import boto3, os, sys
client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")
key = client.list_objects_v2(Bucket="trainwright", Prefix="shards/")["Contents"]
shard = next(o["Key"] for o in key if o["Key"].endswith(".tfrecord"))
body = bytearray(client.get_object(Bucket="trainwright", Key=shard)["Body"].read())
body[100] ^= 1
client.put_object(Bucket="trainwright", Key="damaged/x.tfrecord", Body=bytes(body))
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        client.upload_file(os.path.join(folder, name), "trainwright", "photos/" + name)
PY
if "$program" data verify s3://trainwright/damaged; then echo "damage was not found"; exit 1; fi
"$program" data speedtest s3://trainwright/photos --records s3://trainwright/shards --size 32 \
  --batch-size 2,4 --batch-number 3,6 --repetitions 2
echo "object stores: everything held"
