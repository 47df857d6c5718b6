//! The PySpark process that submits jobs for us, and what becomes of them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use trainwright_comm::Secret;
use trainwright_study::{ClusterTask, Usage};

use super::installation::Installation;
use super::json_lines::{JsonReader, write_line};
use super::links::{self, Link};
use crate::EngineError;

const SCRIPT: &str = include_str!("driver.py");

/// How long spark-submit may take until its program calls back; a busy machine takes half a minute.
const START_TIME: Duration = Duration::from_secs(180);
/// Seconds in which a first executor must come.
const EXECUTOR_SECONDS: f64 = 60.0;
/// How long the driver may take to stop its jobs and end.
const FAREWELL: Duration = Duration::from_secs(15);
/// How often a wish to stop is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Lines of Spark's own output that are told when it fails.
const TAIL: usize = 30;

/// Seconds without a new executor after which there are as many as there will be.
const SETTLED_SECONDS: f64 = 5.0;

/// Settings that the user's own take the place of.
const USUAL: [(&str, &str); 7] = [
    ("spark.ui.port", "0"),
    ("spark.ui.showConsoleProgress", "false"),
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

/// Where and how Spark runs our jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparkOptions {
    /// The cluster, as spark-submit names it: `spark://host:port`, `local[2]`, `yarn`, `k8s://...`.
    pub master: String,
    /// Settings of Spark that the user asks for.
    pub conf: Vec<(String, String)>,
    /// Settings that suit the kind of work, unless the user asks for others.
    pub suited: Vec<(String, String)>,
    /// The program that executors run: this one.
    pub program: PathBuf,
}

/// What a job of Spark told.
#[derive(Debug)]
pub(super) enum JobEvent {
    /// A task's process has come and waits for its work.
    Came(Arc<Link>),
    /// A process said something.
    Said(u64, Value),
    /// A process has gone.
    Left(u64),
    /// The job has ended.
    Ended(JobEnd),
    /// Spark itself is lost, and the job with it.
    Lost(String),
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobEnd {
    /// Whether it did what it should.
    pub(super) state: JobState,
    /// Why not: the end of what the failed process said, or Spark's words.
    pub(super) message: Option<String>,
    /// The attempts at its tasks, as Spark knows them.
    pub(super) tasks: Vec<TaskFigures>,
}

/// Whether a job did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JobState {
    /// All tasks have succeeded.
    Done,
    /// One failed too often.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// What Spark knows of an attempt at a task.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct TaskFigures {
    pub(super) task_id: u64,
    partition: u32,
    attempt: u32,
    executor: String,
    host: String,
    status: String,
    speculative: bool,
    launched_ms: i64,
    duration_ms: Option<f64>,
    scheduler_delay_ms: Option<f64>,
}

impl TaskFigures {
    /// The same with what the process itself told.
    pub(super) fn joined(&self, label: String, usage: Option<Usage>) -> ClusterTask {
        let seconds = |milliseconds: Option<f64>| milliseconds.map(|value| value / 1e3);
        ClusterTask {
            label,
            partition: self.partition,
            attempt: self.attempt + 1,
            executor: self.executor.clone(),
            host: self.host.clone(),
            status: self.status.clone(),
            speculative: self.speculative,
            launched_ms: self.launched_ms,
            duration_s: seconds(self.duration_ms),
            scheduler_delay_s: seconds(self.scheduler_delay_ms),
            usage,
        }
    }

    pub(super) fn partition(&self) -> u32 {
        self.partition
    }
}

/// What the driver tells.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Told {
    Ready { application: String, version: String, slots: u32, host: String, ui: Option<String> },
    Ended { job: u64, state: JobState, message: Option<String>, tasks: Vec<TaskFigures> },
    Slots { job: u64, slots: u32 },
}

/// What is known of an application of Spark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Application {
    /// Spark's name of it.
    pub id: String,
    /// Version of Spark.
    pub version: String,
    /// Address of its pages, where it has some.
    pub ui: Option<String>,
}

/// The shape of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many tasks, each retried alone.
    Map(u32),
    /// So many tasks that run all at once, or not at all.
    Gang(u32),
}

/// Who hears of which job.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    listeners: Mutex<BTreeMap<u64, Sender<(u64, JobEvent)>>>,
    answers: Mutex<BTreeMap<u64, Sender<u32>>>,
    lost: Mutex<Option<String>>,
    over: AtomicBool,
}

impl Jobs {
    /// Tells whoever ordered a job; false where nobody listens any more.
    pub(super) fn tell(&self, job: u64, event: JobEvent) -> bool {
        let mut listeners = held(&self.listeners);
        let last = matches!(event, JobEvent::Ended(_) | JobEvent::Lost(_));
        let heard = listeners.get(&job).is_some_and(|own| own.send((job, event)).is_ok());
        if last {
            listeners.remove(&job);
        }
        heard
    }

