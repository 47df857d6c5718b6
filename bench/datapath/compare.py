"""Runs our data path and its peers in turn. Called by run.sh.

compare.py setup WORK FLOWERS; compare.py check WORK FLOWERS; compare.py PART WORK FLOWERS SECONDS;
compare.py report WORK RESULT. Measurements are kept in WORK/measured.jsonl, so that parts may run at
different times. THE figure against a peer is that against its fastest variant in each place.
"""

import io
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, version

here = os.path.dirname(os.path.abspath(__file__))
action, work = sys.argv[1:3]
shards, many, kept = (os.path.join(work, name) for name in ("shards", "many", "measured.jsonl"))
# Those of ours that run.sh has built.
BUILDS = tuple(build for build in ("turbojpeg", "default") if os.path.isdir(os.path.join(work, build)))
# Ways to use a peer. tf.data's resize without antialias computes less than all others; `cut` decodes
# only the square that is kept.
TENSORFLOW = ("tensorflow", "tensorflow:antialias", "tensorflow:cut")
DALI = ("dali", "dali:cut")
# Mean pixels of a picture differ by no more than this between decoders and roundings, out of 255.
ALIKE = 2.0
NOTES = {"scan against tensorflow": "tf.data calls a traced function for each record, or with `batched` for each 1024 records; ours calls nothing"}
# `data prepare` gets the originals this many times over, so that it has a second to do.
COPIES = 5


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1:]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def prepare(build, source, out, threads):
    """Our prepare; its time is that of its own clock, its processor time that of the process."""
    return finish_prepare(start_prepare(build, source, out, threads))


def prepare_twice(build, source, out):
    """Two processes of one thread each at the same time: what two processors can reach at best."""
    both = [start_prepare(build, source, out + number, 1) for number in ("1", "2")]
    first, second = [finish_prepare(one) for one in both]
    for bad in (first, second):
        if "error" in bad:
            return bad
    wall = (first["wall_s"] + second["wall_s"]) / 2
    return {"items": first["items"] + second["items"], "wall_s": wall, "cpu_s": first["cpu_s"] + second["cpu_s"]}


def start_prepare(build, source, out, threads):
    shutil.rmtree(out, ignore_errors=True)
    command = [os.path.join(work, build, "trainwright"), "data", "prepare", source, "--out", out]
    command += ["--shards", "16", "--threads", str(threads), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def finish_prepare(process):
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        return {"error": [text]}
    made = json.loads(text)
    cpu = usage.ru_utime + usage.ru_stime
    return {"items": made["records"], "wall_s": made["seconds"], "cpu_s": cpu, "peak_bytes": usage.ru_maxrss * 1024}


def setup(flowers):
    made = prepare("default", os.path.join(flowers, "small192"), shards, 2)
    assert "error" not in made, made
    for copy in range(COPIES):
        for folder, _, names in os.walk(os.path.join(flowers, "original")):
            into = os.path.join(many, os.path.basename(folder))
            if any(name.endswith(".jpg") for name in names):
                os.makedirs(into, exist_ok=True)
            for name in (name for name in names if name.endswith(".jpg")):
                shutil.copy(os.path.join(folder, name), os.path.join(into, f"{copy}-{name}"))
    # The same records as tar files for webdataset.
    import tensorflow as tf

    for number, shard in enumerate(sorted(name for name in os.listdir(shards) if name.endswith(".tfrecord"))):
        with tarfile.open(os.path.join(shards, shard[:-9] + ".tar"), "w") as tar:
            for at, record in enumerate(tf.data.TFRecordDataset([os.path.join(shards, shard)])):
                feature = tf.train.Example.FromString(record.numpy()).features.feature
                picture, label = feature["image/encoded"].bytes_list.value[0], feature["label"].int64_list.value[0]
                for name, content in [("jpg", picture), ("cls", str(label).encode())]:
                    info = tarfile.TarInfo(f"{number:05}{at:05}.{name}")
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))


