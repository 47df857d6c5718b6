#!/usr/bin/env bash
# How fast plans are evaluated, how good searches are: writes result.json beside this file; then
# planned against measured steps on this machine: predictions.json. `--smoke` takes a minute and writes to target/bench-smoke instead; its figures mean nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=0.5
smoke=
out=bench/plan/result.json
if [ "${1:-}" = --smoke ]; then
    seconds=0.02
    smoke=--smoke
    out=target/bench-smoke/plan.json
    mkdir -p target/bench-smoke
fi
cargo build --release -q -p trainwright-plan --example proposal_speed
cargo build --release -q --bin trainwright
target/release/examples/proposal_speed "$seconds" > "$out.new"
python3 - "$out" <<'PYTHON'
import json, os, platform, sys
out = sys.argv[1]
with open(out + ".new") as file:
    result = json.load(file)
os.remove(out + ".new")
with open("/proc/cpuinfo") as file:
    cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
result = {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system(), **result}
with open(out, "w") as file:
    json.dump(result, file, indent=1)
    file.write("\n")
sixteen = [row for row in result["speeds"] if row["devices"] == 16]
for kind in ["one_operator", "mixed"]:
    ratios = {row["graph"]: round(row[kind]["bounded_over_rebuild"], 2) for row in sixteen}
    print(f"bounded over rebuild on 16 devices, {kind}:", ratios)
for row in result["searches"]:
    print(f'{row["graph"]:14} {row["machine"]:7} {row["over_best_baseline"]:.2f} times the best baseline, '
          f'{row["over_data_parallel"]:.2f} times data parallel, {row["seconds"]:.1f} s')
PYTHON
python3 bench/plan/predict.py target/release/trainwright $smoke
