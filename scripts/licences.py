"""Collects the licences of everything that is compiled into the program.

    python3 scripts/licences.py FOLDER

Writes INDEX.md, a table of packages with their licences, and one file a package with its texts.
Fails where a package has no licence, or one that is not permissive.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

PERMISSIVE = {
    "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0", "0BSD",
    "CC0-1.0", "Unlicense", "MIT-0", "BSL-1.0", "CDLA-Permissive-2.0", "Unicode-DFS-2016",
    "Apache-2.0 WITH LLVM-exception", "blessing",
}
TEXTS = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)


def packages():
    """Packages that the program needs to run, without those of tests and of building."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform"]
    host = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    words.append(re.search(r"^host: (\S+)$", host, re.MULTILINE).group(1))
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    by_id = {own["id"]: own for own in found["packages"]}
    needs = {own["id"]: own["deps"] for own in found["resolve"]["nodes"]}
    left = [own["id"] for own in found["packages"] if own["name"] == "trainwright-cli"]
    seen = set()
    while left:
        own = left.pop()
        if own in seen:
            continue
        seen.add(own)
        for need in needs[own]:
            if any(kind["kind"] is None for kind in need["dep_kinds"]):
                left.append(need["pkg"])
    return sorted((by_id[own] for own in seen), key=lambda own: (own["name"], own["version"]))


def is_permissive(expression):
    """Whether some choice of an SPDX expression has permissive licences only."""
    choices = expression.replace("/", " OR ").replace("(", " ").replace(")", " ").split(" OR ")
    return any(all(part.strip() in PERMISSIVE for part in choice.split(" AND ")) for choice in choices)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# What is compiled into this program", "", "| package | version | licence |", "|---|---|---|"]
    faults = []
    for own in packages():
        if own["source"] is None:
            continue
        licence = own["license"] or ""
        lines.append(f"| {own['name']} | {own['version']} | {licence or own['license_file']} |")
        if not licence or not is_permissive(licence):
            faults.append(f"{own['name']} {own['version']}: `{licence}` is not known as permissive")
        place = Path(own["manifest_path"]).parent
        texts = sorted(path for path in place.iterdir() if path.is_file() and TEXTS.match(path.name))
        parts = [f"{own['name']} {own['version']}: {licence}", ", ".join(own["authors"]), own["repository"] or ""]
        parts += [f"---- {path.name} ----\n{path.read_text(encoding='utf-8', errors='replace')}" for path in texts]
        name = f"{own['name']}-{own['version']}.txt"
        (folder / name).write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    assets = Path("crates/report/assets/echarts")
    lines.append("| Apache ECharts (in reports) | see its NOTICE | Apache-2.0 |")
    for name in ("LICENSE", "LICENSE-d3", "NOTICE"):
        (folder / f"echarts-{name}.txt").write_text((assets / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "INDEX.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(faults) or f"{len(lines) - 4} packages, all permissive")
    return 1 if faults else 0


sys.exit(main(Path(sys.argv[1])))
