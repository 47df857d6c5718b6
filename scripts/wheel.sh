#!/usr/bin/env bash
# Builds a manylinux wheel in target/wheels and tries it in a fresh virtual environment: the
# command, the import, and the quick start through Python.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(bash scripts/python_venv.sh) || { echo "a wheel needs Python 3.10 or newer, and maturin"; exit 3; }
export PATH="$(dirname "$python"):$PATH"
"$python" scripts/build_backend.py release
cargo build --release --package trainwright-python
# The oldest C library that both the program and the module run with names the platform.
newest=$(for file in target/release/trainwright target/release/lib_native.so; do
  grep -ao 'GLIBC_2\.[0-9]*' "$file"
done | sed 's/GLIBC_2\.//' | sort -n | tail -1)
rm -rf target/wheels
maturin build --release --compatibility "manylinux_2_$newest" --out target/wheels
wheel=$(ls target/wheels/trainwright-*.whl)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "$wheel"
cd "$work"
venv/bin/trainwright --version
cp "$OLDPWD/examples/quickstart/study.toml" .
venv/bin/python - <<'PYTHON'
import trainwright as tw

study = tw.Study.load("study.toml")
result = study.run()
assert result.end == "complete" and result.trials["finished"] == result.trials["total"], result
print(f"{tw.__version__}: {result.trials['total']} trials, best {result.analysis.best.configuration}")
PYTHON
echo "$OLDPWD/$wheel"
