#!/usr/bin/env bash
# Accuracy of the field reports' networks, five seeds each; names of workloads choose some.
# Data: DATA (default ../shared/data) with mnist, sparse and flowers; fashion-mnist as installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release
python3 bench/training/accuracy.py target/release/trainwright \
  "${DATA:-../shared/data}" bench/training/accuracy.json "$@"
