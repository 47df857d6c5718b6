#!/usr/bin/env bash
# Clippy on everything; further words go to cargo. Warnings are errors on the Rust that Cargo.toml
# names as `rust-version`, which is what CI uses; a newer one knows new warnings, which are shown
# and fail nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

named=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
present=$(rustc --version | cut -d ' ' -f 2)
case "$present" in
  "$named" | "$named".*) strict=(-- -D warnings) ;;
  *) echo "Rust $present is not the $named that Cargo.toml names: warnings are shown, and are no errors"; strict=() ;;
esac
cargo clippy --release --workspace --all-targets "$@" "${strict[@]}"
