#!/usr/bin/env python3
"""Planned against measured step times on this machine: writes predictions.json beside this file.

`predict.py PROGRAM [--smoke]`: each network is planned for `here` and every strategy that runs is
trained for seconds (`plan --measure`). `--smoke` tries one network and writes to
target/bench-smoke instead; its figures mean nothing.
"""
import json, os, pathlib, platform, statistics, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
# Batch, network. The third has layers so fat that copying gradients costs more than computing.
NETWORKS = [
    (256, "mlp:784-512-512-10"),
    (256, "mlp:784-1024-1024-1024-10"),
    (64, "mlp:784-4096-2048-10"),
    (32, "mlp:784-2048-2048-10"),
    (64, "bilstm:64"),
]
RUNNABLE = ["one_device", "data_parallel", "tensor", "pipeline", "mesh"]


def planned(program, batch, network):
    words = [program, "plan", network, "--machine", "here", "--batch", str(batch)]
    words += ["--proposals", "200", "--measure", "--json"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    rows = json.loads(done.stdout)["measured"]
    return [row for row in rows if row["strategy"] in RUNNABLE]


def kept_orders(rows):
    """Pairs of strategies that are clearly apart as measured, and how many the plan puts so too."""
    ran = [row for row in rows if row["measured_s"]]
    pairs = [(a, b) for a in ran for b in ran if a["measured_s"] * 1.1 < b["measured_s"]]
    return len(pairs), sum(a["predicted_s"] < b["predicted_s"] for a, b in pairs)


def main():
    program, smoke = sys.argv[1], "--smoke" in sys.argv
    networks = NETWORKS[:1] if smoke else NETWORKS
    result = []
    for batch, network in networks:
        rows = planned(program, batch, network)
        pairs, kept = kept_orders(rows)
        result.append({"network": network, "batch": batch, "pairs": pairs, "kept": kept, "rows": rows})
        for row in rows:
            measured = row["measured_s"]
            words = f"{1e3 * measured:8.2f} ms measured, {100 * row['error']:+4.0f} %" if measured else row["refused"]
            print(f"{network:28} {row['strategy']:14} {1e3 * row['predicted_s']:8.2f} ms planned, {words}")
    errors = [abs(row["error"]) for own in result for row in own["rows"] if row["measured_s"]]
    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    summary = {
        "cpu": cpu, "cores": os.cpu_count(), "system": platform.system(),
        "plans": len(errors), "median_error": statistics.median(errors), "largest_error": max(errors),
        "pairs_apart": sum(own["pairs"] for own in result),
        "pairs_in_order": sum(own["kept"] for own in result), "networks": result,
    }
    out = HERE / "predictions.json"
    if smoke:
        out = HERE.parent.parent / "target" / "bench-smoke" / "plan-predictions.json"
        out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(summary, indent=1) + "\n")
    print(f"{len(errors)} plans: median error {100 * summary['median_error']:.0f} %, "
          f"largest {100 * summary['largest_error']:.0f} %; "
          f"{summary['pairs_in_order']} of {summary['pairs_apart']} pairs in their order")


main()
