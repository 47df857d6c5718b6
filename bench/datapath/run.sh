#!/usr/bin/env bash
# The data path against tf.data, torchvision, webdataset and DALI, interleaved, on the flowers.
# bench/datapath/run.sh [SECONDS_A_MEASUREMENT] [ROUNDS]
# FEATURES=turbojpeg measures the build with libjpeg-turbo and writes result-turbojpeg.json.
# Installs the peers into bench/.venv unless PYTHON names an interpreter that has them.
set -euo pipefail
cd "$(dirname "$0")/../.."
flowers=${TRAINWRIGHT_TEST_DATA:-../shared/data}/flowers
python=${PYTHON:-bench/.venv/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv bench/.venv
  "$python" -c 'import tensorflow, torchvision, webdataset, nvidia.dali' 2>/dev/null || {
    bench/.venv/bin/pip install --quiet tensorflow-cpu webdataset nvidia-dali-cuda120
    bench/.venv/bin/pip install --quiet torch torchvision --index-url https://download.pytorch.org/whl/cpu ||
      bench/.venv/bin/pip install --quiet torch torchvision
  }
fi
features=${FEATURES:-}
cargo build --release --quiet ${features:+--features "$features"}
cargo build --release --quiet -p trainwright-records --example datapath ${features:+--features "$features"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" bench/datapath/compare.py target/release/examples/datapath target/release/trainwright \
  "$flowers" "$work" "bench/datapath/result${features:+-$features}.json" "${1:-2}" "${2:-3}"
