#!/usr/bin/env bash
# All-reduce: threads against copying, processes over TCP against gloo and Open MPI, interleaved.
# bench/allreduce/run.sh [--rounds N] [--smoke]; 9 rounds unless told. --smoke shows that everything
# runs and adds up; its result goes to target/bench-smoke/allreduce.json.
# Needs mpicc and mpirun (Debian: openmpi-bin libopenmpi-dev). Installs PyTorch into
# bench/.venv-allreduce unless PYTHON names an interpreter that has it.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-bench/.venv-allreduce/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv-allreduce
  "$python" -c 'import torch, numpy' 2>/dev/null ||
    "$python" -m pip install --quiet torch numpy
fi
command -v mpicc >/dev/null || { echo "install Open MPI first: apt-get install openmpi-bin libopenmpi-dev" >&2; exit 1; }
cargo build --release --quiet -p trainwright-comm --examples
mkdir -p target/bench-allreduce target/bench-smoke
mpicc -O3 -o target/bench-allreduce/peer_mpi bench/allreduce/peer_mpi.c
result=bench/allreduce/result.json
if [[ " $* " == *" --smoke "* ]]; then result=target/bench-smoke/allreduce.json; fi
"$python" bench/allreduce/compare.py target/release/examples/all_reduce_speed target/bench-allreduce/peer_mpi "$result" "$@"
