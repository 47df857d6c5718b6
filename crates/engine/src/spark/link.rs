//! A task's process and its connection to whoever ordered the job.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trainwright_comm::Secret;

use super::json_lines::{JsonReader, write_line};
use super::links::{Challenge, Hello, RUNNER, hex, unhex};
use crate::EngineError;

/// Exit code of a process whose job has gone away: nobody reads it.
const ORPHANED: i32 = 3;

/// What a task's process is told on its standard input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TaskHeader {
    /// Name of the shipped program.
    pub(super) program: String,
    /// Where the runner listens.
    pub(super) link: String,
    /// The secret that both ends know, in hexadecimal digits.
    pub(super) secret: String,
    /// Number of the job.
    pub(super) job: u64,
    /// Where the runner was started: paths of the user are relative to it.
    #[serde(default)]
    pub(super) folder: Option<PathBuf>,
    /// Which task of Spark it is.
    #[serde(default)]
    pub(super) task: TaskPlace,
}

/// Which task of Spark a process is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPlace {
    /// Its number among the tasks of the job.
    pub partition: u32,
    /// Which attempt it is, from 0.
    pub attempt: u32,
    /// Spark's own number of this attempt.
    pub task_id: u64,
    /// The stage it belongs to.
    pub stage: u64,
    /// The executor's address, where Spark tells it.
    #[serde(default)]
    pub host: Option<String>,
}

/// The first words of the runner: what to do, or that nothing is left to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Go {
    /// Do this.
    Work {
        /// What kind of work.
        kind: String,
        /// The work.
        body: Value,
    },
    /// Somebody else has done it.
    Nothing,
}

/// What reaches a process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    /// A line of the runner.
    Line(Value),
    /// A line of the Python process beside it.
    Beside(Value),
    /// The runner or the Python process has gone.
    Gone,
}

/// A task's process, connected.
#[derive(Debug)]
pub struct ExecutorLink {
    header: TaskHeader,
    stream: Mutex<TcpStream>,
    incoming: Mutex<Receiver<Incoming>>,
    ends_alone: Arc<AtomicBool>,
}

impl ExecutorLink {
    /// Reads the header from the standard input, connects and proves to know the secret.
    ///
    /// # Errors
    /// When the input is no header, or the runner cannot be reached.
    pub fn open() -> Result<Self, EngineError> {
        let mut input = JsonReader::new(io::stdin());
        let broken =
            |problem: String| EngineError::Link { address: "standard input".to_owned(), problem };
        let header: Option<TaskHeader> = input.next().map_err(|error| broken(error.to_string()))?;
        let header = header.ok_or_else(|| {
            broken("there is no task; this verb is started by Spark alone".to_owned())
        })?;
        if let Some(folder) = header.folder.as_ref().filter(|folder| folder.is_dir()) {
            // Without it, only relative paths are not found, and they are named then.
            let _ = std::env::set_current_dir(folder);
        }
        let (sender, incoming) = mpsc::channel();
        let ends_alone = Arc::new(AtomicBool::new(true));
        let (beside, flag) = (sender.clone(), Arc::clone(&ends_alone));
        thread::spawn(move || pass_on(input, &beside, &flag, Incoming::Beside));
        let failed = |error: io::Error| EngineError::Link {
            address: header.link.clone(),
            problem: error.to_string(),
        };
        let stream = connect(&header).map_err(failed)?;
        let reader = JsonReader::new(stream.try_clone().map_err(failed)?);
        let flag = Arc::clone(&ends_alone);
        thread::spawn(move || pass_on(reader, &sender, &flag, Incoming::Line));
        Ok(Self { header, stream: Mutex::new(stream), incoming: Mutex::new(incoming), ends_alone })
    }

    /// Which task of Spark this is.
    pub fn task(&self) -> &TaskPlace {
        &self.header.task
    }

    /// The work of this process; nothing where somebody else has done it.
    ///
    /// # Errors
    /// When the runner has gone or speaks another language.
    pub fn work(&self) -> Result<Option<(String, Value)>, EngineError> {
        let line = match self.receive(None) {
            Some(Incoming::Line(line)) => line,
            _ => return Err(self.trouble("the runner has gone")),
        };
        match serde_json::from_value(line).map_err(|error| self.trouble(&error.to_string()))? {
            Go::Work { kind, body } => Ok(Some((kind, body))),
            Go::Nothing => Ok(None),
        }
    }

    /// From now on this process does not end by itself when the runner goes: the caller looks
    /// after that, because there is more to end.
    pub(crate) fn outlive_runner(&self) {
        self.ends_alone.store(false, Ordering::SeqCst);
    }

