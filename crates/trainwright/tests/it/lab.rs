//! A study in a folder of its own, run through the facade.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trainwright::store::Durability;
use trainwright::{Accepted, Error, Results, RetryFailed, RunEnd, RunEvent, RunRequest, Wish, run};
use trainwright_study::Study;

/// Two factors in four rows, whose trials report `y` as the sum of the levels.
pub(crate) const SUMS: &str = r#"schema = 1
[study]
name = "sums"
seed = 5
[factors.a]
levels = [1, 2]
[factors.b]
levels = [10, 20]
[design]
type = "full"
replications = 2
[run]
command = ["sh", "-c", "echo \"::metric {\\\"y\\\": $(($1 + $2))}\"; echo told >&2", "sh", "{a}", "{b}"]
[metrics.y]
from = "stdout"
objective = "maximize"
[analysis]
terms = "main"
"#;

pub(crate) struct Lab(TempDir);

impl Lab {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with this content.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn study(&self, text: &str) -> Study {
        let path = self.file("study.toml", text);
        Study::load(&path).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a study to its end and gives the numbers of the trials that ran.
    pub(crate) fn run(&self, study: &Study) -> (RunEnd, Vec<u32>) {
        self.run_with(study, &request(), &|| Wish::GoOn).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn run_with(
        &self,
        study: &Study,
        request: &RunRequest<'_>,
        wish: &dyn Fn() -> Wish,
    ) -> Result<(RunEnd, Vec<u32>), Error> {
        let mut ended = Vec::new();
        let end = run(study, request, wish, &mut |event| {
            if let RunEvent::Ended { trial, again: false, .. } = event {
                ended.push(trial.number);
            }
        })?;
        ended.sort_unstable();
        Ok((end, ended))
    }

    /// The study `sums`, run to its end, and its results.
    pub(crate) fn sums(&self) -> (Study, Results) {
        let study = self.study(SUMS);
        self.run(&study);
        let results = Results::read(&study, None).unwrap();
        (study, results)
    }
}

/// Runs what is planned, beside the study file.
pub(crate) fn request<'a>() -> RunRequest<'a> {
    RunRequest {
        store: None,
        durability: Durability::Unflushed,
        retry_failed: RetryFailed::No,
        accepted: Accepted::default(),
        replay: None,
        program: PathBuf::from("/bin/false"),
        engine: None,
        variables: None,
    }
}

/// That a verb refuses with this exit code and these words.
#[track_caller]
pub(crate) fn check_refusal<T>(result: Result<T, Error>, code: u8, words: &[&str]) {
    let Err(error) = result else { panic!("it was not refused") };
    let message = error.to_string();
    assert_eq!(error.exit_code(), code, "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing in: {message}");
    }
}

/// A path that nothing lies at.
pub(crate) fn nowhere() -> &'static Path {
    Path::new("/nowhere/at/all.csv")
}
