//! A run written down, so that it can be computed again to the bit.
//!
//! A file of JSON lines: the first says of what job it is, each further one is a stretch of steps
//! with the updates of every server, in their order, and for each gradient which share it was of,
//! who computed it, and which version of that server's numbers it was computed from.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Lines, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trainwright_comm::Applied;
use trainwright_study::{Consistency, JobSpec};

use crate::error::TrainError;
use crate::train::stretch::Stretch;

/// The kind and version of the file.
const SCHEMA: &str = "trainwright/run-record/1";

/// What a record says of its job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Heading {
    schema: String,
    seed: u64,
    batch: u32,
    servers: u32,
    consistency: Consistency,
    backup: u32,
}

/// A stretch of steps as it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Made {
    /// Updates before it.
    pub(super) first: u64,
    pub(super) steps: usize,
    /// Parts of each step.
    pub(super) parts: usize,
    /// The updates of each server.
    pub(super) servers: Vec<Vec<Update>>,
}

/// One update: its gradients, in their order.
pub(super) type Update = Vec<Used>;

/// Gradients of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Used {
    /// Updates before the step that they are of.
    pub(super) step: u64,
    pub(super) part: u32,
    pub(super) worker: u32,
    /// Updates of this server before they were computed.
    pub(super) pulled: u64,
}

/// Writes a run down.
pub(super) struct Recorder {
    path: PathBuf,
    file: BufWriter<File>,
    parts: usize,
}

impl Recorder {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn create(path: &Path, job: &JobSpec) -> Result<Self, TrainError> {
        let fault = |source| TrainError::Write { path: path.to_owned(), source };
        let file = BufWriter::new(File::create(path).map_err(fault)?);
        let mut recorder = Self { path: path.to_owned(), file, parts: 1 };
        recorder.line(&heading(job))?;
        Ok(recorder)
    }

    /// Says how many parts the steps to come have.
    pub(super) fn parts(&mut self, parts: usize) {
        self.parts = parts;
    }

    /// Adds a stretch.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(
        &mut self,
        stretch: &Stretch<'_>,
        log: &[Vec<Applied>],
    ) -> Result<(), TrainError> {
        let update = |applied: &Applied| -> Update {
            let pushes = applied.pushes.iter().map(|push| Used {
                step: push.share.step,
                part: push.share.part,
                worker: push.worker,
                pulled: push.pulled,
            });
            pushes.collect()
        };
        let made = Made {
            first: stretch.steps.first().map_or(0, |planned| planned.step - 1),
            steps: stretch.steps.len(),
            parts: self.parts,
            servers: log.iter().map(|own| own.iter().map(update).collect()).collect(),
        };
        self.line(&made)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), TrainError> {
        let mut text = serde_json::to_vec(value).expect("numbers become JSON");
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.flush());
        written.map_err(|source| TrainError::Write { path: self.path.clone(), source })
    }
}

/// Reads a run that was written down.
pub(super) struct Record {
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    /// Lines read so far.
    read: usize,
}

impl Record {
    /// Opens the record of a job.
    ///
    /// # Errors
    /// When it cannot be read, or is of another job.
    pub(super) fn open(path: &Path, job: &JobSpec) -> Result<Self, TrainError> {
        let fault = |source| TrainError::ReadRecord { path: path.to_owned(), source };
        let lines = BufReader::new(File::open(path).map_err(fault)?).lines();
        let mut record = Self { path: path.to_owned(), lines, read: 0 };
        let found: Heading = record.next()?;
        let expected = heading(job);
        if found != expected {
            let [found, expected] = [&found, &expected]
                .map(|own| serde_json::to_string(own).expect("numbers become JSON"));
            return Err(record.fault(format!("it is of {found}, the job has {expected}")));
        }
        Ok(record)
    }

    /// The next line.
    ///
    /// # Errors
    /// When there is none, or it cannot be understood.
    pub(super) fn next<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, TrainError> {
        self.read += 1;
        let line = match self.lines.next() {
            Some(Ok(line)) => line,
            Some(Err(source)) => {
                return Err(TrainError::ReadRecord { path: self.path.clone(), source });
            }
            None => return Err(self.fault("it ends before the job does".to_owned())),
        };
        serde_json::from_str(&line).map_err(|error| self.fault(error.to_string()))
    }

    /// What is wrong with the line that was read last.
    pub(super) fn fault(&self, problem: String) -> TrainError {
        TrainError::Record { path: self.path.clone(), line: self.read, problem }
    }
}

fn heading(job: &JobSpec) -> Heading {
    Heading {
        schema: SCHEMA.to_owned(),
        seed: job.seed,
        batch: job.batch,
        servers: job.servers,
        consistency: job.consistency,
        backup: job.backup,
    }
}

#[cfg(test)]
mod tests {
    use trainwright_comm::{AppliedPush, Share};

    use super::*;
    use crate::learners::fake::fake_job;
    use crate::learners::learner::Look;
    use crate::train::stretch::PlannedStep;

    #[test]
    fn a_record_is_read_as_it_was_written_and_of_another_job_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let keys = serde_json::json!({
            "strategy": "parameter-server", "consistency": "async", "lr": 0.1,
        });
        let job = fake_job(keys);
        let mut recorder = Recorder::create(&path, &job).unwrap();
        let steps = [PlannedStep { step: 8, examples: 4, rate: 0.1, look: Look::No }];
        let stretch = Stretch { epoch: 1, at: 0, steps: &steps, rest: &[] };
        let push = AppliedPush { share: Share { step: 7, part: 0 }, pulled: 5, worker: 1 };
        recorder.add(&stretch, &[vec![Applied { pushes: vec![push] }]]).unwrap();
        let mut record = Record::open(&path, &job).unwrap();
        let used = Used { step: 7, part: 0, worker: 1, pulled: 5 };
        let expected = Made { first: 7, steps: 1, parts: 1, servers: vec![vec![vec![used]]] };
        assert_eq!(record.next::<Made>().unwrap(), expected);
        let error = record.next::<Made>().unwrap_err().to_string();
        assert!(error.ends_with("line 3: it ends before the job does"), "{error}");
        let other = JobSpec { seed: 99, ..job };
        let error = Record::open(&path, &other).err().unwrap().to_string();
        assert!(error.contains("line 1: it is of {") && error.contains("\"seed\":99"), "{error}");
    }
}
