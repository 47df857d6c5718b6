"""What Spark runs for trainwright: takes orders by a line of JSON each, tells what came of them.

Started by spark-submit, it calls back at the address in TRAINWRIGHT_DRIVER and stays until that
connection closes. A task of a job is one process of the program that was shipped with the
application; all it is told here is where its own work is to be had. The program talks to whoever
ordered the job by itself, so that results come back as they are made. Its standard input stays
open as long as the Python process beside it lives: when it closes, the program ends.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from pyspark import BarrierTaskContext, SparkContext, SparkFiles, TaskContext

# Lines of a process that failed which are told.
TAIL = 40
# Longest wait for figures of Spark; a busy machine takes seconds to answer for the first time.
REST_SECONDS = 30
FAILED = "a process of trainwright failed: "


def start(header, task):
    """Starts the shipped program, gives it its header, and keeps the end of what it says."""
    path = SparkFiles.get(header["program"])
    # In a session of its own: a signal to the group of the Python process must not end it before
    # it has ended what it started itself.
    child = subprocess.Popen(
        [path, "executor"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    tail = []

    def listen():
        for line in child.stderr:
            sys.stderr.buffer.write(line)
            sys.stderr.flush()
            tail.append(line.decode("utf-8", "replace").rstrip("\n"))
            del tail[:-TAIL]

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    tell(child, {**header, "task": task})

    def wait():
        child.stdout.read()
        code = child.wait()
        listener.join(5)
        if code != 0:
            told = {"partition": task["partition"], "attempt": task["attempt"], "code": code}
            raise RuntimeError(FAILED + json.dumps({**told, "stderr": "\n".join(tail)}))

    return child, wait


def tell(child, value):
    try:
        child.stdin.write((json.dumps(value) + "\n").encode())
        child.stdin.flush()
    except BrokenPipeError:
        pass  # It has ended; its exit code says why.


def place(context):
    """Which task of Spark this is."""
    return {
        "partition": context.partitionId(),
        "attempt": context.attemptNumber(),
        "task_id": context.taskAttemptId(),
        "stage": context.stageId(),
    }


def map_partition(header):
    def run(_index, _items):
        _, wait = start(header, place(TaskContext.get()))
        wait()
        return []

    return run


def barrier_partition(header):
    def run(_index, _items):
        context = BarrierTaskContext.get()
        hosts = [info.address.rsplit(":", 1)[0] for info in context.getTaskInfos()]
        task = {**place(context), "host": hosts[context.partitionId()]}
        child, wait = start(header, task)
        # It listens before anybody is told where.
        address = child.stdout.readline().decode().strip()
        if not address:
            wait()
            raise RuntimeError("the program ended before it said where it listens")
        tell(child, {"addresses": list(context.allGather(address))})
        wait()
        return []

    return run


class Driver:
    def __init__(self, line, sc):
        self.line, self.sc = line, sc
        self.lock = threading.Lock()
        self.running = {}

    def say(self, **event):
        with self.lock:
            try:
                self.line.sendall((json.dumps(event) + "\n").encode())
            except OSError:
                pass  # Nobody listens any more; the reading side ends us.

    def obey(self, order):
        kind = order["op"]
        if kind in ("map", "gang"):
            self.running[order["job"]] = threading.Event()
            threading.Thread(target=self.run, args=(order,), daemon=True).start()
        elif kind == "cancel":
            threading.Thread(target=self.cancel, args=(order["job"],), daemon=True).start()
        elif kind == "slots":
            threading.Thread(target=self.slots, args=(order,), daemon=True).start()
        else:
            raise ValueError("unknown order " + kind)

    def run(self, order):
        job, count = order["job"], order["count"]
        group = "trainwright-" + str(job)
        state, message = "done", None
        try:
            self.sc.setJobGroup(group, order["words"], True)
            rows = self.sc.parallelize(range(count), count)
            if self.running[job].is_set():
                raise RuntimeError("cancelled")
            if order["op"] == "gang":
                rows.barrier().mapPartitionsWithIndex(barrier_partition(order["header"])).collect()
            else:
                rows.mapPartitionsWithIndex(map_partition(order["header"])).collect()
        except Exception as error:  # Whatever it is, whoever ordered the job decides.
            # A job that fails because Java is gone is lost with all others, and has not failed.
            time.sleep(0.2)
            leave_if_orphaned()
            state, message = "failed", explain(error)
        if self.running.pop(job).is_set():
            state = "cancelled"
        self.say(event="ended", job=job, state=state, message=message, tasks=self.figures(group))

    def cancel(self, job):
        event = self.running.get(job)
        if event is None or event.is_set():
            return
        event.set()
        # A job that is just being submitted has no group to cancel yet.
        while job in self.running:
            self.sc.cancelJobGroup("trainwright-" + str(job))
            time.sleep(0.1)

    def slots(self, order):
        """Tasks that can run at once: as soon as there are enough, or when none has come for a while."""
        known, changed = self.concurrent(), time.monotonic()
        while known < order["wanted"] and time.monotonic() - changed < order["seconds"]:
            time.sleep(0.05)
            now = self.concurrent()
            if now != known:
                known, changed = now, time.monotonic()
        self.say(event="slots", job=order["job"], slots=known)

    def concurrent(self):
        context = self.sc._jsc.sc()
        profile = context.resourceProfileManager().defaultResourceProfile()
        return context.maxNumConcurrentTasks(profile)

    def wait_for_executors(self, seconds):
        """Whether a first executor has come in this time."""
        until = time.monotonic() + seconds
        while self.concurrent() == 0 and time.monotonic() < until:
            time.sleep(0.05)
        return self.concurrent()

    def rest(self, path):
        base = f"{self.sc.uiWebUrl}/api/v1/applications/{self.sc.applicationId}/"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(base + path, timeout=REST_SECONDS) as reply:
            return json.load(reply)

    def warm_up(self):
        """Asks once, so that the first job need not wait until Spark can answer."""
        try:
            self.rest("jobs")
        except Exception as error:
            print(f"no figures of Spark: {error}", file=sys.stderr)

    def figures(self, group):
        """What Spark knows of the tasks of a job: where, when, how often; nothing where it keeps none."""
        if self.sc.uiWebUrl is None:
            return []
        tracker, rows = self.sc.statusTracker(), []
        try:
            for job in tracker.getJobIdsForGroup(group):
                info = tracker.getJobInfo(job)
                for stage in info.stageIds if info else []:
                    rows += self.stage_tasks(stage)
        except Exception as error:
            print(f"no figures of Spark: {error}", file=sys.stderr)
        return rows

    def stage_tasks(self, stage):
        rows = []
        for attempt in self.rest(f"stages/{stage}?details=true"):
            for task in sorted(attempt["tasks"].values(), key=lambda own: own["taskId"]):
                rows.append({
                    "task_id": task["taskId"],
                    "partition": task.get("partitionId", task["index"]),
                    "attempt": task["attempt"],
                    "stage": stage,
                    "executor": task["executorId"],
                    "host": task["host"],
                    "status": task["status"].lower(),
                    "speculative": task["speculative"],
                    "launched_ms": milliseconds(task["launchTime"]),
                    "duration_ms": task.get("duration"),
                    "scheduler_delay_ms": task.get("schedulerDelay"),
                    "error": in_words(task["errorMessage"]) if task.get("errorMessage") else None,
                })
        return rows


PARENT = os.getppid()


def leave_if_orphaned():
    """Ends this process when Java, which started it, is gone: the closed connection tells why."""
    if os.getppid() != PARENT:
        os._exit(1)


def watch_parent():
    while True:
        leave_if_orphaned()
        time.sleep(0.1)


def milliseconds(text):
    """Milliseconds since 1970 of a time such as 2026-01-02T03:04:05.678GMT."""
    import calendar
    whole, rest = text.split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1000 + int(rest[:3])


def explain(error):
    """Why a job failed."""
    return in_words(str(getattr(error, "java_exception", None) or error))


def in_words(text):
    """What a process said that failed, where one did; Spark's own words otherwise."""
    found = re.search(re.escape(FAILED) + r"(\{.*\})", text)
    if found:
        try:
            told = json.loads(found.group(1))
            first = f"partition {told['partition']}, attempt {told['attempt'] + 1}, ended with {told['code']}"
            return first + (":\n" + told["stderr"] if told["stderr"] else "")
        except (ValueError, KeyError):
            pass
    return text[:4000]