def contenders(part, flowers):
    """Who takes part, what it does, where, with how many threads."""
    originals = os.path.join(flowers, "original")
    both = lambda mode, place, peers: [(who, mode, place, threads) for threads in (1, 2) for who in (*BUILDS, *peers)]
    match part:
        case "files":
            return both("files", originals, (*TENSORFLOW, "torchvision", *DALI))
        case "records":
            return both("records", shards, ("tensorflow", "dali")) + [("webdataset", "records", shards, 1)]
        case "prepare":
            # What is compared with each other runs one after another, and thrice, for it is short.
            ours = [(build, mode, many, threads) for build in BUILDS for mode, threads in [("prepare", 1), ("prepare", 2), ("prepare twice", 1)]]
            return 3 * ours + [(who, "prepare", many, threads) for threads in (1, 2) for who in TENSORFLOW]
        case "scan":
            return 3 * [("default", mode, shards, 1) for mode in ("scan", "memcpy", "stream")] + [(who, "scan", shards, 1) for who in ("tensorflow", "tensorflow:batched")]
        case "write":
            return [(who, mode, shards, 1) for who, mode in [("default", "write"), ("default", "plain-write"), ("tensorflow", "write")]]


def check(flowers):
    """Whether all make the same pictures in the same order out of the files."""
    originals = os.path.join(flowers, "original")
    ours = run(os.path.join(work, "default", "datapath"), "means", originals, "1", "0")["means"]
    with open(kept, "a") as file:
        for who in (*TENSORFLOW, "torchvision", *DALI):
            found = run(sys.executable, os.path.join(here, "peer.py"), who, "files", originals, "1", "means")
            if "error" in found:
                print(f"files of {who}: {found['error']}")
                continue
            apart = max(abs(one - other) for one, other in zip(ours, found["means"], strict=True))
            word = "like" if apart <= ALIKE else "UNLIKE"
            print(f"files of {who}: {len(ours)} pictures {word} ours, mean pixels at most {apart:.2f} of 255 apart", flush=True)
            file.write(json.dumps({"check": who, "pictures": len(ours), "most_apart": apart}) + "\n")


def measure(part, flowers, seconds):
    with open(kept, "a") as file:
        for who, mode, place, threads in contenders(part, flowers):
            if who not in BUILDS:
                found = run(sys.executable, os.path.join(here, "peer.py"), who, mode, place, str(threads), seconds)
            elif mode == "prepare":
                found = prepare(who, place, os.path.join(work, "made"), threads)
            elif mode == "prepare twice":
                found = prepare_twice(who, place, os.path.join(work, "made"))
            else:
                found = run(os.path.join(work, who, "datapath"), mode, place, str(threads), seconds)
            print(who, mode, threads, found, flush=True)
            file.write(json.dumps({"who": who, "mode": mode, "threads": threads, "found": found}) + "\n")


def summary():
    """Rows for the result, and items (or bytes) a second of each round by processor and by wall time."""
    groups, rows, speed = {}, [], {}
    for line in open(kept):
        entry = json.loads(line)
        if "check" in entry:
            continue
        groups.setdefault((entry["who"], entry["mode"], entry["threads"]), []).append(entry["found"])
    for (who, mode, threads), found in groups.items():
        row = {"who": who, "mode": mode, "threads": threads}
        good = [one for one in found if "error" not in one]
        if not good:
            rows.append(row | {"error": found[0]["error"]})
            continue
        in_bytes = mode in ("scan", "stream", "memcpy", "write", "plain-write") and good[0].get("bytes")
        amount = (lambda one: one["bytes"]) if in_bytes else (lambda one: one["items"])
        rates = {by: [amount(one) / one[by + "_s"] for one in good if one[by + "_s"]] for by in ("cpu", "wall")}
        speed[who, mode, threads] = {by: all_rates for by, all_rates in rates.items() if all_rates}
        row |= {"unit": "bytes" if in_bytes else "items"} | {name: statistics.median(rates[by]) for name, by in [("per_cpu_s", "cpu"), ("per_s", "wall")] if rates[by]}
        rows.append(row | {"spread_per_s": [min(rates["wall"]), max(rates["wall"])], "rounds": good})
    return rows, speed


