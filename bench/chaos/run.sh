#!/usr/bin/env bash
# Kills runners, trials, their children and `data prepare` at random moments, and checks that
# nothing is lost, repeated or left behind. Usage: bench/chaos/run.sh [KILLS] [SEED]
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release --quiet -p trainwright-cli
exec python3 bench/chaos/chaos.py target/release/trainwright "${1:-500}" "${2:-1}"
