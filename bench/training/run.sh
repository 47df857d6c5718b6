#!/usr/bin/env bash
# Training speed against PyTorch, TensorFlow/Keras, JAX, scikit-learn and Vowpal Wabbit, interleaved.
# bench/training/run.sh [WORKLOAD...]; ROUNDS=5 rounds a trainer. Needs about 8 GB of memory, g++ for
# torch.compile and the package dataset-fashion-mnist of Debian.
# Installs the peers into bench/.venv-training unless PYTHON names an interpreter that has them.
# DATA names a folder to keep the data in, ONLY the peers to run (beginnings of their names).
set -euo pipefail
cd "$(dirname "$0")/../.."
shared=${TRAINWRIGHT_TEST_DATA:-../shared/data}
python=${PYTHON:-bench/.venv-training/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-training
  "$python" -c 'import torch, torchvision, tensorflow, jax, sklearn, vowpalwabbit' 2>/dev/null || {
    "$python" -m pip install --quiet tensorflow-cpu jax scikit-learn vowpalwabbit
    "$python" -m pip install --quiet torch torchvision --index-url https://download.pytorch.org/whl/cpu ||
      "$python" -m pip install --quiet torch torchvision
  }
fi
cargo build --release --quiet
cargo build --release --quiet -p trainwright-train --example training_speed
cargo build --release --quiet -p trainwright-networks --example product_speed
data=${DATA:-$(mktemp -d)}
[ -n "${DATA:-}" ] || trap 'rm -rf "$data"' EXIT
export A9A=$shared/sparse/a9a MNIST=$shared/mnist
if [ ! -e "$data/done" ]; then
  "$python" bench/training/data.py "$data" target/release/trainwright "$shared/flowers/small192" "$A9A" "$MNIST"
  touch "$data/done"
fi
"$python" bench/training/compare.py target/release "$data" bench/training/result.json "$@"
