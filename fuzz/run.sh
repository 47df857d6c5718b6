#!/usr/bin/env bash
# Runs every fuzz target for some seconds each (default 20): fuzz/run.sh [SECONDS]
# Needs nightly Rust and cargo-fuzz. New inputs are kept in fuzz/corpus, crashes in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-20}
if ! command -v cargo-fuzz >/dev/null || ! rustup toolchain list | grep -q nightly; then
  echo "SKIPPED: fuzzing needs nightly Rust and cargo-fuzz (cargo install cargo-fuzz)"
  exit 0
fi
for target in fuzz_targets/*.rs; do
  name=$(basename "$target" .rs)
  echo "== $name"
  cargo +nightly fuzz run --fuzz-dir . "$name" -- -max_total_time="$seconds" -max_len=65536
done
