//! Why a verb could not do its work, and the exit code that says so.

use std::io;
use std::path::PathBuf;

use trainwright_analysis::AnalysisError;
use trainwright_engine::EngineError;
use trainwright_plan::PlanError;
use trainwright_probe::ProbeError;
use trainwright_queueing::QueueingError;
use trainwright_records::RecordsError;
use trainwright_search::CloudError;
use trainwright_store::StoreError;
use trainwright_study::{Configuration, FaultyFile, StudyError, TrialState};
use trainwright_train::TrainError;

/// Why a verb could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum Error {
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Faulty(#[from] FaultyFile),
    #[error("the study `{study}` has changed since its trials ran; go back, or give it another name or --store\n{}{}", changes.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"), lost(missing.as_ref()))]
    Changed { study: String, changes: Vec<String>, missing: Option<Configuration> },
    #[error(
        "the study `{study}` has no [job] and no command: it can only take results with `trainwright import`"
    )]
    NothingToRun { study: String },
    #[error(
        "the trials of `{study}` log by MLflow's client (`[run] mlflow`), which works with the local engine of the program `trainwright` alone; run it so, or leave the key out"
    )]
    NoTracking { study: String },
    #[error(
        "the study `{study}` has no [design], so there is nothing to run; add one, or take in results with `trainwright import`"
    )]
    NoDesign { study: String },
    #[error("the study `{study}` has a [search] and no [design]; run it with `trainwright search`")]
    SearchNotRun { study: String },
    #[error(
        "the study `{study}` has no [search]; add one, such as method = \"bayesian\" and budget = {{ trials = 40 }}"
    )]
    NoSearch { study: String },
    #[error(
        "trial {trial} is {state}, so that no result is waited for; `trainwright ask` gives trials"
    )]
    NotAsked { trial: u32, state: TrialState },
    #[error("`{metric}` is no metric that is measured; there are {known}")]
    UnknownMetric { metric: String, known: String },
    #[error(
        "the result of trial {trial} lacks the metric `{metric}`; add --value {metric}=NUMBER, or say why it failed with --failed"
    )]
    MissingMetric { trial: u32, metric: String },
    #[error("the study `{study}` is being run by {}; wait for it, or end it with `trainwright stop`", process(*pid))]
    AlreadyRunning { study: String, pid: Option<u32> },
    #[error("no runner is working on the study `{study}`")]
    NotRunning { study: String },
    #[error("what the store keeps of the study `{study}` is damaged: {source}")]
    Kept { study: String, source: serde_json::Error },
    #[error("the study `{study}` has no results in {store}; run it with `trainwright run`", store = store.display())]
    NoResults { study: String, store: PathBuf },
    #[error("the study `{study}` already has results in {store}; import into another --store", store = store.display())]
    HasResults { study: String, store: PathBuf },
    #[error("the study `{study}` has no trial {trial}; it has 1 to {last}")]
    NoSuchTrial { study: String, trial: u32, last: u32 },
    #[error("the folder {folder} of the store is not there; create it, or choose another place with --store", folder = folder.display())]
    NoStoreFolder { folder: PathBuf },
    #[error("{reason}; free some space and run again, finished trials are kept")]
    NoRoom { reason: String },
    #[error("{path} exists already; choose another name, or delete it first", path = path.display())]
    Exists { path: PathBuf },
    #[error("cannot import {file}: {message}", file = file.display())]
    Import { file: PathBuf, message: String },
    #[error("cannot test {file}: {message}", file = file.display())]
    Statistics { file: PathBuf, message: String },
    #[error("cannot use {file}: {message}", file = file.display())]
    CloudFile { file: PathBuf, message: String },
    #[error(transparent)]
    Cloud(#[from] CloudError),
    #[error("{0}")]
    Request(String),
    #[error("cannot read {path}: {source}", path = path.display())]
    Input { path: PathBuf, source: io::Error },
    #[error("cannot plan: {0}")]
    Plan(#[from] PlanError),
    #[error("cannot use {path}: {source}", path = path.display())]
    PlanFile { path: PathBuf, source: Box<PlanError> },
    #[error("cannot write {path}: {source}", path = path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot analyse: {0}")]
    Analysis(#[from] AnalysisError),
    #[error("cannot analyse {file}: {source}", file = file.display())]
    Table { file: PathBuf, source: AnalysisError },
    #[error(transparent)]
    Queue(#[from] QueueingError),
    #[error("`{command}` failed in run {run}: {reason}; --ignore-failure times it all the same")]
    BenchFailed { command: String, run: u32, reason: String },
    #[error("{reason}; finished trials are kept, and `trainwright run` goes on with the others")]
    EngineLost { reason: String },
    #[error("stopped before Spark had started")]
    GivenUp,
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Data(#[from] RecordsError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

impl Error {
    /// The exit code: 2 for bad input, 3 for the environment. A table of all errors, so that a new one
    /// is not forgotten.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Study(_)
            | Self::Faulty(_)
            | Self::Changed { .. }
            | Self::NothingToRun { .. }
            | Self::NoTracking { .. }
            | Self::NoDesign { .. }
            | Self::SearchNotRun { .. }
            | Self::NoSearch { .. }
            | Self::NotAsked { .. }
            | Self::UnknownMetric { .. }
            | Self::MissingMetric { .. }
            | Self::NoResults { .. }
            | Self::HasResults { .. }
            | Self::NoSuchTrial { .. }
            | Self::Exists { .. }
            | Self::Import { .. }
            | Self::Statistics { .. }
            | Self::CloudFile { .. }
            | Self::Cloud(_)
            | Self::Request(_)
            | Self::Plan(_)
            | Self::PlanFile { .. }
            | Self::Input { .. }
            | Self::Table { .. }
            | Self::Queue(_)
            | Self::Train(
                TrainError::Job(_)
                | TrainError::NoTestFile { .. }
                | TrainError::NotTwoClasses { .. }
                | TrainError::UnknownLabel { .. }
                | TrainError::HasCheckpoints { .. }
                | TrainError::NoCheckpoint { .. }
                | TrainError::NoSuchClass { .. }
                | TrainError::SparseOnnx
                | TrainError::Split { .. }
                | TrainError::OnlyServers { .. }
                | TrainError::Record { .. }
                | TrainError::TooLarge { .. }
                | TrainError::TooManyFeatures { .. }
                | TrainError::Checkpoint { .. },
            )
            | Self::Analysis(_) => 2,
            Self::Data(error) | Self::Train(TrainError::Pictures(error))
                if error.is_bad_input() =>
            {
                2
            }
            Self::Train(TrainError::Network(error)) if error.is_bad_input() => 2,
            Self::BenchFailed { .. } => 1,
            Self::GivenUp => 130,
            Self::Engine(EngineError::TooFewSlots { .. }) => 2,
            Self::AlreadyRunning { .. }
            | Self::EngineLost { .. }
            | Self::NoStoreFolder { .. }
            | Self::NoRoom { .. }
            | Self::NotRunning { .. }
            | Self::Kept { .. }
            | Self::Folder { .. }
            | Self::Engine(_)
            | Self::Store(_)
            | Self::Data(_)
            | Self::Probe(_)
            | Self::Train(_) => 3,
        }
    }
}

/// The trial that keeps a changed design from being accepted.
fn lost(missing: Option<&Configuration>) -> String {
    missing.map_or_else(String::new, |configuration| {
        format!(
            "\na design may grow, but this one has no row left for the trial that ran {configuration}"
        )
    })
}

fn process(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_study_lists_every_change_and_the_trial_that_has_no_row() {
        let changes = vec!["the seed is now 4; it was 3".to_owned(), "b is gone".to_owned()];
        let error =
            Error::Changed { study: "s".to_owned(), changes: changes.clone(), missing: None };
        assert_eq!(
            error.to_string(),
            "the study `s` has changed since its trials ran; go back, or give it another name or \
             --store\n  the seed is now 4; it was 3\n  b is gone"
        );
        let missing = Some(serde_json::from_str(r#"{"a": 1}"#).unwrap());
        let error = Error::Changed { study: "s".to_owned(), changes, missing };
        let last = error.to_string().lines().last().unwrap().to_owned();
        assert_eq!(
            last,
            "a design may grow, but this one has no row left for the trial that ran a=1"
        );
    }

    #[test]
    fn a_runner_is_named_by_its_process_where_that_is_known() {
        let words = |pid| Error::AlreadyRunning { study: "s".to_owned(), pid }.to_string();
        assert_eq!(
            words(Some(7)),
            "the study `s` is being run by process 7; wait for it, or end it with `trainwright stop`"
        );
        assert!(words(None).contains("by another process;"));
    }

    #[test]
    fn what_the_user_can_mend_is_2_and_the_environment_3() {
        let study = || "s".to_owned();
        let io = || io::Error::other("x");
        for error in [
            Error::NothingToRun { study: study() },
            Error::NoTracking { study: study() },
            Error::NoDesign { study: study() },
            Error::SearchNotRun { study: study() },
            Error::NoSearch { study: study() },
            Error::NotAsked { trial: 1, state: TrialState::Finished },
            Error::Exists { path: "p".into() },
            Error::Request("no".to_owned()),
            Error::Input { path: "p".into(), source: io() },
            Error::Train(TrainError::SparseOnnx),
            Error::Train(TrainError::NoCheckpoint { path: "p".into() }),
        ] {
            assert_eq!(error.exit_code(), 2, "{error}");
        }
        for error in [
            Error::AlreadyRunning { study: study(), pid: None },
            Error::NotRunning { study: study() },
            Error::NoRoom { reason: "full".to_owned() },
            Error::NoStoreFolder { folder: "p".into() },
            Error::Folder { path: "p".into(), source: io() },
            Error::Train(TrainError::Folder { path: "p".into(), source: io() }),
            Error::Train(TrainError::DamagedCheckpoint {
                path: "p".into(),
                problem: String::new(),
            }),
        ] {
            assert_eq!(error.exit_code(), 3, "{error}");
        }
    }
}
