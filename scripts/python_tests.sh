#!/usr/bin/env bash
# Builds the wheel with the program in it, installs it in target/python-venv, and runs the tests of
# the Python package, its doctests, the guide, and the check of its type stubs.
# With --full also those that need torch and keras, which are large.
set -euo pipefail
cd "$(dirname "$0")/.."
more=()
[ "${1:-}" = --full ] && more=(torch keras)
if ! python=$(bash scripts/python_venv.sh "${more[@]}"); then
  echo "SKIPPED: the Python package needs Python 3.10 or newer and its packages, and they cannot be installed here"
  exit 0
fi
export PATH="$(dirname "$python"):$PATH"
unset PYTHONPATH TRAINWRIGHT_PROGRAM
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
"$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$wheels" ${TRAINWRIGHT_BUILD_ARGS:+-C build-args="$TRAINWRIGHT_BUILD_ARGS"}
"$python" -m pip install -q --force-reinstall --no-deps "$wheels"/trainwright-*.whl
package=$("$python" -c 'import os, trainwright; print(os.path.dirname(trainwright.__file__))')
"$python" -m pytest python/tests -p no:cacheprovider
modules=(--ignore="$package/__main__.py")
"$python" -c 'import torch' 2>/dev/null || { modules+=(--ignore="$package/pytorch.py"); echo "SKIPPED: the PyTorch part needs torch"; }
"$python" -c 'import keras' 2>/dev/null || { modules+=(--ignore="$package/keras.py"); echo "SKIPPED: the Keras part needs keras"; }
(cd "$wheels" && "$python" -m pytest -q -p no:cacheprovider --doctest-modules "$package" "${modules[@]}")
"$python" -m pytest -q -p no:cacheprovider --doctest-glob='*.md' docs/guide/python.md
"$python" -m mypy
"$python" -m mypy.stubtest trainwright._native
