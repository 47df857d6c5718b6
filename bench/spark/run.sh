#!/usr/bin/env bash
# What Spark costs beyond the work, and `data prepare` on Spark against PySpark doing the same in
# Python with PIL or tf, on a standalone cluster of this machine. Writes result.json.
#   bash bench/spark/run.sh PICTURES [--rounds N] [--part overheads|preparation|workers] [--smoke]
#     [--turbojpeg PROGRAM]
# PICTURES is a folder of JPEG files, a folder a class; PROGRAM is one built with the feature
# turbojpeg, measured beside. Needs Java 17; pyspark, Pillow and TensorFlow are installed from PyPI
# into bench/.venv-spark.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${BENCH_SPARK_VENV:-bench/.venv-spark}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import pyspark, PIL, tensorflow' 2>/dev/null ||
  "$venv/bin/pip" install --quiet pyspark==4.3.0 pillow tensorflow
cargo build --release
bench=$(cargo bench -p trainwright-engine --bench spark --no-run --message-format=json 2>/dev/null |
  python3 -c 'import json, sys
for line in sys.stdin:
    own = json.loads(line)
    if own.get("executable") and own["target"]["name"] == "spark": print(own["executable"])' | tail -1)
python=$(cd "$(dirname "$venv/bin/python")" && pwd)/python
PYSPARK_PYTHON="$python" exec "$venv/bin/python" bench/spark/compare.py "$bench" "$@"
