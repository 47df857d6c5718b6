#!/usr/bin/env bash
# Makes target/release-archive/trainwright-VERSION-TARGET.tar.gz: the program, completions, manual
# pages, and the licences of ours and of everything that is compiled in; its SHA-256 beside it.
# Then unpacks it elsewhere and tests what it made.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${TRAINWRIGHT_PROGRAM:-}
if [ -z "$program" ]; then
  cargo build --release -p trainwright-cli
  program=target/release/trainwright
fi
version=$("$program" --version | cut -d ' ' -f 2)
target=$(rustc -vV | sed -n 's/^host: //p')
name=trainwright-$version-$target
out=target/release-archive
rm -rf "$out" && mkdir -p "$out/$name/bin" "$out/$name/completions" "$out/$name/licences"

install -m 755 "$program" "$out/$name/bin/trainwright"
if command -v strip >/dev/null; then strip "$out/$name/bin/trainwright"; fi
for shell in bash zsh fish elvish powershell; do
  "$program" completions "$shell" > "$out/$name/completions/trainwright.$shell"
done
"$program" man "$out/$name/man/man1"
cp README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT "$out/$name/"
python3 scripts/licences.py "$out/$name/licences"

# The same files give the same bytes.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" \
  -C "$out" -cf - "$name" | gzip -n -9 > "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
rm -rf "${out:?}/$name"

bash scripts/check_release.sh "$out/$name.tar.gz"
ls -l "$out"
