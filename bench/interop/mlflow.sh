#!/usr/bin/env bash
# Trainwright against the real MLflow: client, autologging of scikit-learn, export and import.
# Installs mlflow and scikit-learn into bench/.venv-mlflow unless PYTHON names an interpreter that
# has them; PROGRAM may name a built program.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-bench/.venv-mlflow/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-mlflow
  "$python" -c 'import mlflow, sklearn' 2>/dev/null || "$python" -m pip install --quiet mlflow scikit-learn
fi
if [ -z "${PROGRAM:-}" ]; then
  cargo build --release --quiet
  PROGRAM=target/release/trainwright
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" bench/interop/check_mlflow.py "$(realpath "$PROGRAM")" "$work"
MLFLOW_PYTHON=$(realpath -s "$python") cargo test --release -p trainwright-cli --test it mlflow