    /// What reaches the process next; nothing in this time.
    pub(crate) fn receive(&self, timeout: Option<Duration>) -> Option<Incoming> {
        let incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        match timeout {
            None => Some(incoming.recv().unwrap_or(Incoming::Gone)),
            Some(timeout) => match incoming.recv_timeout(timeout) {
                Ok(own) => Some(own),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Incoming::Gone),
            },
        }
    }

    /// The next line of the runner; nothing when it has gone.
    pub fn next_line(&self) -> Option<Value> {
        loop {
            match self.receive(None)? {
                Incoming::Line(line) => return Some(line),
                Incoming::Beside(_) => {}
                Incoming::Gone => return None,
            }
        }
    }

    /// A line of the runner, if one has come.
    pub fn line_so_far(&self) -> Option<Value> {
        match self.receive(Some(Duration::ZERO))? {
            Incoming::Line(line) => Some(line),
            Incoming::Beside(_) | Incoming::Gone => None,
        }
    }

    /// Tells the other ranks of a gang where this one listens, by the barrier of Spark; gives the
    /// addresses of all.
    ///
    /// # Errors
    /// When the Python process beside it has gone.
    pub fn exchange_addresses(&self, own: &str) -> Result<Vec<String>, EngineError> {
        #[derive(Deserialize)]
        struct Addresses {
            addresses: Vec<String>,
        }
        let mut output = io::stdout();
        let told = writeln!(output, "{own}").and_then(|()| output.flush());
        told.map_err(|error| self.trouble(&error.to_string()))?;
        loop {
            match self.receive(None) {
                Some(Incoming::Beside(value)) => {
                    let read: Addresses = serde_json::from_value(value)
                        .map_err(|error| self.trouble(&error.to_string()))?;
                    return Ok(read.addresses);
                }
                Some(Incoming::Line(_)) => {}
                Some(Incoming::Gone) | None => return Err(self.trouble("the runner has gone")),
            }
        }
    }

    /// Tells the runner something.
    ///
    /// # Errors
    /// When it has gone.
    pub fn say(&self, value: &impl Serialize) -> Result<(), EngineError> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        write_line(&mut *stream, value).map_err(|error| self.trouble(&error.to_string()))
    }

    /// Ends the connection in order, so that all that was said arrives.
    pub fn close(&self) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        self.outlive_runner();
        // One that is closed already is as well.
        let _ = stream.shutdown(Shutdown::Write);
    }

    fn trouble(&self, problem: &str) -> EngineError {
        EngineError::Link { address: self.header.link.clone(), problem: problem.to_owned() }
    }
}

/// Connects and proves; the runner proves as well, because it may have us run anything.
fn connect(header: &TaskHeader) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(&header.link)?;
    stream.set_nodelay(true)?;
    // Not buffered beyond a line: the reader that follows must get all of the rest.
    let mut reader = JsonReader::new(OneByOne(&stream));
    let refused = |what: &str| io::Error::other(what.to_owned());
    let secret = Secret::new(header.secret.clone()).map_err(io::Error::other)?;
    let challenge: Challenge = reader.next()?.ok_or_else(|| refused("it was closed at once"))?;
    let hello = Hello::new(&secret, &challenge, header)?;
    write_line(&mut &stream, &hello)?;
    let answer: Challenge = reader.next()?.ok_or_else(|| refused("the runner refuses us"))?;
    let proof = unhex(&answer.nonce);
    if !secret.is_proof(&[RUNNER, hello.nonce.as_bytes()], &proof) {
        return Err(refused("whoever listens there is not the runner"));
    }
    Ok(stream)
}

/// Reads a byte at a time, so that nothing is taken that belongs to whoever reads next.
struct OneByOne<'a>(&'a TcpStream);

impl io::Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(1);
        io::Read::read(&mut self.0, &mut buffer[..most])
    }
}

fn pass_on<R: io::Read>(
    mut reader: JsonReader<R>,
    sender: &Sender<Incoming>,
    ends_alone: &AtomicBool,
    wrap: fn(Value) -> Incoming,
) {
    while let Ok(Some(value)) = reader.next() {
        if sender.send(wrap(value)).is_err() {
            return;
        }
    }
    if ends_alone.load(Ordering::SeqCst) {
        std::process::exit(ORPHANED);
    }
    // Nobody may be waiting for it.
    let _ = sender.send(Incoming::Gone);
}

/// A new secret of hexadecimal digits, for processes that talk to each other.
///
/// # Errors
/// Where the system gives no random numbers.
pub fn random_digits() -> Result<String, EngineError> {
    let secret = Secret::random().map_err(|error| EngineError::Link {
        address: "the random numbers of this system".to_owned(),
        problem: error.to_string(),
    })?;
    Ok(String::from_utf8_lossy(secret.as_bytes()).into_owned())
}

/// A random number that was not used before, in hexadecimal digits.
pub(super) fn new_nonce() -> io::Result<String> {
    let secret = Secret::random().map_err(io::Error::other)?;
    Ok(hex(&secret.proof(&[b"nonce"])))
}
