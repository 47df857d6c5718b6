"""Runs everything in rounds, ours and the peer by turns, and writes result.json."""

import argparse
import csv
import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import PIL
import pyspark

from cluster import Cluster
from processor_time import TreeTime

PROGRAM = os.path.abspath("target/release/trainwright")
CONF = ["--conf", "spark.executor.memory=512m"]


def ours(cluster, source, out, more, program=PROGRAM):
    words = [program, "data", "prepare", source, "--out", out, "--json"]
    words += ["--engine", "spark", "--master", cluster.master, *CONF, *more]
    reply = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    tasks = reply["cluster"]["tasks"]
    usages = [task["usage"] for task in tasks if task.get("usage")]
    begin = min(task["launched_ms"] for task in tasks)
    end = max(task["launched_ms"] + 1e3 * task["duration_s"] for task in tasks)
    cpu = sum(own["user_s"] + own["system_s"] for own in usages)
    return {"images": reply["records"], "cpu_s": cpu, "wall_s": (end - begin) / 1e3}


def peer(cluster, source, out, partitions, kind):
    submit = os.path.join(cluster.home, "bin/spark-submit")
    words = [submit, "--master", cluster.master, *CONF, "--conf", "spark.ui.enabled=false",
             "--conf", "spark.driver.host=127.0.0.1", "bench/spark/peer.py", source, out, str(partitions), kind]
    env = dict(os.environ, SPARK_HOME=cluster.home)
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=env)
    return json.loads(done.stdout.splitlines()[-1])


