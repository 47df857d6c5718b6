#!/usr/bin/env bash
# Kills, stops and cuts off ranks of trainings at random moments, and checks that each training ends
# as it promises. Usage: bench/chaos/ranks.sh [DISTURBANCES] [SEED]
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release --quiet -p trainwright-cli
exec python3 bench/chaos/ranks.py target/release/trainwright "${1:-50}" "${2:-1}"
