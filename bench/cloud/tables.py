"""Writes the tables of docs/concepts anew from bench/cloud/result.json.

usage: tables.py RESULT DOCS
"""

import json
import pathlib
import re
import sys

result, docs = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
SETTINGS = {"single": "One node", "multi": "Several nodes"}
HEAD = "n to 5 % | n to 10 % | stops at | ratio at stop | search cost |\n|---|---|---|---|---|---|\n"
METHODS = ["cherrypick", "ernest", "paris", "arrow", "scout", "micky", "tuneful"]


def figure(value):
    return "not reached" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def cells(row):
    keys = ["n_to_5pct", "n_to_10pct", "stopped_after", "ratio_at_stop", "search_cost"]
    return " | ".join(f"{figure(row[key]['median'])} / {figure(row[key]['p90'])}" for key in keys)


def name(row):
    if row["method"] != "default":
        return row["method"]
    return {"none": "default, no history", "shuffled": "default, shuffled history"}.get(row["history"], "default, with history")


def whole():
    out = []
    for setting, words in SETTINGS.items():
        for objective in ["time", "cost"]:
            rows = [row for row in result["table"] if (row["setting"], row["objective"]) == (setting, objective)]
            lines = "".join(f"| {name(row)} | {cells(row)} |\n" for row in rows)
            out.append(f"**{words}, {objective}**\n\n| | {HEAD}{lines}")
    return "\n".join(out)


def percent(value):
    return "none" if value is None else f"{100 * value:.0f} %"


def of_method(method):
    rows = [row for row in result["table"] if row["method"] == method]
    order = sorted(rows, key=lambda row: (list(SETTINGS).index(row["setting"]), row["objective"] != "time"))
    lines = "".join(f"| {SETTINGS[row['setting']]}, {row['objective']} | {cells(row)} |\n" for row in order)
    errors = [(row, row.get("prediction_error")) for row in order]
    errors = [(row, own) for row, own in errors if own and own["median"] is not None]
    words = "; ".join(
        f"{SETTINGS[row['setting']].lower()}, {row['objective']}: {percent(own['median'])} / {percent(own['p90'])}"
        for row, own in errors
    )
    told = f"\nMean error of what it foretold at its stop of candidates that had not run: {words}.\n" if errors else ""
    return f"| | {HEAD}{lines}{told}"


def replace(path, before, after, text):
    page = path.read_text()
    pattern = re.compile(f"({re.escape(before)}\n\n).*?(\n{re.escape(after)})", re.DOTALL)
    changed, count = pattern.subn(lambda own: own[1] + text + own[2], page)
    assert count == 1, path
    path.write_text(changed)


for own in METHODS:
    replace(docs / f"{own}.md", "**Ours**, measured:", "Median / 90th", of_method(own))
replace(docs / "cloud-search.md", "## Measured", "Median / 90th", whole())
