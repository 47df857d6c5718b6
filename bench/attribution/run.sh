#!/usr/bin/env bash
# Real trainings with one fault each: does the program name what binds? A check, no timing.
# Needs root for network namespaces. Usage: bench/attribution/run.sh [FAULT...]
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release --quiet -p trainwright-cli
exec python3 bench/attribution/faults.py target/release/trainwright "$@"
