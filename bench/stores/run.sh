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
TRAINWRIGHT_TEST_BUCKETS=s3://trainwright/contract cargo test --release -p trainwright-records \
  --features object-stores object_stores_keep_the_contract
