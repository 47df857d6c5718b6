"""Live pages under load, and the first page beside optuna-dashboard.

Load: the same study of short trials (20 a second) runs alone and with 200 page viewers, in turns;
each viewer listens to events and fetches its page after each. One more visitor, in a process of its
own, takes the time of page after page: the viewers share one process, whose work delays their
clocks. Told: how much longer trials take, how long pages take (99th percentile), and the memory of
the server.

First page: 1,000 and 10,000 trials with the same factors and values in both; each server is started
anew, and the time from the request until everything that the page of trials needs has arrived is
taken. For optuna-dashboard these are the page, its script and the study with its trials.
"""

import asyncio
import json
import multiprocessing
import os
import platform
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
SMOKE = "--smoke" in sys.argv
VIEWERS = 20 if SMOKE else 200
TRIALS = 60 if SMOKE else 600
ROUNDS = 1 if SMOKE else 3
SIZES = [1_000] if SMOKE else [1_000, 10_000]
STARTS = 2 if SMOKE else 7


def load_study(folder, name):
    text = f"""schema = 1
[study]
name = "{name}"
[factors.a]
levels = [1, 2]
[factors.b]
levels = [1, 2]
[design]
type = "full"
replications = {TRIALS // 4}
[run]
command = ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.08; echo '{{\\"y\\": {{a}}{{b}}}}' >> $TRAINWRIGHT_METRICS"]
[metrics.y]
from = "jsonl"
objective = "minimize"
[metrics.time]
from = "wall"
unit = "s"
"""
    (folder / f"{name}.toml").write_text(text)


