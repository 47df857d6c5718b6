#!/usr/bin/env bash
# Time that a trial costs beyond its own process: Trainwright against Optuna with SQLite.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release
if [ ! -x bench/.venv/bin/python ]; then
  python3 -m venv bench/.venv
fi
bench/.venv/bin/python -m pip install --quiet optuna==5.0.0
bench/.venv/bin/python bench/bookkeeping/compare.py target/release/trainwright bench/bookkeeping/result.json
