#!/bin/sh
# Runs job.py with a Python that has pyspark: the one that is named, the one at hand, or that of
# `trainwright engine setup spark`.
own="${XDG_DATA_HOME:-$HOME/.local/share}/trainwright/spark/bin/python"
for python in ${PYSPARK_PYTHON:-python3} "$own"; do
  if "$python" -c 'import pyspark' 2>/dev/null; then
    PYSPARK_PYTHON="$python" exec "$python" job.py "$@"
  fi
done
echo "no pyspark: run \`trainwright engine setup spark\`" >&2
exit 3
