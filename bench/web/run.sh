#!/usr/bin/env bash
# Live pages under load, and the first page beside optuna-dashboard: bench/web/run.sh [--smoke]
# Needs Python; optuna and optuna-dashboard come from PyPI into bench/.venv. PROGRAM names ours.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=${BENCH_VENV:-bench/.venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import optuna, optuna_dashboard' 2>/dev/null ||
  "$venv/bin/pip" install --quiet optuna optuna-dashboard
program=${PROGRAM:-target/release/trainwright}
[ -n "${PROGRAM:-}" ] || cargo build --release --quiet
exec "$venv/bin/python" bench/web/measure.py "$program" "$@"