def report(result):
    rows, speed = summary()
    ratios, of = [], {(r["who"], r["mode"], r["threads"]): r for r in rows if "rounds" in r}

    def found_ratio(ours, theirs, by):
        if by in speed.get(ours, {}) and by in speed.get(theirs, {}):
            our_rates, their_rates = speed[ours][by], speed[theirs][by]
            # A round is measured within a minute, in which a shared machine changes less than from
            # round to round; so rounds are compared, and the median is that of their ratios.
            if len(our_rates) == len(their_rates):
                found = statistics.median(our / their for our, their in zip(our_rates, their_rates))
            else:
                found = statistics.median(our_rates) / statistics.median(their_rates)
            # Peers tell records, we tell bytes of the same records.
            if of[ours]["unit"] == "bytes" and of[theirs]["unit"] == "items":
                one = of[ours]["rounds"][0]
                found *= one["items"] / one["bytes"]
            return found

    def ratio(name, ours, theirs, wanted, by):
        """The ratio to the fastest variant of a peer; those to the others are kept beside it."""
        peer, mode, threads = theirs
        variants = [who for who, *rest in speed if who.split(":")[0] == peer and rest == [mode, threads]]
        of_variants = {who: found_ratio(ours, (who, mode, threads), by) for who in variants}
        of_variants = {who: found for who, found in of_variants.items() if found is not None}
        if not of_variants:
            return
        fastest = min(of_variants, key=of_variants.get)
        found = of_variants[fastest]
        met = None if wanted is None else found >= wanted
        entry = {"name": name, "by": by, "ratio": found, "wanted": wanted, "met": met}
        if len(of_variants) > 1:
            entry |= {"fastest": fastest, "variants": of_variants}
        ratios.append(entry | ({"note": NOTES[name]} if name in NOTES else {}))
        print(f"{name}, {by}: {found:.2f}" + ("" if wanted is None else f" (wanted {wanted:.2f}{'' if met else ': MISSED'})") + (f", {NOTES[name]}" if name in NOTES else ""))

    for build in BUILDS:
        # The build without libjpeg-turbo is held to three quarters of each.
        share = 1.0 if build == "turbojpeg" else 0.75
        for threads in (1, 2):
            note = f"{build}, {threads} thread{'s' if threads > 1 else ''}"
            for mode, peers in [("files", {"tensorflow": 1.4, "torchvision": 1.3, "dali": None}), ("records", {"tensorflow": 1.4, "dali": 1.1, "webdataset": None}), ("prepare", {"tensorflow": 1.3})]:
                for peer, wanted in peers.items():
                    # Demands are on processor time: peers use more threads than they are told to.
                    for by, wanted in [("cpu", wanted and wanted * share), ("wall", None)]:
                        ratio(f"{mode} against {peer}, {note}", (build, mode, threads), (peer, mode, threads), wanted, by)
        ratio(f"prepare, {build}, 2 threads against 1", (build, "prepare", 2), (build, "prepare", 1), 1.8, "wall")
        ratio(f"prepare, {build}, two processes at once against one: the limit of the machine", (build, "prepare twice", 1), (build, "prepare", 1), None, "wall")
    for mode, who, other, wanted in [("scan", "tensorflow", "scan", 3), ("write", "tensorflow", "write", None), ("scan", "default", "memcpy", 0.75), ("stream", "default", "memcpy", None), ("write", "default", "plain-write", 0.65)]:
        for by, wanted in [("wall", wanted), ("cpu", None)]:
            ratio(f"{mode} against {'' if who == 'default' else who + ' '}{other}", ("default", mode, 1), (who, other, 1), wanted, by)
    peak = max(one["peak_bytes"] for row in rows if row["mode"] == "prepare" for one in row.get("rounds", []) if "peak_bytes" in one)
    print(f"peak memory of prepare: {peak / 1e6:.0f} MB")
    packages = ["tensorflow-cpu", "torch", "torchvision", "webdataset", "nvidia-dali-cuda120"]
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    report = {
        "what": "the data path against tf.data, torchvision, webdataset and DALI",
        "machine": {"processor": model, "cores": os.cpu_count()},
        "versions": {name: installed(name) for name in packages},
        "prepare_peak_bytes": peak,
        "checks": [entry for entry in map(json.loads, open(kept)) if "check" in entry],
        "ratios": ratios,
        "rows": rows,
    }
    with open(result, "w") as file:
        json.dump(report, file, indent=2)
        file.write("\n")


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


match action:
    case "setup":
        setup(sys.argv[3])
    case "check":
        check(sys.argv[3])
    case "report":
        report(sys.argv[3])
    case part:
        measure(part, *sys.argv[3:5])
