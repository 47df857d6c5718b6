#!/usr/bin/env bash
# Trainwright against the real TensorFlow and TensorBoard: each reads what the other wrote.
# bench/interop/run.sh [PICTURE_FOLDER]   (default: the flowers of the shared test data)
# Installs tensorflow-cpu into bench/.venv unless PYTHON names an interpreter that has it.
set -euo pipefail
cd "$(dirname "$0")/../.."
pictures=${1:-${TRAINWRIGHT_TEST_DATA:-../shared/data}/flowers/original}
python=${PYTHON:-bench/.venv/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv
  "$python" -c 'import tensorflow, tensorboard' 2>/dev/null || bench/.venv/bin/pip install --quiet tensorflow-cpu tensorboard
fi
cargo build --release --quiet
cargo build --release --quiet -p trainwright-records --examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" bench/interop/check.py target/release/trainwright target/release/examples/pack_records \
  target/release/examples/write_events "$pictures" "$work" bench/interop/result.json
