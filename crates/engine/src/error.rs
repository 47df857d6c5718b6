//! Why a trial could not be started, or a log not be read.

use std::io::ErrorKind;
use std::path::PathBuf;

use trainwright_study::JobError;

/// Why a trial could not be started, or a log not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum EngineError {
    #[error("the study has neither a command nor a job to run")]
    NoTask,
    #[error("placeholder `{{{name}}}` has no value in trial {trial}")]
    NoValue { name: String, trial: u32 },
    #[error("the command of trial {trial} has no words")]
    EmptyCommand { trial: u32 },
    #[error(transparent)]
    Job(#[from] JobError),
    #[error("the path {path:?} is not UTF-8, so a command line cannot name it")]
    NotUtf8 { path: PathBuf },
    #[error("cannot {action} {path}: {source}")]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("the working folder {path} is not there; create it or change `workdir`")]
    NoWorkdir { path: PathBuf },
    #[error("cannot start `{program}`: {source}; is it installed, and executable?")]
    Start { program: String, source: std::io::Error },
    #[error("cannot watch the process of `{program}`: {source}; Linux 5.3 or newer is needed")]
    Watch { program: String, source: std::io::Error },
    #[error("trial {trial} asks for {wanted} slots while {free} are free")]
    NoFreeSlot { trial: u32, wanted: u32, free: u32 },
    #[error("trial {trial} asks for {wanted} slots; it can have 1 to {slots}")]
    ImpossibleSlots { trial: u32, wanted: u32, slots: u32 },
    #[error("trial {trial} was submitted while it was under way")]
    UnderWay { trial: u32 },
    #[error("trial {trial} was submitted after the engine was told to stop")]
    Stopping { trial: u32 },
    #[error("trial {trial} left nothing in {folder}; it cannot be read again")]
    NoOutputs { trial: u32, folder: PathBuf },
    #[error(
        "there is no Spark: neither SPARK_HOME nor a Python module pyspark is there; run `trainwright engine setup spark`, or `pip install pyspark=={version}`, or set SPARK_HOME"
    )]
    NoSpark { version: &'static str },
    #[error(
        "SPARK_HOME is {home}, where there is no bin/spark-submit; set it to the folder of Spark, or leave it out"
    )]
    NoSparkHome { home: PathBuf },
    #[error(
        "Spark needs Java {oldest} or newer, and `{java}` does not run; install one, such as with `apt-get install openjdk-17-jre-headless`, or set JAVA_HOME"
    )]
    NoJava { java: PathBuf, oldest: u32 },
    #[error(
        "Spark needs Java {oldest} or newer, and `{java}` is version {found}; install a newer one, such as with `apt-get install openjdk-17-jre-headless`, or set JAVA_HOME"
    )]
    OldJava { java: PathBuf, found: u32, oldest: u32 },
    #[error("neither HOME nor XDG_DATA_HOME says where to put things; set one of them")]
    NoHome,
    #[error("`{command}` failed: {said}")]
    SetUp { command: String, said: String },
    #[error("Spark did not start on {master}: {said}")]
    SparkStart { master: String, said: String },
    #[error("the start of Spark was given up")]
    StartGivenUp,
    #[error(
        "the cluster at {master} gave no executor within {seconds} s; are there workers with free memory (spark.executor.memory) and cores, or does another application hold them all (spark.cores.max)?"
    )]
    NoExecutors { master: String, seconds: f64 },
    #[error("Spark is lost: {reason}")]
    SparkLost { reason: String },
    #[error("the Spark job `{job}` failed: {message}")]
    SparkJob { job: String, message: String },
    #[error(
        "{wanted} ranks must run at once, and the cluster has {slots} slots; ask for fewer, or give it more cores (spark.cores.max, spark.executor.cores)"
    )]
    TooFewSlots { wanted: u32, slots: u32 },
    #[error("the connection with {address} failed: {problem}")]
    Link { address: String, problem: String },
    #[error("cannot start a slot: {0}")]
    Slot(#[source] std::io::Error),
}

impl EngineError {
    /// Whether no trial could be started now, whatever it runs: there is no room to write.
    pub(crate) fn is_no_room(&self) -> bool {
        // A process that starts writes a note of itself.
        let (Self::File { source, .. } | Self::Start { source, .. }) = self else { return false };
        matches!(
            source.kind(),
            ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::FileTooLarge
        )
    }

    /// For `map_err` after touching `path`.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_full_disk_is_told_from_what_only_one_trial_lacks() {
        let file = |kind: ErrorKind| EngineError::file("write", "x")(io::Error::from(kind));
        for kind in
            [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem]
        {
            assert!(file(kind).is_no_room(), "{kind:?}");
        }
        assert!(!file(ErrorKind::PermissionDenied).is_no_room());
        let source = io::Error::from(ErrorKind::NotFound);
        let start = EngineError::Start { program: "go".to_owned(), source };
        assert!(!start.is_no_room());
        assert!(start.to_string().ends_with("; is it installed, and executable?"), "{start}");
        assert!(!EngineError::NoTask.is_no_room());
    }

    #[test]
    fn placeholders_are_told_with_their_braces() {
        let error = EngineError::NoValue { name: "lr".to_owned(), trial: 3 };
        assert_eq!(error.to_string(), "placeholder `{lr}` has no value in trial 3");
    }
}
