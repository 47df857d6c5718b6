"""Time to find the best two-level fraction of a size, program start included.

Both tools are started as processes, one after the other in every round; pyDOE3's time is that of
its search alone. A search that does not end within the timeout is ended and reported as such.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

ROUNDS = 5
SIZES = [(5, 16), (6, 32), (10, 64), (12, 128)]

SEARCH = """
import sys, time
from pyDOE3 import fracfact_opt
factors, added = int(sys.argv[1]), int(sys.argv[2])
start = time.perf_counter()
design = fracfact_opt(factors, added)
print(time.perf_counter() - start)
print(design[0])
"""


def trainwright(program, factors, runs):
    """Seconds, and the design."""
    words = ["design", "fractional", "--factors", str(factors), "--runs", str(runs), "--json"]
    start = time.perf_counter()
    end = subprocess.run([program, *words], check=True, capture_output=True)
    return time.perf_counter() - start, json.loads(end.stdout)


def pydoe(factors, runs, timeout):
    """Seconds of the search; nothing where it does not end in time."""
    added = factors - (runs.bit_length() - 1)
    words = [sys.executable, "-c", SEARCH, str(factors), str(added)]
    try:
        end = subprocess.run(words, check=True, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    return float(end.stdout.split("\n")[0])


def main():
    program, result, timeout = sys.argv[1], sys.argv[2], float(sys.argv[3])
    rows = []
    for factors, runs in SIZES:
        ours, theirs, ended = [], [], True
        for _ in range(ROUNDS):
            seconds, design = trainwright(program, factors, runs)
            ours.append(seconds)
            if ended:
                seconds = pydoe(factors, runs, timeout)
                ended = seconds is not None
                theirs += [seconds] if ended else []
        rows.append(
            {
                "factors": factors,
                "runs": runs,
                "resolution": design["resolution"],
                "word_length_pattern": design["word_length_pattern"],
                "proven": design["choice"] == "minimum-aberration",
                "trainwright_s": {
                    "median": statistics.median(ours),
                    "min": min(ours),
                    "max": max(ours),
                },
                "pydoe3_s": statistics.median(theirs) if ended else None,
                "pydoe3": "ended" if ended else f"did not end within {timeout:.0f} s",
                "ratio": statistics.median(theirs) / statistics.median(ours) if ended else None,
            }
        )
        print(json.dumps(rows[-1]))
    report = {
        "question": "time to find the best two-level fraction of a size",
        "machine": {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"pyDOE3": version("pyDOE3"), "python": platform.python_version()},
        "rounds": ROUNDS,
        "timeout_s": timeout,
        "rows": rows,
    }
    with open(result, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
