#!/usr/bin/env bash
# Builds the program in a clean Debian: packages, Rust, the program, its licences.
#
#     container_build.sh SOURCE OUT
set -euo pipefail
source=$1 out=$2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends ca-certificates curl gcc libc6-dev python3 xz-utils > /dev/null
named=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$source/Cargo.toml")
if ! command -v cargo >/dev/null; then
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y -q --profile minimal --default-toolchain "$named"
  export PATH="$HOME/.cargo/bin:$PATH"
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-/tmp/target}
cd "$source"
cargo build --release --locked -p trainwright-cli
install -D -m 755 "$CARGO_TARGET_DIR/release/trainwright" "$out/trainwright"
python3 scripts/licences.py "$out/licences"
