"""A standalone cluster of this machine: a master, and workers on 127.0.0.1 and 127.0.0.2.

python cluster.py CORES COMMAND... runs a command with the cluster's address in SPARK_MASTER.
"""

import os
import re
import subprocess
import sys
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
        # The daemon ends with this program, however that ends: its keeper's input closes then.
        keeper = ["sh", "-c", '"$@" & child=$!; read -r _; kill -9 $child', "sh", *command]
        with open(log, "w") as file:
            own = subprocess.Popen(keeper, stdin=subprocess.PIPE, stdout=file, stderr=file, env=env)
        self.daemons.append(own)
        return log

    def workers(self):
        """Processes that all executors descend from."""
        return [daemon.pid for daemon in self.daemons[1:]]

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
            daemon.stdin.close()
            daemon.wait()
        self.folder.cleanup()


if __name__ == "__main__":
    with Cluster(int(sys.argv[1])) as own:
        env = dict(os.environ, SPARK_MASTER=own.master, PYSPARK_PYTHON=sys.executable)
        code = subprocess.run(sys.argv[2:], env=env).returncode
    sys.exit(code)
