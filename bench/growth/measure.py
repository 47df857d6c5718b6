"""Times `check` and `import` on studies of n, 2n and 4n and prints the growth exponent.

An exponent of 1 is linear growth, 2 quadratic. Time that does not grow, such as starting the
program, is measured on a study of two levels and taken off.
"""

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
HEAD = 'schema = 1\n[study]\nname = "growth"\nseed = 1\n'
METRIC = "[metrics.y]\n"


def levels(n):
    """One factor of n numbers."""
    own = ", ".join(str(i) for i in range(n))
    return f'{HEAD}[factors.x]\nlevels = [{own}]\n[design]\ntype = "full"\n{METRIC}'


def range_rows(n):
    """A table of n values of a range."""
    own = ", ".join(f"[{(i + 1) / (n + 2)}]" for i in range(n))
    factor = "[factors.x]\nrange = { from = 0.0, to = 1.0 }\n"
    return f'{HEAD}{factor}[design]\ntype = "table"\nrows = [{own}]\n{METRIC}'


def open_range(_):
    """A range without a design, for results of any value."""
    return f"{HEAD}[factors.x]\nrange = {{ from = 0.0, to = 1.0 }}\n{METRIC}"


def one_factor(n):
    """n factors that leave the baseline one at a time; the rows have n * n cells."""
    own = "".join(f"[factors.f{i}]\nlevels = [0, 1]\n" for i in range(n))
    return f'{HEAD}{own}[design]\ntype = "one-factor"\n{METRIC}[analysis]\nterms = "main"\n'


def level_results(n):
    return "x,y\n" + "".join(f"{i},{i * 0.5}\n" for i in range(n))


def range_results(n):
    return "x,y\n" + "".join(f"{(i + 1) / (n + 2)},{i * 0.5}\n" for i in range(n))


CASES = [
    # name, verb, study, results, n
    ("check: levels of a factor", "check", levels, None, 30_000),
    ("check: rows of a range", "check", range_rows, None, 16_000),
    ("check: one-factor factors", "check", one_factor, None, 200),
    ("import: lines and rows of a full design", "import", levels, level_results, 10_000),
    ("import: lines without a design", "import", open_range, range_results, 10_000),
]


def seconds(program, verb, study, results):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "study.toml"), "w", encoding="utf-8") as file:
            file.write(study)
        words = [program, "check", "study.toml"]
        if verb == "import":
            with open(os.path.join(folder, "results.csv"), "w", encoding="utf-8") as file:
                file.write(results)
            words = [program, "import", "results.csv", "--study", "study.toml"]
        start = time.perf_counter()
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def measure(program, verb, study, results, n):
    text = study(n)
    table = results(n) if results else None
    return min(seconds(program, verb, text, table) for _ in range(ROUNDS))


def main(program, out):
    program = os.path.abspath(program)
    start = min(seconds(program, "check", levels(2), None) for _ in range(ROUNDS))
    rows = []
    for name, verb, study, results, n in CASES:
        times = [measure(program, verb, study, results, n * times) for times in (1, 2, 4)]
        grown = [max(own - start, 1e-4) for own in times]
        exponent = math.log(grown[2] / grown[0]) / math.log(4)
        print(f"{name}: n = {n}, " + ", ".join(f"{own:.3f} s" for own in times), end="")
        print(f" at n, 2n, 4n; grows with the power {exponent:.2f}")
        rows.append({"case": name, "n": n, "seconds": times, "exponent": exponent})
    machine = {"cpu": platform.machine(), "cores": os.cpu_count()}
    result = {"question": "how do check and import grow", "machine": machine, "rounds": ROUNDS}
    result |= {"start_s": start, "rows": rows}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
        file.write("\n")


main(*sys.argv[1:])