def spread(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def one_preparation(cluster, name, source, out, turbojpeg):
    if name in ("pil", "tf"):
        return peer(cluster, source, out, 6, name)
    program = turbojpeg if name == "turbojpeg" else PROGRAM
    return ours(cluster, source, out, ["--partitions", "6", "--shards", "12"], program)


def preparation(cluster, source, rounds, work, turbojpeg):
    """Ours (also as built with turbojpeg, where there is such a program), PIL and tf by turns."""
    names = ["ours", "pil", "tf"] + (["turbojpeg"] if turbojpeg else [])
    rows = []
    for number in range(rounds):
        row = {}
        for name in names[number % len(names):] + names[:number % len(names)]:
            out = os.path.join(work, f"{name}-{number}")
            with TreeTime(cluster.workers()) as spent:
                own = one_preparation(cluster, name, source, out, turbojpeg)
            shutil.rmtree(out)
            own["images_per_cpu_s"] = own["images"] / own["cpu_s"]
            # Executors from start to end: Java, Python and what these started.
            own["executors_cpu_s"] = spent.seconds
            own["images_per_executors_cpu_s"] = own["images"] / spent.seconds
            row[name] = own
        rows.append(row)
        print(json.dumps(row), file=sys.stderr)
    found = {"rounds": rows}
    for what in ("images_per_cpu_s", "images_per_executors_cpu_s"):
        ratio = lambda built, other: spread([row[built][what] / row[other][what] for row in rows])
        for name in names:
            found[f"{what}_{name}"] = spread([row[name][what] for row in rows])
        for built in [name for name in names if name not in ("pil", "tf")]:
            for other in ("pil", "tf"):
                found[f"{what}_{built}_over_{other}"] = ratio(built, other)
    return found


def scaling(cluster, source, rounds, work):
    """Seconds of a preparation on one and two slots, and what the scaling laws say of 8 and 64."""
    table = os.path.join(work, "scaling.csv")
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["workers", "time"])
        for number in range(rounds):
            for slots in (1, 2):
                out = os.path.join(work, f"scaling-{slots}-{number}")
                more = ["--conf", f"spark.cores.max={slots}", "--partitions", "6", "--shards", "12"]
                own = ours(cluster, source, out, more)
                shutil.rmtree(out)
                writer.writerow([slots, own["wall_s"]])
                file.flush()
    words = [PROGRAM, "scaling", "--data", table, "--column", "time", "--workers", "workers",
             "--predict", "8,64", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    with open(table) as file:
        measured = list(csv.DictReader(file))
    reply = json.loads(done.stdout) if done.returncode == 0 else done.stderr
    return {"measured": measured, "prediction_by_scaling_laws": reply}


def queueing(trial_s, overhead_s):
    """Trials an hour that 8 and 64 slots take with waits below a tenth of a trial: a prediction."""
    answers = {}
    service = trial_s + overhead_s
    for slots in (2, 8, 64):
        rate = 0.8 * slots / service
        words = [PROGRAM, "queue", "mmc", "--arrival", str(rate), "--service", str(1 / service),
                 "--servers", str(slots), "--json"]
        reply = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        answers[str(slots)] = {"trials_per_hour_at_80_percent": rate * 3600, "mean_wait_s": reply["mean_wait"]}
    return {"trial_s": trial_s, "overhead_s": overhead_s, "prediction_by_mmc": answers}


def overheads(cluster, bench):
    """What Spark costs for a streamed task, a trial and the start of a gang."""
    env = dict(os.environ, SPARK_MASTER=cluster.master)
    found = json.loads(subprocess.run([bench], check=True, capture_output=True, text=True, env=env).stdout)
    names = found["rounds"][0].keys()
    return {**found, "summary": {name: spread([own[name] for own in found["rounds"]]) for name in names}}


def measure(part, bench, source, rounds, turbojpeg):
    with Cluster(1) as cluster, tempfile.TemporaryDirectory() as work:
        found = {"load_before": os.getloadavg()[0]}
        if part == "overheads":
            return {**found, **overheads(cluster, bench)}
        if part == "preparation":
            return {**found, **preparation(cluster, source, rounds, work, turbojpeg)}
        return {**found, **scaling(cluster, source, rounds, work)}


def bars(result):
    """Each bar, what was measured, and whether it is met."""
    summary = result["overheads"]["summary"]
    ratios = {peer: result["preparation"].get(f"images_per_cpu_s_ours_over_{peer}") for peer in ("pil", "tf")}
    rows = [
        ("ms beyond the work for a streamed task", "<", 2.0, summary["streamed_task_ms"]["median"]),
        ("ms beyond the work for a trial", "<", 150.0, summary["trial_overhead_ms"]["median"]),
        ("s for the start of a gang of two, warm", "<", 3.0, summary["gang_of_2_s"]["median"]),
    ]
    rows += [
        (f"images per CPU second, ours over PySpark with {peer}", ">=", 2.0, ratio["median"])
        for peer, ratio in ratios.items() if ratio
    ]
    met = {"<": lambda value, bar: value < bar, ">=": lambda value, bar: value >= bar}
    return [{"what": what, "bar": f"{sign} {bar}", "median": value, "met": met[sign](value, bar)} for what, sign, bar, value in rows]


PARTS = ["overheads", "preparation", "workers"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("source")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--turbojpeg", help="a program built with this feature, measured beside")
    parser.add_argument("--part", choices=PARTS, help="this one alone; the others stay as they were")
    arguments = parser.parse_args()
    path = "target/bench-smoke/spark.json" if arguments.smoke else "bench/spark/result.json"
    result = {}
    if arguments.part and os.path.exists(path):
        with open(path) as file:
            result = json.load(file)
    result["machine"] = {"cores": os.cpu_count(), "system": platform.platform()}
    result["versions"] = {"pyspark": pyspark.__version__, "pillow": PIL.__version__, "tensorflow": importlib.metadata.version("tensorflow"), "python": platform.python_version()}
    result["cluster"] = "standalone, workers of one core on 127.0.0.1 and 127.0.0.2"
    for part in [arguments.part] if arguments.part else PARTS:
        rounds = 1 if arguments.smoke else arguments.rounds
        result[part] = measure(part, arguments.bench, os.path.abspath(arguments.source), rounds, arguments.turbojpeg)
        if "overheads" in result:
            overhead_s = result["overheads"]["summary"]["trial_overhead_ms"]["median"] / 1e3
            result["trials"] = queueing(60.0, overhead_s)
        if "overheads" in result and "preparation" in result:
            result["bars"] = bars(result)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
        print(part, "measured", file=sys.stderr)
    print(json.dumps(result.get("bars"), indent=1))
    print(path)


if __name__ == "__main__":
    main()
