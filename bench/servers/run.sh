#!/usr/bin/env bash
# Asynchronous parameter servers: sparse logistic regression, Trainwright against TensorFlow's
# ParameterServerStrategy, interleaved.
# bench/servers/run.sh [--rounds N] [--smoke] [--only SET:BATCH]; 5 rounds unless told. --smoke shows that everything
# runs and learns alike; its result goes to target/bench-smoke/servers.json.
# Installs TensorFlow into bench/.venv-servers unless PYTHON names an interpreter that has it.
# BIN names a program to use instead of building one; HOLD a command that reserves the machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-bench/.venv-servers/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-servers
  "$python" -c 'import tensorflow' 2>/dev/null || "$python" -m pip install --quiet tensorflow-cpu
fi
program=${BIN:-target/release/trainwright}
[ -n "${BIN:-}" ] || cargo build --release --quiet -p trainwright-cli
mkdir -p target/bench-servers target/bench-smoke
result=bench/servers/result.json
if [[ " $* " == *" --smoke "* ]]; then result=target/bench-smoke/servers.json; fi
${HOLD:-} "$python" bench/servers/compare.py "$program" target/bench-servers "$result" "$@"
