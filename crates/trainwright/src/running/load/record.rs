//! What a load test measured, kept beside the store: a table of its jobs, written as each ends, and
//! the whole answer at the end.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{LoadJob, LoadReply};
use crate::Error;

/// The files of one load test: `load-0001.csv` and `load-0001.json`; numbers are never used again.
#[derive(Debug)]
pub(super) struct Record {
    folder: PathBuf,
    json: PathBuf,
    csv: PathBuf,
    rows: csv::Writer<File>,
}

impl Record {
    /// Begins the files of the next test in a folder, which is made.
    pub(super) fn create(folder: &Path) -> Result<Self, Error> {
        let unwritable = |path: &Path, source| Error::Folder { path: path.to_owned(), source };
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
        let folder = folder.canonicalize().map_err(|error| unwritable(folder, error))?;
        for number in 1.. {
            let csv = folder.join(format!("load-{number:04}.csv"));
            match OpenOptions::new().write(true).create_new(true).open(&csv) {
                Ok(file) => {
                    let json = csv.with_extension("json");
                    let rows = csv::WriterBuilder::new().has_headers(false).from_writer(file);
                    let mut record = Self { folder, json, csv, rows };
                    record.write(&HEAD.map(str::to_owned))?;
                    return Ok(record);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&csv, error)),
            }
        }
        unreachable!("numbers do not end")
    }

    /// Where the jobs have their folders; those of an earlier test are emptied.
    pub(super) fn jobs_folder(&self) -> PathBuf {
        self.folder.join("jobs")
    }

    /// Where the answer will be.
    pub(super) fn path(&self) -> &Path {
        &self.json
    }

    /// Keeps one job.
    pub(super) fn keep(&mut self, job: &LoadJob) -> Result<(), Error> {
        let seconds = |value: f64| value.to_string();
        self.write(&[
            job.number.to_string(),
            seconds(job.arrival_s),
            seconds(job.start_s),
            seconds(job.end_s),
            seconds(job.wait_s),
            seconds(job.service_s),
            seconds(job.response_s),
            job.process_s.map(seconds).unwrap_or_default(),
            job.state.word().to_owned(),
            job.reason.clone().unwrap_or_default(),
        ])
    }

    fn write(&mut self, cells: &[String; HEAD.len()]) -> Result<(), Error> {
        let unwritable = |source| Error::Folder { path: self.csv.clone(), source };
        self.rows.write_record(cells).map_err(|error| unwritable(io::Error::from(error)))?;
        self.rows.flush().map_err(unwritable)
    }

    /// Keeps the whole answer.
    pub(super) fn finish(&mut self, reply: &LoadReply) -> Result<(), Error> {
        let unwritable = |source| Error::Folder { path: self.json.clone(), source };
        let mut object = Map::new();
        object.insert("schema".to_owned(), "trainwright/load/1".into());
        let value = serde_json::to_value(reply).map_err(|error| unwritable(error.into()))?;
        if let Value::Object(fields) = value {
            object.extend(fields);
        }
        let text = serde_json::to_string_pretty(&object).map_err(|e| unwritable(e.into()))?;
        fs::write(&self.json, text + "\n").map_err(unwritable)
    }
}

const HEAD: [&str; 10] = [
    "job",
    "arrival_s",
    "start_s",
    "end_s",
    "wait_s",
    "service_s",
    "response_s",
    "process_s",
    "state",
    "reason",
];
