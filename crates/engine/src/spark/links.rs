//! The runner's ends of the connections with the processes of tasks.
//!
//! Both sides prove that they know the secret of the application, which is not sent. What follows is
//! neither encrypted nor signed, as Spark's own traffic is not unless it is told to be: use a
//! trusted network.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use trainwright_comm::Secret;

use super::jobs::{JobEvent, Jobs};
use super::json_lines::{JsonReader, write_line};
use super::link::{TaskHeader, TaskPlace, new_nonce};

/// How long a caller may take to prove that it is one of ours.
const PROOF_TIME: Duration = Duration::from_secs(10);

/// Words that keep the two proofs apart.
pub(super) const RUNNER: &[u8] = b"runner";
const EXECUTOR: &[u8] = b"executor";

/// A random number to be proved with; in the answer, the proof itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Challenge {
    pub(super) nonce: String,
}

/// The first words of a task's process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    proof: String,
    pub(super) nonce: String,
    job: u64,
    task: TaskPlace,
    machine: String,
}

impl Hello {
    pub(super) fn new(
        secret: &Secret,
        challenge: &Challenge,
        header: &TaskHeader,
    ) -> io::Result<Self> {
        let (nonce, job, task) = (new_nonce()?, header.job, header.task.clone());
        let machine = nix::unistd::gethostname()?.to_string_lossy().into_owned();
        let proof = hex(&secret.proof(&[EXECUTOR, challenge.nonce.as_bytes(), &job.to_le_bytes()]));
        Ok(Self { proof, nonce, job, task, machine })
    }
}

/// The connection with a task's process.
#[derive(Debug)]
pub(super) struct Link {
    /// Tells connections apart.
    pub(super) id: u64,
    /// Which task of Spark it is.
    pub(super) task: TaskPlace,
    /// Name of the machine it runs on.
    pub(super) machine: String,
    stream: Mutex<TcpStream>,
}

impl Link {
    /// Tells the process something; one that has gone is noticed by whoever reads.
    pub(super) fn say(&self, value: &impl Serialize) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = write_line(&mut *stream, value) {
            tracing::debug!(%error, "a task's process has gone");
        }
    }

    /// Ends the connection, by which the process ends.
    pub(super) fn close(&self) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has gone is closed.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Takes connections until the listener fails; each has a thread of its own.
pub(super) fn serve(listener: TcpListener, secret: Secret, jobs: Arc<Jobs>) {
    let ids = Arc::new(AtomicU64::new(1));
    thread::spawn(move || {
        for stream in listener.incoming() {
            if jobs.are_over() {
                return;
            }
            let Ok(stream) = stream else { continue };
            let (secret, jobs, ids) = (secret.clone(), Arc::clone(&jobs), Arc::clone(&ids));
            thread::spawn(move || {
                if let Err(error) = attend(stream, &secret, &jobs, &ids) {
                    tracing::debug!(%error, "a caller was turned away");
                }
            });
        }
    });
}

/// Hears one process out.
fn attend(stream: TcpStream, secret: &Secret, jobs: &Jobs, ids: &AtomicU64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PROOF_TIME))?;
    let mut reader = JsonReader::new(stream.try_clone()?);
    let challenge = Challenge { nonce: new_nonce()? };
    write_line(&mut &stream, &challenge)?;
    let Some(hello) = reader.next::<Hello>()? else { return Ok(()) };
    let words = [EXECUTOR, challenge.nonce.as_bytes(), &hello.job.to_le_bytes()];
    if !secret.is_proof(&words, &unhex(&hello.proof)) {
        return Err(io::Error::other("a caller does not know the secret"));
    }
    let nonce = hex(&secret.proof(&[RUNNER, hello.nonce.as_bytes()]));
    write_line(&mut &stream, &Challenge { nonce })?;
    stream.set_read_timeout(None)?;
    let id = ids.fetch_add(1, Ordering::SeqCst);
    let Hello { job, task, machine, .. } = hello;
    let link = Arc::new(Link { id, task, machine, stream: Mutex::new(stream) });
    if !jobs.tell(job, JobEvent::Came(Arc::clone(&link))) {
        link.close();
        return Ok(());
    }
    let outcome = loop {
        match reader.next() {
            Ok(Some(value)) => {
                jobs.tell(job, JobEvent::Said(id, value));
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    jobs.tell(job, JobEvent::Left(id));
    outcome
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hexadecimal digits as bytes; none where they are something else.
pub(super) fn unhex(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect::<Option<Vec<u8>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_the_bytes_they_were() {
        assert_eq!(unhex(&hex(&[0, 15, 255])), [0, 15, 255]);
        assert!(unhex("0g").is_empty() && unhex("abc").is_empty());
    }
}
