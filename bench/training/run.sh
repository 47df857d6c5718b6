#!/usr/bin/env bash
# Training speed against PyTorch, Keras, JAX, scikit-learn and Vowpal Wabbit, interleaved.
# bench/training/run.sh [--rounds N] [--smoke] [WORKLOAD...]; 7 rounds a trainer unless told.
# --smoke shows in short rounds that every variant runs and learns as ours does; its result goes to
# target/bench-smoke/training.json. Needs about 16 GB of memory, g++ for torch.compile and the package
# dataset-fashion-mnist of Debian.
# Installs the peers into bench/.venv-training unless PYTHON names an interpreter that has them.
# DATA names a folder to keep the data in, ONLY the peers to run (beginnings of their names), THREADS
# the numbers of threads ("1 2").
set -euo pipefail
cd "$(dirname "$0")/../.."
shared=${TRAINWRIGHT_TEST_DATA:-../shared/data}
python=${PYTHON:-bench/.venv-training/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-training
  "$python" -c 'import torch, torchvision, tensorflow, jax, sklearn, vowpalwabbit' 2>/dev/null || {
    "$python" -m pip install --quiet tensorflow-cpu jax scikit-learn vowpalwabbit
    "$python" -m pip install --quiet torch torchvision
  }
fi
cargo build --release --quiet
cargo build --release --quiet -p trainwright-train --example training_speed
cargo build --release --quiet -p trainwright-networks --example product_speed
result=bench/training/result.json hashed=400000
if [[ " $* " == *" --smoke "* ]]; then
  result=target/bench-smoke/training.json hashed=40000
  mkdir -p target/bench-smoke
  rm -f "$result"
fi
data=${DATA:-$(mktemp -d)}
[ -n "${DATA:-}" ] || trap 'rm -rf "$data"' EXIT
export A9A=$shared/sparse/a9a MNIST=$shared/mnist
if [ ! -e "$data/done-$hashed" ]; then
  # What another size has left, Vowpal Wabbit's caches too.
  rm -rf "$data"/done-* "$data"/*.cache "$data"/flowers-64 "$data"/flowers-128
  "$python" bench/training/data.py "$data" target/release/trainwright "$shared/flowers/small192" \
    "$A9A" "$MNIST" "$hashed"
  touch "$data/done-$hashed"
fi
"$python" bench/training/compare.py target/release "$data" "$result" "$@"
