#!/usr/bin/env bash
# Every cloud method on recorded runs: tables of docs/concepts, as JSON.
# run.sh [MINUTES] goes on where an earlier call stopped; bench/cloud/runs holds the parts.
# TRAINWRIGHT_TEST_DATA names the folder that holds cloud/scout_single.csv and cloud/scout_multi.csv.
set -euo pipefail
cd "$(dirname "$0")/../.."
data="${TRAINWRIGHT_TEST_DATA:-../shared/data}/cloud"
if [ ! -f "$data/scout_single.csv" ]; then
  echo "SKIPPED: $data/scout_single.csv is not there; set TRAINWRIGHT_TEST_DATA" >&2
  exit 0
fi
cargo build --release
python3 bench/cloud/measure.py target/release/trainwright "$data" bench/cloud "${SEEDS:-3}" "$@"
