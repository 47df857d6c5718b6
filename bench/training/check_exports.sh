#!/usr/bin/env bash
# Exported networks against onnxruntime and PyTorch, and torchvision's weights against ours.
# Installs them into bench/.venv unless PYTHON names an interpreter that has them.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-bench/.venv/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv
  "$python" -m pip install --quiet torch torchvision safetensors onnx onnxruntime pillow
fi
cargo build --release --quiet
"$python" bench/training/check_exports.py target/release/trainwright bench/training/exports.json