    pub(super) fn are_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn lose(&self, reason: &str) {
        held(&self.lost).get_or_insert_with(|| reason.to_owned());
        held(&self.answers).clear();
        for (job, listener) in std::mem::take(&mut *held(&self.listeners)) {
            let _ = listener.send((job, JobEvent::Lost(reason.to_owned())));
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is right after every step, so a panic elsewhere leaves it usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An application of Spark that takes jobs until it is dropped, which ends what still runs.
pub struct SparkDriver {
    application: Application,
    jobs: Arc<Jobs>,
    line: Mutex<TcpStream>,
    next: AtomicU64,
    header: Value,
    link_port: u16,
    child: Mutex<Child>,
    said: Arc<Mutex<VecDeque<String>>>,
    _script: TempDir,
}

impl fmt::Debug for SparkDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparkDriver").field("application", &self.application).finish()
    }
}

impl SparkDriver {
    /// Starts an application and waits for its first executor.
    ///
    /// `goes_on` is asked several times a second; where it says no, the start is given up.
    ///
    /// # Errors
    /// When Spark or Java is not installed, the cluster cannot be reached or gives no executor, or
    /// the start was given up.
    pub fn start(options: &SparkOptions, goes_on: &dyn Fn() -> bool) -> Result<Self, EngineError> {
        let installation = Installation::find()?;
        let master = &options.master;
        let socket =
            |source| EngineError::SparkStart { master: master.clone(), said: format!("{source}") };
        let script = tempfile::Builder::new().prefix("trainwright-").tempdir().map_err(socket)?;
        let path = script.path().join("trainwright_driver.py");
        fs::write(&path, SCRIPT).map_err(socket)?;
        let line = TcpListener::bind("127.0.0.1:0").map_err(socket)?;
        let secret = Secret::random().map_err(|error| socket(io::Error::other(error)))?;
        let digits = String::from_utf8_lossy(secret.as_bytes()).into_owned();
        let mut command = submit_command(&installation, options, &path);
        command.env("TRAINWRIGHT_DRIVER", line.local_addr().map_err(socket)?.to_string());
        command.env("TRAINWRIGHT_DRIVER_SECRET", &digits);
        let program = installation.spark_submit().display().to_string();
        let mut child = command.spawn().map_err(|source| EngineError::Start { program, source })?;
        let said = keep_said(&mut child);
        let mut starting = Starting { master, child: Some(child), said, goes_on };
        let stream = starting.called_back(&line, &digits)?;
        let jobs = Arc::new(Jobs::default());
        let ready = listen_to_driver(stream.try_clone().map_err(socket)?, Arc::clone(&jobs));
        let Told::Ready { application, version, slots, host, ui } = starting.ready(&ready)? else {
            return Err(starting.failed("the driver speaks another language".to_owned()));
        };
        if slots == 0 {
            return Err(EngineError::NoExecutors {
                master: master.clone(),
                seconds: EXECUTOR_SECONDS,
            });
        }
        let everywhere = if is_here(master) { "127.0.0.1:0" } else { "0.0.0.0:0" };
        let listener = TcpListener::bind(everywhere).map_err(socket)?;
        let link_port = listener.local_addr().map_err(socket)?.port();
        let host = if is_here(master) { "127.0.0.1".to_owned() } else { host };
        let shipped =
            options.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let header = json!({
            "program": shipped,
            "link": format!("{host}:{link_port}"),
            "secret": digits,
            "folder": std::env::current_dir().ok(),
        });
        links::serve(listener, secret, Arc::clone(&jobs));
        let (child, said) = starting.done();
        Ok(Self {
            application: Application { id: application, version, ui },
            jobs,
            line: Mutex::new(stream),
            next: AtomicU64::new(1),
            header,
            link_port,
            child: Mutex::new(child),
            said,
            _script: script,
        })
    }

    /// What is known of the application.
    pub fn application(&self) -> &Application {
        &self.application
    }

    /// The port at which processes of tasks call.
    pub fn link_port(&self) -> u16 {
        self.link_port
    }

    /// Tasks that can run at once: told as soon as there are `wanted`, or when no executor has come
    /// for some seconds.
    ///
    /// # Errors
    /// When Spark is lost.
    pub fn slots(&self, wanted: u32) -> Result<u32, EngineError> {
        self.slots_within(wanted, SETTLED_SECONDS)
    }

    /// The same with another time in which executors may come.
    ///
    /// # Errors
    /// When Spark is lost.
    pub fn slots_within(&self, wanted: u32, seconds: f64) -> Result<u32, EngineError> {
        let (sender, answer) = mpsc::channel();
        let job = self.next.fetch_add(1, Ordering::SeqCst);
        held(&self.jobs.answers).insert(job, sender);
        self.order(&json!({"op": "slots", "job": job, "wanted": wanted, "seconds": seconds}));
        let lost = |_| EngineError::SparkLost { reason: self.why_lost() };
        if held(&self.jobs.lost).is_some() {
            held(&self.jobs.answers).remove(&job);
        }
        answer.recv().map_err(lost)
    }

