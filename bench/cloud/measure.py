"""Replays every cloud method on recorded runs and keeps the summaries.

usage: measure.py PROGRAM DATA FOLDER SEEDS [MINUTES]

Each replay is a file in FOLDER/runs, so that a measurement can be made in parts: after so many
minutes no further one begins, and the next call goes on. FOLDER/result.json has all of them.
"""

import csv
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time

program, data, folder, seeds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
minutes = float(sys.argv[5]) if len(sys.argv) > 5 else float("inf")
METHODS = [
    "default", "cherrypick", "ernest", "paris", "arrow", "scout", "micky", "tuneful",
    "random", "coordinate-descent", "exhaustive",
]


def replay(runs, objective, method, history, seeds):
    command = [program, "cloud", "replay", "--runs", runs, "--objective", objective]
    command += ["--method", method, "--seeds", str(seeds), "--json"]
    if "single" in runs:
        command.append("--complete-only")
    if history:
        command += ["--history", history]
    begun = time.monotonic()
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    reply = json.loads(text)
    by_half = [[], []]
    groups = sorted({own["group"] for own in reply["results"]})
    for own in reply["results"]:
        by_half[groups.index(own["group"]) % 2].append(own["n_to_5pct"])
    means = [sum(half) / max(1, len(half)) for half in by_half]
    return {**reply["summary"], "seconds": round(time.monotonic() - begun, 2),
            "mean_n_to_5pct": sum(map(sum, by_half)) / len(reply["results"]),
            "mean_n_to_5pct_by_half_of_the_groups": means}


def shuffled(path, folder):
    """The same table with machine labels shuffled within each workload: a history that misleads."""
    rows = list(csv.DictReader(open(path)))
    labels = ["vm_type", "nodes"]
    by_work = {}
    for row in rows:
        by_work.setdefault(row["workload"], []).append(row)
    draw = random.Random(7)
    features = {(row["vm_type"], row["nodes"]): row for row in rows}
    same = ["price_usd_per_hour", "family", "category", "generation", "size", "vcpus",
            "memory_gib", "cpu_ghz", "local_ssd", "total_vcpus", "total_memory_gib"]
    for own in by_work.values():
        places = [tuple(row[label] for label in labels) for row in own]
        draw.shuffle(places)
        for row, place in zip(own, places):
            row.update(dict(zip(labels, place)))
            row.update({name: features[place][name] for name in same if name in row})
    out = os.path.join(folder, os.path.basename(path))
    with open(out, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return out


def kept(name, measured):
    """What an earlier call has measured, or what this one measures now."""
    path = os.path.join(folder, "runs", f"{name}.json")
    if not os.path.exists(path):
        if time.monotonic() - begun > 60 * minutes:
            return None
        own = measured()
        with open(path, "w") as file:
            json.dump(own, file)
    with open(path) as file:
        return json.load(file)


begun = time.monotonic()
os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
table = []
with tempfile.TemporaryDirectory() as place:
    for setting in ["multi", "single"]:
        runs = os.path.join(data, f"scout_{setting}.csv")
        misleading = shuffled(runs, place)
        for objective in ["time", "cost"]:
            cases = [("default", "none", None), ("default", "other groups", runs), ("default", "shuffled", misleading)]
            cases += [(method, "other groups", runs) for method in METHODS[1:]]
            for method, history, table_of_history in cases:
                name = f"{setting}-{objective}-{method}-{history.replace(' ', '-')}-{seeds}"
                own = kept(name, lambda: replay(runs, objective, method, table_of_history, seeds))
                if own is None:
                    continue
                table.append({"setting": setting, "objective": objective, "method": method, "history": history, **own})
                five, ratio = own["n_to_5pct"], own["ratio_at_stop"]
                print(f"{setting} {objective} {method:18} {history:12} n to 5 % "
                      f"{five['median']} / {five['p90']}, ratio {ratio['median']:.3f} / "
                      f"{ratio['p90']}, stops at {own['stopped_after']['median']} / "
                      f"{own['stopped_after']['p90']}, {own['seconds']} s", flush=True)
machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
with open(os.path.join(folder, "result.json"), "w") as file:
    json.dump({"seeds": seeds, "machine": machine, "table": table}, file, indent=1)
    file.write("\n")
