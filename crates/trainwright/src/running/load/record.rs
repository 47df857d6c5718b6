//! What a load test measured, kept beside the store: a table of its jobs, written as each ends, and
//! the whole answer at the end.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use trainwright_records::write_whole;

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
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| unwritable(folder, error))?;
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
        let written = write_whole(&self.json, |file| file.write_all((text + "\n").as_bytes()));
        written.map_err(unwritable)
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

#[cfg(test)]
mod tests {
    use trainwright_study::TrialState;

    use super::*;

    fn job(reason: Option<&str>, process_s: Option<f64>) -> LoadJob {
        LoadJob {
            number: 3,
            arrival_s: 0.5,
            start_s: 1.0,
            end_s: 2.0,
            wait_s: 0.5,
            service_s: 1.0,
            response_s: 1.5,
            process_s,
            state: TrialState::Failed,
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn a_number_is_never_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let loads = folder.path().join("deep/loads");
        let first = Record::create(&loads).unwrap();
        assert!(first.path().ends_with("load-0001.json"));
        let second = Record::create(&loads).unwrap();
        assert!(second.path().ends_with("load-0002.json"));
        assert_eq!(first.jobs_folder(), second.jobs_folder());
        fs::remove_file(loads.join("load-0001.csv")).unwrap();
        fs::write(loads.join("load-0003.csv"), "").unwrap();
        drop((first, second));
        assert_eq!(fs::read_to_string(loads.join("load-0003.csv")).unwrap(), "");
    }

    #[test]
    fn each_job_is_on_disk_as_soon_as_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::create(folder.path()).unwrap();
        let text = |record: &Record| fs::read_to_string(&record.csv).unwrap();
        let head =
            "job,arrival_s,start_s,end_s,wait_s,service_s,response_s,process_s,state,reason\n";
        assert_eq!(text(&record), head);
        record.keep(&job(Some("exit 1, \"again\""), None)).unwrap();
        let line = "3,0.5,1,2,0.5,1,1.5,,failed,\"exit 1, \"\"again\"\"\"\n";
        assert_eq!(text(&record), format!("{head}{line}"));
        record.keep(&job(None, Some(0.875))).unwrap();
        assert!(text(&record).ends_with("\n3,0.5,1,2,0.5,1,1.5,0.875,failed,\n"));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Record::create(&file.path().join("loads")).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot write ") && error.to_string().contains("loads"),
            "{error}"
        );
        assert_eq!(error.exit_code(), 3);
    }
}
