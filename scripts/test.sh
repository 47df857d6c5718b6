#!/usr/bin/env bash
# Everything that must pass: format, lints, tests of all crates, the Python package, and the report in
# a real browser.
# Installs what it needs where it can; says loudly what it had to leave out.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

find_chromium() {
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then command -v "$name"; return; fi
  done
}

install_packages() {
  command -v apt-get >/dev/null || return 1
  as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

step() { printf '\n== %s (%dm%02ds)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

step "format"
cargo fmt --all --check

step "lints"
bash scripts/lint.sh --quiet

step "full Fashion-MNIST for the accuracy test"
if [ ! -d /usr/share/datasets/fashion-mnist ]; then
  install_packages dataset-fashion-mnist || echo "SKIPPED: dataset-fashion-mnist cannot be installed here; tests that need the full set say so"
fi

step "Spark for its smoke tests"
command -v java >/dev/null || install_packages openjdk-17-jre-headless || true
if python=$(bash scripts/spark_python.sh); then
  export PYSPARK_PYTHON="$python"
else
  echo "SKIPPED: Java or pyspark cannot be installed here; tests on a Spark cluster say so"
fi

step "tests of all crates"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Tests that lack their data or a tool pass with a line that says SKIPPED; it must not be hidden.
# One that hangs is ended; the last line of the log names those that were running.
timeout --kill-after=60 3000 cargo test --release --workspace -- --show-output 2>&1 | tee "$work/tests.log"
grep SKIPPED "$work/tests.log" || echo "no test was skipped"

step "Python package"
# The tests have built the program; the module is compiled in the same folder and profile.
bash scripts/python_tests.sh

step "report in a browser"
[ -n "$(find_chromium)" ] || install_packages chromium || true
command -v npm >/dev/null || install_packages nodejs npm || true
chromium=$(find_chromium)
if [ -z "$chromium" ] || ! command -v npm >/dev/null; then
  echo "SKIPPED: the browser tests need Chromium and npm, and they cannot be installed here"
  exit 0
fi
# The tests have built the program.
target/release/trainwright run examples/quickstart/study.toml --store "$work/trainwright.db" --report "$work/report.html"
(cd crates/report/browser && npm ci --silent --no-audit --no-fund)
CHROMIUM="$chromium" node crates/report/browser/check.mjs "$work/report.html" "$work"
target/release/trainwright queue mmc --arrival 40/h --service-time 8m --target-response 10m --report "$work/queue.html"
CHROMIUM="$chromium" node crates/report/browser/check.mjs "$work/queue.html" "$work/queue"
target/release/trainwright load examples/quickstart/study.toml --store "$work/trainwright.db" --rate 20/s --jobs 40 --report "$work/load.html"
CHROMIUM="$chromium" node crates/report/browser/check.mjs "$work/load.html" "$work/load"
target/release/trainwright train --strategy mirrored --replicas 2 --report "$work/training.html"
CHROMIUM="$chromium" node crates/report/browser/check.mjs "$work/training.html" "$work/training"
target/release/trainwright plan alexnet --machine 4-p100 --proposals 500 --report "$work/plan.html"
CHROMIUM="$chromium" node crates/report/browser/check.mjs "$work/plan.html" "$work/plan"

step "live pages in a browser"
(cd crates/web/browser && npm ci --silent --no-audit --no-fund)
# Frames are judged on a machine that does nothing else; here only a page that hangs fails.
CHROMIUM="$chromium" FRAME_LIMIT_MS="${FRAME_LIMIT_MS:-400}" timeout 300 node crates/web/browser/check.mjs target/release/trainwright "$work/live"
