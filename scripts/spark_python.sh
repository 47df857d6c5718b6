#!/usr/bin/env bash
# Prints the path of a Python that has pyspark: the one at hand, or one of a virtual environment that
# is made in target/. Fails where there is no Java, or pyspark cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v java >/dev/null || { echo "no Java: install openjdk-17-jre-headless" >&2; exit 1; }
for python in "${PYSPARK_PYTHON:-}" python3 "$PWD/target/spark-venv/bin/python"; do
  if [ -n "$python" ] && "$python" -c 'import pyspark' 2>/dev/null; then command -v "$python"; exit; fi
done
python3 -m venv target/spark-venv >&2
target/spark-venv/bin/pip install --quiet --disable-pip-version-check pyspark==4.3.0 >&2
echo "$PWD/target/spark-venv/bin/python"
