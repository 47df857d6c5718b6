//! A study in a folder of its own, whose trials run a shell script.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trainwright_engine::{
    Engine, EngineEvent, LocalEngine, LocalPlace, MissingMetric, TrialOrder, TrialStart,
    trial_folder,
};
use trainwright_study::{Configuration, Level, PlannedTrial, Study, TrialRecord};

/// Longer than anything here takes; reached only when something hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(60);

/// A study in a folder of its own.
pub(crate) struct Lab {
    folder: PathBuf,
    study: Arc<Study>,
    _owned: Option<TempDir>,
}

impl Lab {
    /// A study whose command is a script that gets the level of factor `x` as `$1`.
    ///
    /// `run` holds further keys of `[run]`, `rest` further tables, the metrics among them.
    pub(crate) fn new(script: &str, run: &str, rest: &str) -> Self {
        let run = format!("[run]\ncommand = [\"sh\", \"run.sh\", \"{{x}}\"]\n{run}\n{rest}");
        let lab = Self::of_tables(&format!("[factors.x]\nlevels = [1, 2]\n{run}"));
        fs::write(lab.path("run.sh"), script).unwrap();
        lab
    }

    /// A study with these tables besides its name and design.
    pub(crate) fn of_tables(tables: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("study.toml");
        let text = format!(
            "schema = 1\n[study]\nname = \"lab\"\nseed = 1\n[design]\ntype = \"full\"\n{tables}"
        );
        fs::write(&file, text).unwrap();
        Self { _owned: Some(folder), ..Self::at(file.parent().unwrap()) }
    }

    /// The lab that another one has made in this folder.
    pub(crate) fn at(folder: &Path) -> Self {
        let study = Study::load(&folder.join("study.toml"));
        let study = study.unwrap_or_else(|error| panic!("{error:?}"));
        Self { folder: folder.to_owned(), study: Arc::new(study), _owned: None }
    }

    pub(crate) fn study(&self) -> &Study {
        &self.study
    }

    /// A path in the study's folder, which trials run in.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(crate) fn trial_folder(&self, number: u32) -> PathBuf {
        trial_folder(&self.path("trials"), number)
    }

    pub(crate) fn trial(number: u32) -> PlannedTrial {
        PlannedTrial {
            number,
            row: Some(1),
            replicate: 1,
            configuration: Configuration::new(vec![("x".to_owned(), Level::Integer(2))]),
            seed: 77,
            block: None,
            whole_plot: None,
        }
    }

    pub(crate) fn order(&self, number: u32) -> TrialOrder {
        TrialOrder {
            study: self.study.clone(),
            trial: Self::trial(number),
            slots: 1,
            start: TrialStart::Anew,
            variables: Default::default(),
        }
    }

    /// An engine in the folder of this study's trials.
    pub(crate) fn engine(&self, slots: u32) -> LocalEngine {
        let place = LocalPlace { trials: self.path("trials"), program: "/bin/sh".into(), slots };
        LocalEngine::new(place).unwrap()
    }

    /// Runs trial 1 alone to its end.
    pub(crate) fn run(&self) -> TrialRecord {
        self.run_to_end().0
    }

    /// The same, with the metrics for want of which it failed.
    pub(crate) fn run_to_end(&self) -> (TrialRecord, Vec<MissingMetric>) {
        let mut engine = self.engine(1);
        engine.submit(self.order(1)).unwrap();
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < HANGS, "the trial hangs");
            let event = engine.next_event(Duration::from_secs(1));
            if let Some(EngineEvent::Ended { record, missing, .. }) = event {
                return (*record, missing);
            }
        }
    }
}

/// Takes events until a trial has ended.
pub(crate) fn end(engine: &mut dyn Engine) -> (u32, TrialRecord) {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < HANGS, "the trial hangs");
        let event = engine.next_event(Duration::from_secs(1));
        if let Some(EngineEvent::Ended { number, record, .. }) = event {
            return (number, *record);
        }
    }
}

/// Takes events until `done` says so.
pub(crate) fn take_until(
    engine: &mut dyn Engine,
    mut done: impl FnMut(Option<&EngineEvent>) -> bool,
) {
    let begun = Instant::now();
    loop {
        let event = engine.next_event(Duration::from_millis(2));
        if let Some(EngineEvent::Ended { record, .. }) = &event {
            panic!("ended too early: {record:?}");
        }
        if done(event.as_ref()) {
            return;
        }
        assert!(begun.elapsed() < HANGS, "nothing happens");
    }
}

/// Whether a process has ended, reaped or not.
pub(crate) fn is_gone(pid: u32) -> bool {
    let stats = trainwright_probe::process_stats().unwrap();
    stats.iter().all(|process| process.pid != pid || process.state == 'Z')
}

/// The number that a script wrote into a file.
pub(crate) fn pid_in(path: &Path) -> u32 {
    fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// A metric that every script below reports.
pub(crate) const ACC: &str = "[metrics.acc]\nrange = [0, 1]\nobjective = \"maximize\"\n";
