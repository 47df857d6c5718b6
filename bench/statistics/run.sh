#!/usr/bin/env bash
# Regression, analysis of variance and Shapiro-Wilk: Trainwright against statsmodels and scipy.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release
cargo build --release -p trainwright-analysis --example statistics_speed
if [ ! -x bench/.venv/bin/python ]; then
  python3 -m venv bench/.venv
fi
bench/.venv/bin/python -m pip install --quiet statsmodels==0.15.0 scipy==1.17.1 pandas patsy
bench/.venv/bin/python bench/statistics/compare.py target/release bench/statistics/result.json
