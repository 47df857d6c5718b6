#!/usr/bin/env bash
# Unpacks a release archive in an empty folder and tests that all of it is there and works.
set -euo pipefail
archive=$(realpath "$1")
(cd "$(dirname "$archive")" && sha256sum --check --quiet "$(basename "$archive").sha256")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "$archive"
folder=$(echo "$work"/trainwright-*)
export PATH="$folder/bin:$PATH" HOME="$work" TRAINWRIGHT_CACHE="$work/cache"
cd "$work"

fail() { echo "the archive is not right: $*" >&2; exit 1; }
[ "$(command -v trainwright)" = "$folder/bin/trainwright" ] || fail "no program"
trainwright --version
trainwright doctor > doctor.txt || fail "doctor gave $?"
trainwright design full --factors 2 > /dev/null || fail "design gave $?"
bash -n "$folder/completions/trainwright.bash" || fail "the completions of bash do not read"
for page in trainwright trainwright-run trainwright-bench trainwright-queue-mmc; do
  grep -q '^\.TH' "$folder/man/man1/$page.1" || fail "no manual page $page"
done
if command -v man >/dev/null; then
  man --warnings -l "$folder/man/man1/trainwright-bench.1" 2> warnings > /dev/null || fail "man gave $?"
fi
for file in LICENSE LICENSE-APACHE LICENSE-MIT README.md licences/INDEX.md; do
  [ -s "$folder/$file" ] || fail "no $file"
done
grep -q '^| serde ' "$folder/licences/INDEX.md" || fail "no licences of what is compiled in"
trainwright init study.toml && trainwright check study.toml > /dev/null || fail "check gave $?"
echo "the archive is right: $(wc -l < "$folder/licences/INDEX.md") lines of licences"
