//! A driver on its way up: spark-submit, its command line, and why it did not start.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Deserialize;
use serde_json::json;

use super::driver::{SparkOptions, Told};
use super::installation::Installation;
use super::jobs::held;
use super::json_lines::{JsonReader, write_line};
use crate::EngineError;

/// How long spark-submit may take until its program calls back; a busy machine takes half a minute.
const START_TIME: Duration = Duration::from_secs(180);
/// Seconds in which a first executor must come.
pub(super) const EXECUTOR_SECONDS: f64 = 60.0;
/// How often a wish to stop is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Lines of Spark's own output that are told when it fails.
const TAIL: usize = 30;

/// How Java runs that does no work itself.
const SCHEDULES_ONLY: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/// Settings that the user's own take the place of.
const USUAL: [(&str, &str); 9] = [
    ("spark.ui.port", "0"),
    ("spark.ui.showConsoleProgress", "false"),
    // Java only schedules here. It does so from the first tasks on where it compiles quickly and
    // not well, and leaves the processors to the work.
    ("spark.driver.defaultJavaOptions", SCHEDULES_ONLY),
    ("spark.executor.defaultJavaOptions", SCHEDULES_ONLY),
    // Data does not lie on executors, so none is worth waiting for.
    ("spark.locality.wait", "0s"),
    // Spark would look 40 times, 15 seconds apart, before it refuses a gang that does not fit.
    ("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s"),
    ("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "1"),
    // A task that is cancelled ends within this time, and its process with it.
    ("spark.python.task.killTimeout", "1s"),
    // A lost executor counts as lost after this time without a sign of life.
    ("spark.network.timeout", "60s"),
];

/// Whether executors can only be on this machine.
pub(super) fn is_here(master: &str) -> bool {
    master.starts_with("local")
        || master.starts_with("spark://127.")
        || master.starts_with("spark://localhost:")
}

/// Whether Java and Python of an executor talk over a socket of the file system: over TCP each task
/// waited 40 ms, by small messages and late receipts.
///
/// YARN gives its containers temporary folders whose paths are longer than a socket's may be, so
/// only executors with the system's own folder do.
fn has_short_folders(master: &str) -> bool {
    master.starts_with("local") || master.starts_with("spark://")
}

fn submit_command(installation: &Installation, options: &SparkOptions, script: &Path) -> Command {
    let mut command = Command::new(installation.spark_submit());
    command.args(["--master", &options.master, "--name", "trainwright", "--files"]);
    command.arg(&options.program);
    let mut conf: BTreeMap<&str, &str> = USUAL.into();
    if is_here(&options.master) {
        conf.insert("spark.driver.host", "127.0.0.1");
    }
    if has_short_folders(&options.master) {
        conf.insert("spark.python.unix.domain.socket.enabled", "true");
    }
    let own = options.suited.iter().chain(&options.conf);
    conf.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
    for (name, value) in conf {
        command.arg("--conf").arg(format!("{name}={value}"));
    }
    command.arg(script).env("SPARK_HOME", &installation.home);
    command.env("PYSPARK_DRIVER_PYTHON", &installation.python);
    if std::env::var_os("PYSPARK_PYTHON").is_none() {
        command.env("PYSPARK_PYTHON", &installation.python);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C is for us; the driver ends when its connection does.
    command.process_group(0);
    command
}

/// Waits for a driver to end, and makes it end when the time is up.
pub(super) fn end(child: &mut Child, time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
    if let Ok(group) = i32::try_from(child.id()) {
        // Java and Python are in one group, which they lead.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.wait();
}

/// Keeps the last lines of what Spark says.
fn keep_said(child: &mut Child) -> Arc<Mutex<VecDeque<String>>> {
    let said = Arc::new(Mutex::new(VecDeque::new()));
    if let Some(stderr) = child.stderr.take() {
        let kept = Arc::clone(&said);
        thread::spawn(move || {
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                tracing::debug!(line, "spark");
                let mut kept = held(&kept);
                kept.push_back(line);
                let above = kept.len().saturating_sub(TAIL);
                kept.drain(..above);
            }
        });
    }
    said
}

/// A driver on its way up; it ends where that fails.
pub(super) struct Starting<'a> {
    master: &'a str,
    child: Option<Child>,
    said: Arc<Mutex<VecDeque<String>>>,
    goes_on: &'a dyn Fn() -> bool,
}

impl<'a> Starting<'a> {
    /// Starts spark-submit with a script that is to call back at an address.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn launch(
        installation: &Installation,
        options: &'a SparkOptions,
        (script, address, secret): (&Path, &str, &str),
        goes_on: &'a dyn Fn() -> bool,
    ) -> Result<Self, EngineError> {
        let mut command = submit_command(installation, options, script);
        command.env("TRAINWRIGHT_DRIVER", address).env("TRAINWRIGHT_DRIVER_SECRET", secret);
        let program = installation.spark_submit().display().to_string();
        let mut child = command.spawn().map_err(|source| EngineError::Start { program, source })?;
        let said = keep_said(&mut child);
        Ok(Self { master: &options.master, child: Some(child), said, goes_on })
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("the driver is handed over once, at the end")
    }

    /// Waits until the driver connects and knows the secret.
    pub(super) fn called_back(
        &mut self,
        line: &TcpListener,
        secret: &str,
    ) -> Result<TcpStream, EngineError> {
        let begun = Instant::now();
        let failed = |error: io::Error| error.to_string();
        line.set_nonblocking(true).map_err(|error| self.failed(failed(error)))?;
        loop {
            self.look()?;
            if begun.elapsed() > START_TIME {
                return Err(self.failed("it did not call back".to_owned()));
            }
            let Ok((stream, _)) = line.accept() else {
                thread::sleep(LOOK_EVERY);
                continue;
            };
            if let Ok(Some(stream)) = greeted(stream, secret) {
                return Ok(stream);
            }
        }
    }

    pub(super) fn ready(&mut self, told: &Receiver<Told>) -> Result<Told, EngineError> {
        loop {
            match told.recv_timeout(LOOK_EVERY) {
                Ok(told) => return Ok(told),
                Err(RecvTimeoutError::Timeout) => self.look()?,
                Err(RecvTimeoutError::Disconnected) => {
                    // What it said last is on its way.
                    end(self.child(), Duration::from_secs(5));
                    thread::sleep(LOOK_EVERY);
                    return Err(self.failed("it ended at once".to_owned()));
                }
            }
        }
    }

    fn look(&mut self) -> Result<(), EngineError> {
        if !(self.goes_on)() {
            return Err(EngineError::StartGivenUp);
        }
        if let Ok(Some(status)) = self.child().try_wait() {
            thread::sleep(LOOK_EVERY);
            return Err(self.failed(format!("spark-submit ended with {status}")));
        }
        Ok(())
    }

    pub(super) fn failed(&self, what: String) -> EngineError {
        let lines: Vec<String> = held(&self.said).iter().cloned().collect();
        let said = std::iter::once(what).chain(telling(&lines)).collect::<Vec<_>>().join("\n  ");
        EngineError::SparkStart { master: self.master.to_owned(), said }
    }

    pub(super) fn done(mut self) -> (Child, Arc<Mutex<VecDeque<String>>>) {
        (self.child.take().expect("it was not handed over before"), Arc::clone(&self.said))
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child, Duration::ZERO);
        }
    }
}

