#!/usr/bin/env bash
# The data path against tf.data, torchvision, webdataset and DALI, interleaved, on the flowers.
# bench/datapath/run.sh [SECONDS_A_MEASUREMENT] [ROUNDS]
# Both builds of ours take part: the default one and that with the cargo feature `turbojpeg`
# (which needs cmake and nasm). Needs 1 GB of disk.
# PYTHON names an interpreter that has the peers; without it they go into bench/.venv.
# WRAP is put before each round of a part (under a minute), BUILD before each build: such as a
# command that keeps others off the processors.
set -euo pipefail
cd "$(dirname "$0")/../.."
flowers=${TRAINWRIGHT_TEST_DATA:-../shared/data}/flowers
python=${PYTHON:-bench/.venv/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv
  "$python" -c 'import tensorflow, torchvision, webdataset, nvidia.dali' 2>/dev/null || {
    bench/.venv/bin/pip install --quiet tensorflow-cpu webdataset nvidia-dali-cuda120 torch torchvision
  }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for build in turbojpeg default; do
  features=$([ "$build" = default ] || echo "--features $build")
  # shellcheck disable=SC2086
  ${BUILD:-} cargo build --release --quiet $features
  # shellcheck disable=SC2086
  ${BUILD:-} cargo build --release --quiet -p trainwright-records --example datapath $features
  mkdir "$work/$build"
  cp target/release/trainwright target/release/examples/datapath "$work/$build"
done
compare() { "$python" bench/datapath/compare.py "$@"; }
compare setup "$work" "$flowers"
for _ in $(seq "${2:-3}"); do
  for part in files records prepare scan write; do
    ${WRAP:-} "$python" bench/datapath/compare.py "$part" "$work" "$flowers" "${1:-1.5}"
  done
done
compare report "$work" bench/datapath/result.json
