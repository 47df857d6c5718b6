#!/usr/bin/env bash
# The data path against tf.data, torchvision, webdataset and DALI, interleaved, on the flowers.
# bench/datapath/run.sh [--rounds N] [--seconds S] [--smoke]; 3 rounds of 1.5 s a measurement unless told.
# Both builds of ours take part: the default one and that with the cargo feature `turbojpeg`
# (which needs cmake and nasm). Needs 1 GB of disk.
# --smoke shows in one short round of the default build that every variant runs and makes the same
# pictures; its result goes to target/bench-smoke/datapath.json.
# PYTHON names an interpreter that has the peers; without it they go into bench/.venv.
# WRAP is put before each round of a part (under a minute), BUILD before each build: such as a
# command that keeps others off the processors.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=3 seconds=1.5 builds="turbojpeg default" result=bench/datapath/result.json
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --smoke) rounds=1 seconds=0.1 builds=default result=target/bench-smoke/datapath.json; shift ;;
    *) echo "no option $1" >&2; exit 2 ;;
  esac
done
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
for build in $builds; do
  features=$([ "$build" = default ] || echo "--features $build")
  # shellcheck disable=SC2086
  ${BUILD:-} cargo build --release --quiet $features
  # shellcheck disable=SC2086
  ${BUILD:-} cargo build --release --quiet -p trainwright-records --example datapath $features
  mkdir "$work/$build"
  cp target/release/trainwright target/release/examples/datapath "$work/$build"
done
mkdir -p "$(dirname "$result")"
compare() { "$python" bench/datapath/compare.py "$@"; }
compare setup "$work" "$flowers"
compare check "$work" "$flowers"
for _ in $(seq "$rounds"); do
  for part in files records prepare scan write; do
    ${WRAP:-} "$python" bench/datapath/compare.py "$part" "$work" "$flowers" "$seconds"
  done
done
compare report "$work" "$result"
