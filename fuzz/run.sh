#!/usr/bin/env bash
# Runs every fuzz target for some seconds each (default 20): fuzz/run.sh [SECONDS] [TARGET...]
# Needs stable Rust and a C++ compiler, which builds libFuzzer. Without a sanitizer: our own code
# is safe Rust with all its checks on. Inputs that reach new code are added to fuzz/corpus when
# KEEP is set; crashes are kept in fuzz/artifacts and end the run.
# BUILD is put before the build, RUN before each run.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-20}
shift || true
host=$(rustc -vV | sed -n 's/^host: //p')
# The coverage that libFuzzer follows. With --target these flags leave build scripts alone.
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
  flags+=" -Cllvm-args=-sanitizer-coverage-$option"
done
RUSTFLAGS=$flags ${BUILD:-} cargo build --release --quiet --target "$host"
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || for path in fuzz_targets/*.rs; do targets+=("$(basename "$path" .rs)"); done
mkdir -p artifacts
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
for target in "${targets[@]}"; do
  echo "== $target"
  mkdir -p "$found/$target"
  ${RUN:-} "target/$host/release/$target" "$found/$target" "corpus/$target" \
    -artifact_prefix="artifacts/$target-" -max_total_time="$seconds" -max_len=65536 \
    -rss_limit_mb=2048 -timeout=20 -verbosity=0 -print_final_stats=1 2>&1 |
    grep -E 'stat::number_of_executed_units|ERROR|panicked|artifact|Test unit' || true
  # grep hides how the fuzzer ended: a kept input tells.
  if compgen -G "artifacts/$target-*" >/dev/null; then
    echo "$target: see fuzz/artifacts" && exit 1
  fi
  if [ -n "${KEEP:-}" ]; then
    "target/$host/release/$target" -merge=1 -verbosity=0 "corpus/$target" "$found/$target" 2>/dev/null
  fi
done
echo "fuzzing: nothing found"
