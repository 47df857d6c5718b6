#!/usr/bin/env bash
# Writes docs/reference from what the program says of itself: --help, the schema of study files, and
# the stubs of the Python package where they are there. Words go to cargo, such as --release.
set -euo pipefail
cd "$(dirname "$0")/.."
TRAINWRIGHT_PRINT_REFERENCE=1 cargo test "$@" -p trainwright-cli --test it contracts::reference
