"""Optuna's samplers on the recorded runs, counted as `cloud replay` counts our own method.

usage: peers.py PROGRAM DATA FOLDER SEEDS [SETTING...]

A peer sees the category, generation and size of a machine and the place of its number of nodes in
the list of its size, all as ordered numbers, and the logarithm of the objective. A configuration
that was suggested before is answered from memory and not counted; a failed run is paid for and told
as a failure. Our own method runs without a history. FOLDER/peers.json keeps all.
"""

import csv
import json
import math
import os
import statistics
import subprocess
import sys

program, data, folder, seeds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
settings = sys.argv[5:] or ["multi", "single"]
MOST = {"multi": 69, "single": 18}
SUGGESTIONS = {"multi": 80, "single": 40}


def workloads(setting):
    found = {}
    for row in csv.DictReader(open(os.path.join(data, f"scout_{setting}.csv"))):
        if setting == "single" and row["workload_full"] != "1":
            continue
        found.setdefault(row["workload"], []).append(row)
    return found


def space(rows):
    """Ordered factors, and the configuration that each combination of their places stands for."""
    def order(name, key=str):
        return sorted({row[name] for row in rows}, key=key)

    sizes = ["large", "xlarge", "2xlarge"]
    lists = [order("category"), order("generation"), sizes]
    nodes = {size: sorted({int(row["nodes"]) for row in rows if row["size"] == size}) for size in sizes}
    table = {(row["category"], row["generation"], row["size"], int(row["nodes"])): row for row in rows}
    return lists, nodes, table


def runs_to_best(kind, rows, objective, seed, setting):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler if kind == "optuna-tpe" else optuna.samplers.GPSampler
    study = optuna.create_study(sampler=sampler(seed=seed))
    (categories, generations, sizes), nodes, table = space(rows)
    column = "elapsed_s" if objective == "time" else "cost_usd"
    ended = [float(row[column]) for row in rows if row["completed"] == "1"]
    best, seen = min(ended), {}
    for _ in range(SUGGESTIONS[setting]):
        trial = study.ask()
        pick = lambda name, values: values[trial.suggest_int(name, 0, len(values) - 1)] if len(values) > 1 else values[0]
        size = pick("size", sizes)
        key = (pick("category", categories), pick("generation", generations), size)
        share = trial.suggest_float("nodes", 0.0, 1.0) if len(nodes[size]) > 1 else 0.0
        place = min(int(share * len(nodes[size])), len(nodes[size]) - 1)
        row = table[(*key, nodes[size][place])]
        name = (row["vm_type"], row["nodes"])
        seen[name] = seen.get(name, len(seen) + 1)
        if row["completed"] != "1":
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        value = float(row[column])
        study.tell(trial, math.log(value))
        if value <= 1.05 * best:
            return seen[name]
    return MOST[setting]


def percentile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def ours(setting, objective):
    runs = os.path.join(data, f"scout_{setting}.csv")
    words = [program, "cloud", "replay", "--runs", runs, "--objective", objective, "--method", "default"]
    words += ["--seeds", str(seeds), "--json"] + (["--complete-only"] if setting == "single" else [])
    reply = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return [own["n_to_5pct"] for own in reply["results"]]


table = []
for setting in settings:
    for objective in ["time", "cost"]:
        found = {"trainwright, no history": ours(setting, objective)}
        for kind in ["optuna-tpe", "optuna-gp"]:
            found[kind] = [
                runs_to_best(kind, rows, objective, 1000 * seed + place, setting)
                for seed in range(seeds)
                for place, rows in enumerate(workloads(setting).values())
            ]
        for method, counts in found.items():
            line = {"setting": setting, "objective": objective, "method": method, "replays": len(counts)}
            line |= {"median": statistics.median(counts), "p90": percentile(counts, 0.9), "mean": statistics.mean(counts)}
            table.append(line)
            print(f"{setting} {objective} {method:24} n to 5 % {line['median']} / {line['p90']:.1f}, mean {line['mean']:.2f}", flush=True)
with open(os.path.join(folder, "peers.json"), "w") as file:
    json.dump({"seeds": seeds, "table": table}, file, indent=1)
    file.write("\n")
