#!/usr/bin/env bash
# Replicas against one device and against PyTorch's DistributedDataParallel with gloo, interleaved.
# bench/strategies/run.sh [--rounds N] [--smoke] [--more]; 7 rounds unless told. --smoke shows that everything
# runs; its result goes to target/bench-smoke/strategies.json.
# bench/strategies/run.sh many [RANKS...] counts what ranks send among 8, 16 and 32 in network
# namespaces (needs root), without PyTorch.
# Installs PyTorch into bench/.venv-strategies unless PYTHON names an interpreter that has it.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --quiet -p trainwright-cli
if [ "${1:-}" = many ]; then
  shift
  exec python3 bench/strategies/many_ranks.py target/release/trainwright bench/strategies/many_ranks.json "$@"
fi
python=${PYTHON:-bench/.venv-strategies/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-strategies
  "$python" -c 'import torch, numpy' 2>/dev/null ||
    "$python" -m pip install --quiet torch numpy
fi
mkdir -p target/bench-smoke
result=bench/strategies/result.json
if [[ " $* " == *" --smoke "* ]]; then result=target/bench-smoke/strategies.json; fi
exec "$python" bench/strategies/compare.py target/release/trainwright "$result" "$@"
