#!/usr/bin/env bash
# Builds the documentation site in target/site and checks that no link of it is dead.
# Installs mdBook into target/tools where it is not at hand, which takes some minutes once.
set -euo pipefail
cd "$(dirname "$0")/.."

mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
  mdbook=target/tools/bin/mdbook
  [ -x "$mdbook" ] || cargo install --quiet --root target/tools mdbook --version '^0.5' --locked
fi
rm -rf target/site
"$mdbook" build
# What pages link to beside the book.
for folder in examples bench; do
  mkdir -p "target/site/$folder"
  git ls-files -z "$folder" | xargs -0 cp --parents -t target/site
done
find target/site/examples target/site/bench -name '*.md' | while read -r page; do
  cp "$page" "${page%.md}.html"
done
python3 scripts/check_site.py target/site
echo "target/site/docs/index.html"
