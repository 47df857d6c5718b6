"""Regression, analysis of variance and Shapiro-Wilk against statsmodels and scipy.

Rounds are interleaved and medians compared. What each figure includes:

- anova_320x10: formula, model matrix, fit and type II table from a table in memory, one call, both
  sides inside a running process.
- analyze_320x10: the same for Trainwright with all checks, findings and residuals.
- million_x_10: coefficients and tables. In memory on both sides: Trainwright's formula, fit and
  tables of all three types (`trainwright_in_memory_s`), statsmodels' ols and type II table
  (`statsmodels_in_memory_s`). With reading of the CSV file on both sides: Trainwright's whole
  program with all checks, start to end (`trainwright_s`), and pandas.read_csv before ols and the
  table (`statsmodels_with_reading_s`).
- shapiro_5000: one call in a running process.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pandas
import scipy.stats
import statsmodels
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

ROUNDS = 5
MILLION_ROUNDS = 3
FORMULA = "y ~ " + " + ".join(f"x{i}" for i in range(10))


def table(rows, seed):
    """Ten columns and a response that depends on them."""
    random = numpy.random.default_rng(seed)
    frame = pandas.DataFrame(random.normal(size=(rows, 10)), columns=[f"x{i}" for i in range(10)])
    frame["y"] = 1 + frame.to_numpy() @ numpy.linspace(0.1, 1, 10) + random.normal(size=rows)
    return frame


def seconds(call):
    """Seconds of one call, and what it gave."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def anova(frame):
    return anova_lm(ols(FORMULA, frame).fit(), typ=2)


def ours(program, what, file, calls):
    """Median milliseconds of a library call."""
    words = [program, what, file, FORMULA, str(calls)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def spread(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def ratio(peer, own):
    return statistics.median(peer) / statistics.median(own)


def small(harness, folder):
    """Milliseconds of a type II table of 320 x 10, and of Shapiro-Wilk of 5000 values."""
    frame = table(320, 1)
    file = folder / "small.csv"
    frame.to_csv(file, index=False)
    sample = numpy.random.default_rng(2).normal(size=5000)
    values = folder / "values.csv"
    pandas.DataFrame({"x": sample}).to_csv(values, index=False)
    found = {name: [] for name in ["anova", "analyze", "shapiro", "statsmodels", "scipy"]}
    for _ in range(ROUNDS):
        found["anova"].append(ours(harness, "anova", file, 200))
        found["statsmodels"].append(1000 * statistics.median(seconds(lambda: anova(frame))[0] for _ in range(5)))
        found["analyze"].append(ours(harness, "analyze", file, 20))
        found["shapiro"].append(ours(harness, "shapiro", values, 100))
        calls = [seconds(lambda: scipy.stats.shapiro(sample))[0] for _ in range(50)]
        found["scipy"].append(1000 * statistics.median(calls))
    return {
        "anova_320x10": {
            "trainwright_ms": spread(found["anova"]),
            "statsmodels_ms": spread(found["statsmodels"]),
            "times_faster": ratio(found["statsmodels"], found["anova"]),
        },
        "analyze_320x10": {
            "trainwright_ms": spread(found["analyze"]),
            "times_faster_than_the_table_alone": ratio(found["statsmodels"], found["analyze"]),
        },
        "shapiro_5000": {
            "trainwright_ms": spread(found["shapiro"]),
            "scipy_ms": spread(found["scipy"]),
            "times_faster": ratio(found["scipy"], found["shapiro"]),
        },
    }


def program_run(program, file):
    """Seconds and peak bytes of the whole program, and what it printed."""
    words = [program, "analyze", "--data", file, "--formula", FORMULA, "--json"]
    # A child's peak starts at its parent's size, so a small process stands between.
    starter = (
        "import os, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=sys.stdout)\n"
        "_, status, usage = os.wait4(child.pid, 0)\n"
        "print(time.perf_counter() - start, usage.ru_maxrss, status, file=sys.stderr)"
    )
    with open(file.with_suffix(".json"), "wb") as out:
        command = [sys.executable, "-c", starter, *words]
        told = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=True)
    elapsed, peak, status = told.stderr.split()[-3:]
    assert status == "0", told.stderr
    found = json.loads(file.with_suffix(".json").read_text())
    return float(elapsed), 1024 * int(peak), found


def million(programs, folder):
    file = folder / "million.csv"
    table(1_000_000, 3).to_csv(file, index=False)
    in_memory, own, peak, peer, with_reading = [], [], [], [], []
    for _ in range(MILLION_ROUNDS):
        in_memory.append(ours(programs / "examples" / "statistics_speed", "tables", file, 9) / 1000)
        elapsed, memory, found = program_run(programs / "trainwright", file)
        own.append(elapsed)
        peak.append(memory)
        reading, frame = seconds(lambda: pandas.read_csv(file))
        fitting, expected = seconds(lambda: anova(frame))
        peer.append(fitting)
        with_reading.append(reading + fitting)
        rows = {row["term"]: row for row in found["anova"][1]["rows"]}
        for term in expected.index[:-1]:
            gap = abs(rows[term]["sum_sq"] / expected["sum_sq"][term] - 1)
            assert gap < 1e-8, (term, gap)
        del frame
    return {
        "csv_bytes": file.stat().st_size,
        "trainwright_in_memory_s": spread(in_memory),
        "statsmodels_in_memory_s": spread(peer),
        "times_faster_in_memory": ratio(peer, in_memory),
        "trainwright_s": spread(own),
        "trainwright_peak_bytes": max(peak),
        "statsmodels_with_reading_s": spread(with_reading),
        "statsmodels_peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "times_faster_reading_on_both_sides": ratio(with_reading, own),
    }


def main():
    programs, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = small(programs / "examples" / "statistics_speed", folder)
        result["million_x_10"] = million(programs, folder)
    result["machine"] = {"processors": os.cpu_count(), "system": platform.platform()}
    result["versions"] = {
        "statsmodels": statsmodels.__version__,
        "scipy": scipy.__version__,
        "pandas": pandas.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
    }
    output.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
