#!/usr/bin/env bash
# Reads and writes shards in real object-store servers on this machine: moto for s3://, and
# gcp-storage-emulator for gs:// where it serves. Both come from PyPI into bench/.venv.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${BENCH_VENV:-bench/.venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import moto, boto3, gcp_storage_emulator' 2>/dev/null ||
  "$venv/bin/pip" install --quiet 'moto[server]' gcp-storage-emulator

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

s3_port=$(free_port)
"$venv/bin/moto_server" -H 127.0.0.1 -p "$s3_port" >"$work/moto.log" 2>&1 &
servers+=($!)
gs_port=$(free_port)
"$venv/bin/gcp-storage-emulator" start --host=127.0.0.1 --port="$gs_port" --in-memory \
  --default-bucket=trainwright >"$work/gcs.log" 2>&1 &
servers+=($!)
answers "$s3_port" && answers "$gs_port" || { cat "$work"/*.log; exit 1; }

export AWS_ENDPOINT_URL="http://127.0.0.1:$s3_port" AWS_ACCESS_KEY_ID=test \
  AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1 STORAGE_EMULATOR_HOST="127.0.0.1:$gs_port"
"$venv/bin/python" - <<'PY'
import boto3, os
boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1").create_bucket(Bucket="trainwright")
PY

echo "== buckets: list, read, ranges, write, parts"
for folder in ${STORES:-s3://trainwright/contract gs://trainwright/contract}; do
  TRAINWRIGHT_TEST_BUCKETS=$folder cargo test --release -p trainwright-records --features object-stores \
    object_stores_keep_the_contract
  echo "$folder: holds"
done
