#!/usr/bin/env bash
# Makes the virtual environment of the Python tests, target/python-venv, and prints its interpreter.
# Ends with 1 where Python or its packages cannot be had. Arguments are further packages.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/python-venv
command -v python3 >/dev/null || exit 1
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || exit 1
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" >&2 || exit 1
"$venv/bin/python" -m pip install -q maturin==1.16.* pytest mypy numpy pandas polars pyarrow scikit-learn "$@" >&2 || exit 1
echo "$PWD/$venv/bin/python"