/// Those lines of Spark that say what is wrong; the last ones where none does.
fn telling(lines: &[String]) -> Vec<String> {
    let tells = |line: &&String| {
        ["ERROR", "Exception", "Error:", "WARN Standalone"].iter().any(|word| line.contains(word))
    };
    let found: Vec<String> = lines.iter().filter(tells).take(8).cloned().collect();
    if found.is_empty() { lines[lines.len().saturating_sub(8)..].to_vec() } else { found }
}

/// Whether the caller is our driver; then it is told how long executors are waited for.
fn greeted(stream: TcpStream, secret: &str) -> io::Result<Option<TcpStream>> {
    #[derive(Deserialize)]
    struct Greeting {
        secret: String,
    }
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let greeting: Option<Greeting> = JsonReader::new(stream.try_clone()?).next()?;
    if greeting.is_none_or(|own| own.secret != secret) {
        return Ok(None);
    }
    stream.set_read_timeout(None)?;
    write_line(&mut &stream, &json!({"seconds": EXECUTOR_SECONDS}))?;
    Ok(Some(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_settings_take_the_place_of_ours() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let options = SparkOptions {
            master: "spark://10.0.0.1:7077".to_owned(),
            conf: vec![pair("spark.locality.wait", "3s"), pair("a", "2")],
            suited: vec![pair("a", "1"), pair("spark.speculation", "true")],
            program: "/opt/trainwright".into(),
        };
        let found = Installation { home: "/spark".into(), python: "python3".into() };
        let command = submit_command(&found, &options, "driver.py".as_ref());
        let words: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words[..5],
            ["--master", "spark://10.0.0.1:7077", "--name", "trainwright", "--files"]
        );
        assert!(words.contains(&"spark.locality.wait=3s") && words.contains(&"a=2"), "{words:?}");
        assert!(words.contains(&"spark.speculation=true") && !words.contains(&"a=1"), "{words:?}");
        assert!(!words.iter().any(|word| word.starts_with("spark.driver.host")), "{words:?}");
        assert_eq!(*words.last().unwrap(), "driver.py");
    }

    #[test]
    fn only_a_cluster_of_this_machine_is_spoken_to_over_loopback() {
        for here in
            ["local[2]", "local-cluster[2,1,512]", "spark://127.0.0.1:7077", "spark://localhost:1"]
        {
            assert!(is_here(here), "{here}");
        }
        for elsewhere in
            ["spark://10.1.2.3:7077", "yarn", "k8s://https://x:443", "spark://localhost.example:1"]
        {
            assert!(!is_here(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn sockets_of_the_file_system_are_for_executors_with_the_systems_own_folder() {
        for short in ["local[2]", "local-cluster[2,1,512]", "spark://10.1.2.3:7077"] {
            assert!(has_short_folders(short), "{short}");
        }
        for unknown in ["yarn", "k8s://https://x:443"] {
            assert!(!has_short_folders(unknown), "{unknown}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_before_what_is_not() {
        let lines = ["INFO a", "ERROR b", "INFO c"].map(str::to_owned);
        assert_eq!(telling(&lines), ["ERROR b"]);
        assert_eq!(telling(&lines[..1]), ["INFO a"]);
    }
}
