#!/usr/bin/env bash
# Runs the tests of the Python package, its doctests, the guide, and the check of its type stubs, on
# the module and the program that the tests of all crates have built.
# With --full on a wheel that is built and installed in target/python-venv, and with the tests that
# need torch, keras and lightning, which are large.
set -euo pipefail
cd "$(dirname "$0")/.."
more=()
[ "${1:-}" = --full ] && more=(torch keras lightning)
if ! python=$(bash scripts/python_venv.sh "${more[@]}"); then
  echo "SKIPPED: the Python package needs Python 3.10 or newer and its packages, and they cannot be installed here"
  exit 0
fi
target=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$(dirname "$python"):$PATH"
unset PYTHONPATH TRAINWRIGHT_PROGRAM
# By itself Keras asks for TensorFlow; torch is what these tests install.
export KERAS_BACKEND="${KERAS_BACKEND:-torch}"
if [ "${1:-}" = --full ]; then
  "$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$work"
  "$python" -m pip install -q --force-reinstall --no-deps "$work"/trainwright-*.whl
else
  # With the features of the tests, so that nothing else compiles again.
  cargo build --release -q --workspace --lib --bins --tests
  cp -r python/trainwright "$work/"
  cp "$target/release/lib_native.so" "$work/trainwright/_native.abi3.so"
  export PYTHONPATH="$work" TRAINWRIGHT_PROGRAM="$target/release/trainwright" PATH="$target/release:$PATH"
fi
package=$(cd "$work" && "$python" -c 'import os, trainwright; print(os.path.dirname(trainwright.__file__))')
"$python" -m pytest python/tests -p no:cacheprovider
modules=(--ignore="$package/__main__.py")
"$python" -c 'import torch' 2>/dev/null || { modules+=(--ignore="$package/pytorch.py"); echo "SKIPPED: the PyTorch part needs torch"; }
"$python" -c 'import keras' 2>/dev/null || { modules+=(--ignore="$package/keras.py"); echo "SKIPPED: the Keras part needs keras"; }
(cd "$work" && "$python" -m pytest -q -p no:cacheprovider --doctest-modules "$package" "${modules[@]}")
"$python" -m pytest -q -p no:cacheprovider --doctest-glob='*.md' docs/guide/python.md
"$python" -m mypy
"$python" -m mypy.stubtest trainwright._native
