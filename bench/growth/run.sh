#!/usr/bin/env bash
# How the times of `check` and `import` grow with the size of a study: at n, 2n and 4n.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release
python3 bench/growth/measure.py target/release/trainwright bench/growth/result.json
