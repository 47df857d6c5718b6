//! The PySpark process that submits jobs for us, and what becomes of them.

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use trainwright_comm::Secret;

use super::installation::Installation;
use super::jobs::{JobEnd, JobEvent, JobState, Jobs, Shape, TaskFigures, held};
use super::json_lines::{JsonReader, write_line};
use super::link::random_digits;
use super::links;
use super::starting::{EXECUTOR_SECONDS, Starting, end, is_here};
use crate::EngineError;

const SCRIPT: &str = include_str!("driver.py");

/// How long the driver may take to stop its jobs and end.
const FAREWELL: Duration = Duration::from_secs(15);
/// Seconds without a new executor after which there are as many as there will be.
const SETTLED_SECONDS: f64 = 5.0;

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

/// What the driver tells.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Told {
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
        let failed = |source: io::Error| EngineError::SparkStart {
            master: master.clone(),
            said: source.to_string(),
        };
        let script = tempfile::Builder::new().prefix("trainwright-").tempdir().map_err(failed)?;
        let path = script.path().join("trainwright_driver.py");
        fs::write(&path, SCRIPT).map_err(failed)?;
        let line = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = line.local_addr().map_err(failed)?.to_string();
        let digits = random_digits()?;
        let words = (path.as_path(), address.as_str(), digits.as_str());
        let mut starting = Starting::launch(&installation, options, words, goes_on)?;
        let stream = starting.called_back(&line, &digits)?;
        let jobs = Arc::new(Jobs::default());
        let ready = listen_to_driver(stream.try_clone().map_err(failed)?, Arc::clone(&jobs));
        let Told::Ready { application, version, slots, host, ui } = starting.ready(&ready)? else {
            return Err(starting.failed("the driver speaks another language".to_owned()));
        };
        if slots == 0 {
            return Err(EngineError::NoExecutors {
                master: master.clone(),
                seconds: EXECUTOR_SECONDS,
            });
        }
        let (header, link_port) = listen_to_tasks(options, &host, digits, &jobs)?;
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

/// Listens to processes of tasks; gives what they must know to call, and the port.
fn listen_to_tasks(
    options: &SparkOptions,
    host: &str,
    digits: String,
    jobs: &Arc<Jobs>,
) -> Result<(Value, u16), EngineError> {
    let failed = |problem: String| EngineError::Link { address: host.to_owned(), problem };
    let here = is_here(&options.master);
    let (bound, host) = if here { ("127.0.0.1", "127.0.0.1") } else { ("0.0.0.0", host) };
    let listener = TcpListener::bind((bound, 0)).map_err(|error| failed(error.to_string()))?;
    let port = listener.local_addr().map_err(|error| failed(error.to_string()))?.port();
    let secret = Secret::new(digits.clone()).map_err(|error| failed(error.to_string()))?;
    links::serve(listener, secret, Arc::clone(jobs));
    let program = options.program.file_name().unwrap_or_default().to_string_lossy();
    let header = json!({
        "program": program,
        "link": format!("{host}:{port}"),
        "secret": digits,
        "folder": std::env::current_dir().ok(),
    });
    Ok((header, port))
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
