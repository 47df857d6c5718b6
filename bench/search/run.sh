#!/usr/bin/env bash
# Best-so-far curves and suggestion times: Trainwright's searchers against Optuna, HEBO and others.
# run.sh [--seeds N] [--trials N] [PROBLEM...]: runs what is missing in bench/search/runs and then
# summarises all in result.json. Installs the peers into bench/.venv-search unless PYTHON names an
# interpreter that has them; peers that do not install are left out and named.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release -p trainwright-search --example suggestions
cargo build --release
python=${PYTHON:-bench/.venv-search/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-search
  "$python" -m pip install --quiet optuna scikit-learn scikit-optimize scipy
  "$python" -m pip install --quiet torch || true
  # HEBO pins old versions of what it needs; newer ones do as well.
  "$python" -m pip install --quiet pandas gpytorch pymoo catboost disjoint-set || true
  "$python" -m pip install --quiet --no-deps HEBO || true
fi
"$python" bench/search/times.py target/release bench/search
"$python" bench/search/compare.py target/release bench/search "$@"
