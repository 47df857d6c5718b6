//! Worker processes on this machine.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use trainwright_comm::Secret;

use crate::error::TrainError;

/// How long processes that were sent home may take.
const FAREWELL: Duration = Duration::from_secs(3);

/// How often they are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Worker processes that were started here; those that still run end with it.
pub(in crate::strategies) struct StartedWorkers(Vec<Child>);

impl StartedWorkers {
    /// No process.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// Starts so many workers that join at an address. They get the secret by their standard
    /// input, where no other user can read it.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub(super) fn start(
        program: &Path,
        count: usize,
        (address, secret): (&str, &Secret),
        patience: Option<Duration>,
    ) -> Result<Self, TrainError> {
        let mut started = Self::none();
        for rank in 1..=count {
            let rank = rank.to_string();
            let words =
                ["worker", "--join", address, "--secret-file", "/dev/stdin", "--rank", &rank];
            let mut command = Command::new(program);
            command.args(words);
            if let Some(patience) = patience {
                command.arg("--patience").arg(format!("{}ms", patience.as_millis()));
            }
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            // Ctrl-C is for rank 0, which keeps the job and sends the others home.
            command.process_group(0);
            let trouble = |source| TrainError::StartWorker { program: program.to_owned(), source };
            let mut child = command.spawn().map_err(trouble)?;
            let stdin = child.stdin.take();
            started.0.push(child);
            if let Some(mut stdin) = stdin {
                stdin.write_all(secret.as_bytes()).map_err(trouble)?;
            }
        }
        Ok(started)
    }

    /// Waits until all have ended by themselves, as they do when they are sent home.
    pub(super) fn wait(mut self) {
        for mut child in self.0.drain(..) {
            // A worker that is gone already is as well.
            let _ = child.wait();
        }
    }

    /// Gives them some time to end by themselves, as those do that were sent home, then ends those
    /// that still run: one that was given up may be stopped for good.
    pub(in crate::strategies) fn end_soon(mut self) {
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until
            && self.0.iter_mut().any(|child| matches!(child.try_wait(), Ok(None)))
        {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Ends those that still run.
    pub(super) fn end(self) {
        drop(self);
    }

    /// Why a worker did not come, where one has ended.
    pub(super) fn why_missing(mut self) -> Option<TrainError> {
        let ended = self.0.iter_mut().filter_map(|child| child.try_wait().ok().flatten());
        let status = ended.into_iter().find(|status| !status.success())?;
        Some(TrainError::WorkerEnded { status: status.to_string() })
    }
}

impl Drop for StartedWorkers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