def run_study(folder, name):
    return subprocess.Popen(
        [PROGRAM, "run", f"{name}.toml", "--slots", "2", "--no-flush"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )


def times_of(folder, name):
    text = subprocess.run(
        [PROGRAM, "export", f"{name}.toml", "--format", "json"],
        cwd=folder, capture_output=True, text=True, check=True,
    ).stdout
    return [row["time"] for row in json.loads(text)["rows"] if row["time"] is not None]


def served(folder, *more):
    child = subprocess.Popen(
        [PROGRAM, "serve", str(folder), "--listen", "127.0.0.1:0", *more],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )
    line = child.stderr.readline()
    return child, int(re.search(r":(\d+)/", line).group(1))


def memory_mb(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return None


async def fetch(port, path, answers):
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read(-1)
    writer.close()
    answers.append((time.perf_counter() - begun, answer.startswith(b"HTTP/1.1 200")))


async def viewer(port, name, path, answers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /events?study={name} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    while line := await reader.readline():
        if line.startswith(b"data: "):
            await fetch(port, path, answers)
    writer.close()


PAGES = ["", "/trials", "/effects", "/fit", "/design", "/trials/5"]


def timed_pages(port, name, ended, told):
    """A visitor in a process of its own, one page after the other, whose clock no other visitor holds up."""
    taken = []
    while not ended.is_set():
        begun = time.perf_counter()
        with socket.create_connection(("127.0.0.1", port)) as own:
            path = f"/s/{name}{PAGES[len(taken) % len(PAGES)]}"
            own.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            start, rest = own.recv(12), True
            while rest:
                rest = own.recv(1 << 20)
        taken.append((time.perf_counter() - begun, start == b"HTTP/1.1 200"))
        time.sleep(0.03)
    told.put(taken)


async def viewers(port, name, child, answers):
    pages = PAGES
    tasks = [
        asyncio.create_task(viewer(port, name, f"/s/{name}{pages[number % len(pages)]}", answers))
        for number in range(VIEWERS)
    ]
    while child.poll() is None:
        await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def quantiles(answers):
    taken = sorted(own[0] for own in answers)
    at = lambda share: 1000 * taken[min(len(taken) - 1, int(share * len(taken)))]
    return {"pages": len(taken), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "most": 1000 * taken[-1]}


def load():
    alone, watched, answers, timed, memory = [], [], [], [], None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(ROUNDS):
            load_study(folder, f"alone{number}")
            run_study(folder, f"alone{number}").wait()
            alone += times_of(folder, f"alone{number}")
            own = f"watched{number}"
            load_study(folder, own)
            server, port = served(folder)
            child = run_study(folder, own)
            while own not in urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/studies").read().decode():
                time.sleep(0.05)
            ended, told = multiprocessing.Event(), multiprocessing.Queue()
            clock = multiprocessing.Process(target=timed_pages, args=(port, own, ended, told))
            clock.start()
            asyncio.run(viewers(port, own, child, answers))
            ended.set()
            timed += told.get()
            clock.join()
            memory = memory_mb(server.pid)
            server.terminate()
            server.wait()
            watched += times_of(folder, own)
    return {
        "viewers": VIEWERS,
        "trials": len(watched),
        "trial_s_alone": statistics.median(alone),
        "trial_s_watched": statistics.median(watched),
        "slower_percent": 100 * (statistics.median(watched) / statistics.median(alone) - 1),
        "failed_pages": sum(not own[1] for own in answers + timed),
        "page_ms": quantiles(timed),
        "page_ms_of_viewers_in_one_process": quantiles(answers),
        "server_peak_memory_mb": memory,
    }


def rows(number):
    random.seed(1)
    levels = [2**place for place in range(10)]
    for index in range(number):
        a, b, c = levels[index % 10], levels[index // 10 % 10], index // 100 % 10 + 1
        yield a, b, c, abs(a - 16) / 100 + b / 300 / c + random.gauss(0, 0.02)


def ours(folder, number):
    copies = number // 1000
    table = "lr,batch,depth,loss\n" + "".join(f"{a},{b},{c},{y}\n" for a, b, c, y in rows(number))
    (folder / "many.csv").write_text(table)
    levels = [2**place for place in range(10)]
    (folder / "many.toml").write_text(f"""schema = 1
[study]
name = "many"
[factors.lr]
levels = {levels}
[factors.batch]
levels = {levels}
[factors.depth]
levels = [1,2,3,4,5,6,7,8,9,10]
[design]
type = "full"
replications = {copies}
[metrics.loss]
objective = "minimize"
""")
    subprocess.run([PROGRAM, "import", "many.csv", "--study", "many.toml"], cwd=folder, check=True,
                   capture_output=True)


def theirs(folder, number):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = f"sqlite:///{folder}/optuna.db"
    study = optuna.create_study(study_name="many", storage=storage)
    of = optuna.distributions.FloatDistribution
    spaces = {"lr": of(1, 512), "batch": of(1, 512), "depth": of(1, 10)}
    study.add_trials([
        optuna.trial.create_trial(params={"lr": a, "batch": b, "depth": c}, distributions=spaces, value=y)
        for a, b, c, y in rows(number)
    ])
    return storage


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.read().decode(errors="replace")


def first_page_ours(folder):
    server, port = served(folder)
    begun = time.perf_counter()
    page = get(port, "/s/many/trials")
    for path in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page):
        get(port, path)
    taken = time.perf_counter() - begun
    server.terminate()
    server.wait()
    assert "trials." in page
    return taken


def first_page_theirs(storage):
    import socket

    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port = own.getsockname()[1]
    command = [str(Path(sys.executable).parent / "optuna-dashboard"), storage, "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            get(port, "/favicon.ico")
            break
        except urllib.error.HTTPError:
            break
        except OSError:
            time.sleep(0.05)
    begun = time.perf_counter()
    page = get(port, "/dashboard/studies/1/trials")
    for path in re.findall(r'src="(/[^"]+)"', page):
        get(port, path)
    told = json.loads(get(port, "/api/studies/1?after=0"))
    taken = time.perf_counter() - begun
    server.terminate()
    server.wait()
    return taken, len(told["trials"])


def first_pages():
    out = []
    for number in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ours(folder, number)
            storage = theirs(folder, number)
            own, other = [], []
            for _ in range(STARTS):
                own.append(first_page_ours(folder))
                taken, trials = first_page_theirs(storage)
                assert trials == number, trials
                other.append(taken)
            ratio = statistics.median(other) / statistics.median(own)
            out.append({"trials": number, "trainwright_s": statistics.median(own),
                        "optuna_dashboard_s": statistics.median(other), "times_faster": ratio,
                        "spread_s": [min(own), max(own), min(other), max(other)]})
    return out


def main():
    from importlib.metadata import version

    result = {
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
        "versions": {"optuna": version("optuna"), "optuna-dashboard": version("optuna-dashboard")},
        "load": load(),
    }
    if "--load" not in sys.argv:
        result["first_page"] = first_pages()
    place = Path("target/bench-smoke/web.json" if SMOKE else "bench/web/result.json")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
