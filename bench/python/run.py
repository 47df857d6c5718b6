"""Measures what the Python package costs: an import, a report, and reading 100,000 trials.

Writes bench/python/results.json. Run it with the interpreter that has the wheel installed:
target/python-venv/bin/python bench/python/run.py
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRIALS = 100_000
REPORTS = 200_000

STUDY = """schema = 1
[study]
name = "many"
seed = 7
[factors.lr]
levels = [0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
[factors.batch]
levels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[factors.optimizer]
levels = ["sgd", "adam", "a", "b", "c", "d", "e", "f", "g", "h"]
[design]
type = "full"
replications = 100
[run]
command = ["true", "{lr}", "{batch}", "{optimizer}"]
[metrics.loss]
from = "jsonl"
objective = "minimize"
[metrics.time]
from = "wall"
unit = "s"
"""


def import_ms() -> dict[str, float]:
    """The import beside an interpreter that imports nothing, in turn."""
    times: dict[str, list[float]] = {"with": [], "without": []}
    for _ in range(15):
        for name, script in (("with", "import trainwright"), ("without", "pass")):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", script], check=True)
            times[name].append((time.perf_counter() - begun) * 1000)
    medians = {name: statistics.median(own) for name, own in times.items()}
    return {"import_ms": medians["with"] - medians["without"], "bare_interpreter_ms": medians["without"]}


def report_us(folder: Path) -> float:
    script = (
        "import time, trainwright as tw\n"
        "tw.report(loss=0.5, step=0)\n"
        f"begun = time.perf_counter()\nfor step in range({REPORTS}):\n    tw.report(loss=0.123456789, step=step)\n"
        f"print((time.perf_counter() - begun) / {REPORTS} * 1e6)"
    )
    environment = {**os.environ, "TRAINWRIGHT_METRICS": str(folder / "metrics.jsonl")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def trials_s(folder: Path) -> dict[str, float]:
    import trainwright as tw

    study = folder / "study.toml"
    study.write_text(STUDY)
    levels = [0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    names = ["sgd", "adam", "a", "b", "c", "d", "e", "f", "g", "h"]
    with open(folder / "results.csv", "w") as file:
        file.write("lr,batch,optimizer,loss,time\n")
        for place in range(TRIALS):
            lr, batch, name = levels[place % 10], place // 10 % 10 + 1, names[place // 100 % 10]
            file.write(f"{lr},{batch},{name},{place * 0.37 % 1},{place * 0.11 % 1}\n")
    command = [str(tw.program()), "import", "results.csv", "--study", "study.toml"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    loaded = tw.Study.load(study)
    read, framed = [], []
    for _ in range(9):
        begun = time.perf_counter()
        trials = loaded.trials()
        read.append(time.perf_counter() - begun)
        assert len(trials) == TRIALS
        trials.to_arrow()
        framed.append(time.perf_counter() - begun)
    return {"trials_s": statistics.median(read), "trials_and_arrow_s": statistics.median(framed)}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = {**import_ms(), "report_us": report_us(folder), **trials_s(folder)}
    results = {
        "limits": {"import_ms": 100, "report_us": 10, "trials_s": 0.2},
        "results": {name: round(value, 4) for name, value in results.items()},
        "trials": TRIALS,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    text = json.dumps(results, indent=2)
    (Path(__file__).parent / "results.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