    /// Submits a job whose events go to `listener`; gives its number.
    pub(super) fn submit(
        &self,
        shape: Shape,
        words: &str,
        listener: Sender<(u64, JobEvent)>,
    ) -> u64 {
        let job = self.next.fetch_add(1, Ordering::SeqCst);
        if let Some(reason) = held(&self.jobs.lost).clone() {
            // Whoever is not there any more needs no answer.
            let _ = listener.send((job, JobEvent::Lost(reason)));
            return job;
        }
        held(&self.jobs.listeners).insert(job, listener);
        let (op, count) = match shape {
            Shape::Map(count) => ("map", count),
            Shape::Gang(count) => ("gang", count),
        };
        let mut header = self.header.clone();
        header["job"] = job.into();
        self.order(
            &json!({"op": op, "job": job, "count": count, "words": words, "header": header}),
        );
        job
    }

    /// Cancels a job; its end still comes.
    pub(super) fn cancel(&self, job: u64) {
        self.order(&json!({"op": "cancel", "job": job}));
    }

    fn order(&self, order: &Value) {
        if let Err(error) = write_line(&mut *held(&self.line), order) {
            self.jobs.lose(&format!("the driver's connection broke: {error}"));
        }
    }

    fn why_lost(&self) -> String {
        held(&self.jobs.lost).clone().unwrap_or_else(|| "the driver has gone".to_owned())
    }
}

impl Drop for SparkDriver {
    fn drop(&mut self) {
        self.jobs.over.store(true, Ordering::SeqCst);
        // One that is closed already is as well.
        let _ = held(&self.line).shutdown(Shutdown::Both);
        // The thread that takes connections looks whether all is over when one comes.
        let _ = TcpStream::connect(("127.0.0.1", self.link_port));
        end(&mut held(&self.child), FAREWELL);
        tracing::debug!(last = ?held(&self.said).back(), "the driver has ended");
    }
}

/// Waits for a driver to end, and makes it end when the time is up.
fn end(child: &mut Child, time: Duration) {
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

/// Whether executors can only be on this machine.
fn is_here(master: &str) -> bool {
    master.starts_with("local")
        || master.starts_with("spark://127.")
        || master.starts_with("spark://localhost:")
}

fn submit_command(
    installation: &Installation,
    options: &SparkOptions,
    script: &std::path::Path,
) -> Command {
    let mut command = Command::new(installation.spark_submit());
    command.args(["--master", &options.master, "--name", "trainwright", "--files"]);
    command.arg(&options.program);
    let mut conf: BTreeMap<&str, &str> = USUAL.into();
    if is_here(&options.master) {
        conf.insert("spark.driver.host", "127.0.0.1");
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
struct Starting<'a> {
    master: &'a str,
    child: Option<Child>,
    said: Arc<Mutex<VecDeque<String>>>,
    goes_on: &'a dyn Fn() -> bool,
}

impl Starting<'_> {
    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("the driver is handed over once, at the end")
    }

    /// Waits until the driver connects and knows the secret.
    fn called_back(&mut self, line: &TcpListener, secret: &str) -> Result<TcpStream, EngineError> {
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

    fn ready(&mut self, told: &Receiver<Told>) -> Result<Told, EngineError> {
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

    fn failed(&self, what: String) -> EngineError {
        let lines: Vec<String> = held(&self.said).iter().cloned().collect();
        let said = std::iter::once(what).chain(telling(&lines)).collect::<Vec<_>>().join("\n  ");
        EngineError::SparkStart { master: self.master.to_owned(), said }
    }

    fn done(mut self) -> (Child, Arc<Mutex<VecDeque<String>>>) {
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

/// Passes on what the driver tells; its first word goes to the receiver.
fn listen_to_driver(stream: TcpStream, jobs: Arc<Jobs>) -> Receiver<Told> {
    let (sender, ready) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = JsonReader::new(stream);
        let reason = loop {
            match reader.next::<Told>() {
                Ok(Some(Told::Ended { job, state, message, tasks })) => {
                    jobs.tell(job, JobEvent::Ended(JobEnd { state, message, tasks }));
                }
                Ok(Some(Told::Slots { job, slots })) => {
                    if let Some(answer) = held(&jobs.answers).remove(&job) {
                        let _ = answer.send(slots);
                    }
                }
                Ok(Some(told)) => {
                    let _ = sender.send(told);
                }
                Ok(None) => break "Spark's driver has ended".to_owned(),
                Err(error) => break format!("Spark's driver is cut off: {error}"),
            }
        };
        drop(sender);
        jobs.lose(&reason);
    });
    ready
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
    fn what_is_wrong_is_told_before_what_is_not() {
        let lines = ["INFO a", "ERROR b", "INFO c"].map(str::to_owned);
        assert_eq!(telling(&lines), ["ERROR b"]);
        assert_eq!(telling(&lines[..1]), ["INFO a"]);
    }
}