def main():
    host, port = os.environ.pop("TRAINWRIGHT_DRIVER").rsplit(":", 1)
    line = socket.create_connection((host, int(port)))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    secret = os.environ.pop("TRAINWRIGHT_DRIVER_SECRET")
    line.sendall((json.dumps({"secret": secret}) + "\n").encode())
    reader = line.makefile("r", encoding="utf-8")
    greeting = json.loads(reader.readline())
    sc = SparkContext()
    sc.setLogLevel(greeting.get("log_level", "ERROR"))
    driver = Driver(line, sc)
    threading.Thread(target=watch_parent, daemon=True).start()
    if sc.uiWebUrl is not None:
        threading.Thread(target=driver.warm_up, daemon=True).start()
    slots = driver.wait_for_executors(greeting["seconds"])
    driver.say(
        event="ready",
        application=sc.applicationId,
        version=sc.version,
        slots=slots,
        host=sc.getConf().get("spark.driver.host"),
        ui=sc.uiWebUrl,
    )
    try:
        for text in reader:
            driver.obey(json.loads(text))
    except OSError:
        pass  # Whoever ordered the jobs is gone.
    sc.cancelAllJobs()
    sc.stop()
    # Threads of jobs may still wait for the gateway.
    os._exit(0)


if __name__ == "__main__":
    main()
