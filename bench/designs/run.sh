#!/usr/bin/env bash
# Time to find a two-level fraction of 10 factors in 64 runs: Trainwright against pyDOE3.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release
if [ ! -x bench/.venv/bin/python ]; then
  python3 -m venv bench/.venv
fi
bench/.venv/bin/python -m pip install --quiet pyDOE3==1.6.2
bench/.venv/bin/python bench/designs/compare.py target/release/trainwright bench/designs/result.json "${TIMEOUT_S:-300}"
