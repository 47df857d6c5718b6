"""A standalone cluster of this machine: a master, and workers on 127.0.0.1 and 127.0.0.2."""

import os
import re
import subprocess
import tempfile
import time

import pyspark


class Cluster:
    def __init__(self, cores):
        self.home = os.path.dirname(pyspark.__file__)
        self.folder = tempfile.TemporaryDirectory()
        self.daemons = []
        log = self.start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = self.wait(log, r"Starting Spark master at (\S+)")
        for number in (1, 2):
            words = ["--host", f"127.0.0.{number}", "--port", "0", "--webui-port", "0"]
            words += ["-c", str(cores), "-m", "2g", "-d", os.path.join(self.folder.name, str(number))]
            self.wait(self.start("worker.Worker", *words, self.master), r"(Successfully registered)")

    def start(self, kind, *words):
        log = os.path.join(self.folder.name, f"{len(self.daemons)}.log")
        command = [os.path.join(self.home, "bin/spark-class"), "org.apache.spark.deploy." + kind, *words]
        env = dict(os.environ, SPARK_HOME=self.home, SPARK_DAEMON_MEMORY="256m")
        with open(log, "w") as file:
            self.daemons.append(subprocess.Popen(command, stdout=file, stderr=file, env=env))
        return log

    def wait(self, log, pattern):
        for _ in range(1200):
            with open(log) as file:
                found = re.search(pattern, file.read())
            if found:
                return found.group(1)
            time.sleep(0.1)
        raise SystemExit(open(log).read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()
        self.folder.cleanup()
