//! A real Spark cluster on loopback: a master, and workers on 127.0.0.1 and 127.0.0.2.
//!
//! Each worker has an address of its own, since Spark starts no second attempt at a task on a host
//! that has one already.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than a busy machine takes to start a daemon.
const STARTS: Duration = Duration::from_secs(120);

/// A cluster that ends with the process that started it.
pub(crate) struct Cluster {
    /// What spark-submit calls it.
    pub(crate) master: String,
    daemons: Vec<Daemon>,
    home: PathBuf,
    folder: TempDir,
}

/// A process of Java that ends when its keeper's input closes, as it does when we end.
struct Daemon {
    keeper: Child,
    input: ChildStdin,
}

impl Cluster {
    /// Whether Spark and Java are here; says so loudly where they are not.
    pub(crate) fn is_possible() -> bool {
        static POSSIBLE: OnceLock<bool> = OnceLock::new();
        *POSSIBLE.get_or_init(|| {
            let found = home();
            if let Err(why) = &found {
                println!("SKIPPED: Spark: {why}");
            }
            found.is_ok()
        })
    }

    /// Starts a master and two workers of so many cores.
    pub(crate) fn start(cores: u32) -> Self {
        let home = home().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { master: String::new(), daemons: Vec::new(), home, folder };
        let words = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"];
        cluster.daemon("master.Master", &words, "master");
        cluster.master = cluster.wait_for("master", |line| {
            let at = line.find("Starting Spark master at ")?;
            Some(line[at..].split_whitespace().last()?.to_owned())
        });
        for worker in 1..=2 {
            cluster.add_worker(worker, cores);
        }
        cluster
    }

    /// Starts a worker at the address of this number and waits until the master knows it.
    pub(crate) fn add_worker(&mut self, number: u32, cores: u32) {
        let name = format!("worker-{number}-{}", self.daemons.len());
        let (host, work) = (format!("127.0.0.{number}"), self.folder.path().join(&name));
        let (cores, master) = (cores.to_string(), self.master.clone());
        let words = [
            "--host",
            &host,
            "--port",
            "0",
            "--webui-port",
            "0",
            "-c",
            &cores,
            "-m",
            "2g",
            "-d",
            work.to_str().unwrap(),
            &master,
        ];
        self.daemon("worker.Worker", &words, &name);
        self.wait_for(&name, |line| line.contains("Successfully registered").then_some(()));
    }

    fn daemon(&mut self, class: &str, words: &[&str], name: &str) {
        let log = self.folder.path().join(format!("{name}.log"));
        let file = File::create(&log).unwrap();
        let script = "\"$@\" & child=$!; read -r _; kill -9 $child";
        let class = format!("org.apache.spark.deploy.{class}");
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(self.home.join("bin/spark-class")).arg(class);
        command.args(words).env("SPARK_HOME", &self.home).env("SPARK_NO_DAEMONIZE", "1");
        command.env("SPARK_DAEMON_MEMORY", "256m").env("SPARK_LOCAL_DIRS", self.folder.path());
        command.stdin(Stdio::piped()).stdout(file.try_clone().unwrap()).stderr(file);
        let mut keeper = command.spawn().unwrap();
        let input = keeper.stdin.take().unwrap();
        self.daemons.push(Daemon { keeper, input });
    }

    /// Waits for a line in a daemon's log.
    fn wait_for<T>(&self, name: &str, found: impl Fn(&str) -> Option<T>) -> T {
        let log = self.folder.path().join(format!("{name}.log"));
        let begun = Instant::now();
        loop {
            let lines = BufReader::new(File::open(&log).unwrap()).lines();
            if let Some(value) = lines.map_while(Result::ok).find_map(|line| found(&line)) {
                return value;
            }
            let text = || std::fs::read_to_string(&log).unwrap();
            assert!(begun.elapsed() < STARTS, "{name} does not start: {}", text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[allow(dead_code, reason = "one of the two test programs that share this file loses none")]
    /// Kills a worker's daemon and its executors, as the loss of a machine would.
    pub(crate) fn kill_worker(&self, number: u32) {
        let host = format!("127.0.0.{number}");
        for (pid, words) in processes() {
            if words.contains("deploy.worker.Worker")
                && words.contains(&format!("--host {host} "))
                && words.contains(&*self.folder.path().to_string_lossy())
            {
                kill(pid);
            }
        }
        self.kill_executors(Some(&host));
    }

    /// Kills the executors of a host, or of all; gives how many there were.
    pub(crate) fn kill_executors(&self, host: Option<&str>) -> usize {
        let mut killed = 0;
        for (pid, words) in processes() {
            let on_host = host.is_none_or(|host| words.contains(&format!("--hostname {host}")));
            if words.contains("CoarseGrainedExecutorBackend")
                && on_host
                && working_folder(pid).is_some_and(|own| own.starts_with(self.folder.path()))
            {
                kill(pid);
                killed += 1;
            }
        }
        killed
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for mut daemon in self.daemons.drain(..) {
            drop(daemon.input);
            let _ = daemon.keeper.wait();
        }
    }
}

/// The folder of Spark, or why there is none.
fn home() -> Result<PathBuf, String> {
    let said = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    };
    said("java", &["-version"])?;
    if let Some(home) = std::env::var_os("SPARK_HOME") {
        return Ok(home.into());
    }
    let python = std::env::var("PYSPARK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let words = "import os, pyspark; print(os.path.dirname(pyspark.__file__))";
    said(&python, &["-c", words]).map(PathBuf::from)
}

/// All processes with their command lines.
pub(crate) fn processes() -> Vec<(u32, String)> {
    let folder = std::fs::read_dir("/proc").unwrap();
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let words = |pid: u32| {
        let mut text = Vec::new();
        File::open(format!("/proc/{pid}/cmdline")).ok()?.read_to_end(&mut text).ok()?;
        Some((pid, String::from_utf8_lossy(&text).replace('\0', " ")))
    };
    pids.filter_map(words).collect()
}

pub(crate) fn working_folder(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(Path::new("/proc").join(pid.to_string()).join("cwd")).ok()
}

pub(crate) fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
}
