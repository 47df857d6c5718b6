//! Runs commands in rounds, by the engine that runs trials.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trainwright_engine::{
    Engine, EngineEvent, LocalEngine, LocalPlace, Stop, TrialOrder, TrialStart, Which,
};
use trainwright_study::draft::{FactorDraft, MetricDraft, MetricFrom, StudyDraft, WordDraft};
use trainwright_study::{
    CommandTemplate, CommandWord, Configuration, Level, MetricSource, Outcome, PlannedTrial,
    PrepareCommand, Seed, Study, Task, Template, TextFile, TrialRecord,
};

use super::commands::{ReadyCommand, words_of};
use super::{BenchEnd, BenchEvent, BenchFailures, BenchRequest, BenchRuns, BenchShell};
use crate::{Error, Wish};

/// How often the user's wish is looked at.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long commands run where nobody says how often, for each of them.
const LONG_ENOUGH: Duration = Duration::from_secs(3);
/// Times that an empty shell is started to find out how long that takes.
const SHELL_STARTS: u32 = 25;
/// Those before, which count for nothing.
const SHELL_WARMUP: u32 = 3;

/// One run of a command.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The metric, where one is compared and the run has it.
    pub(super) metric: Option<f64>,
    pub(super) wall_s: f64,
    pub(super) user_s: f64,
    pub(super) system_s: f64,
    pub(super) peak_memory_bytes: Option<u64>,
    pub(super) exit_code: Option<i32>,
    pub(super) failed: bool,
}

/// What an empty shell takes, on average.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShellStart {
    pub(super) wall_s: f64,
    pub(super) user_s: f64,
    pub(super) system_s: f64,
}

/// The rounds of one bench.
pub(super) struct Rounds<'a> {
    request: &'a BenchRequest,
    commands: &'a [ReadyCommand],
    studies: Vec<Arc<Study>>,
    engine: LocalEngine,
    wish: &'a dyn Fn() -> Wish,
    on_event: &'a mut dyn FnMut(BenchEvent<'_>),
    runs: Vec<Vec<Run>>,
    shell_start: Option<ShellStart>,
    /// Holds what commands print while they run.
    _folder: TempDir,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        request: &'a BenchRequest,
        commands: &'a [ReadyCommand],
        wish: &'a dyn Fn() -> Wish,
        on_event: &'a mut dyn FnMut(BenchEvent<'_>),
    ) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("trainwright-bench-").tempdir();
        let folder =
            folder.map_err(|source| Error::Folder { path: std::env::temp_dir(), source })?;
        let place = LocalPlace {
            trials: folder.path().to_owned(),
            program: request.program.clone(),
            slots: 1,
        };
        let studies = commands
            .iter()
            .map(|own| study(request, &own.words, own.prepare.as_deref()).map(Arc::new));
        Ok(Self {
            request,
            commands,
            studies: studies.collect::<Result<_, _>>()?,
            engine: LocalEngine::new(place)?,
            wish,
            on_event,
            runs: vec![Vec::new(); commands.len()],
            shell_start: None,
            _folder: folder,
        })
    }

    /// Runs everything; what was measured is kept whoever ends it.
    pub(super) fn run(&mut self, seed: Seed) -> Result<BenchEnd, Error> {
        if !self.time_shell()? || !self.once(self.request.setup.as_deref(), "setup")? {
            return Ok(BenchEnd::Interrupted);
        }
        let end = self.all_rounds(seed)?;
        if end != BenchEnd::Interrupted {
            self.once(self.request.cleanup.as_deref(), "cleanup")?;
        }
        Ok(end)
    }

    pub(super) fn finish(self) -> (Vec<Vec<Run>>, Option<ShellStart>) {
        (self.runs, self.shell_start)
    }

    fn all_rounds(&mut self, seed: Seed) -> Result<BenchEnd, Error> {
        let begun = Instant::now();
        let mut counted = begun;
        let late =
            |request: &BenchRequest| request.max_time.is_some_and(|most| begun.elapsed() >= most);
        for round in 0.. {
            let number = (round + 1_u32).saturating_sub(self.request.warmup);
            if number == 1 {
                counted = Instant::now();
            }
            if number > 0 && self.enough(number - 1, counted.elapsed()) {
                return Ok(BenchEnd::Complete);
            }
            (self.on_event)(BenchEvent::Round { number, elapsed: begun.elapsed() });
            let order = seed.derive(u64::from(round)).shuffled((0..self.commands.len()).collect());
            for command in order {
                if late(self.request) {
                    return Ok(BenchEnd::TimeUp);
                }
                let own = seed.derive(u64::from(round)).derive(command as u64 + 1);
                let Some(run) = self.time(command, round + 1, own)? else {
                    return Ok(BenchEnd::Interrupted);
                };
                let value = (number > 0 && !run.failed)
                    .then(|| run.metric.filter(|_| self.request.metric.is_some()))
                    .map(|metric| metric.unwrap_or(run.wall_s));
                let label = &self.commands[command].label;
                (self.on_event)(BenchEvent::Ran { command: label, value });
                if number > 0 {
                    self.runs[command].push(run);
                }
            }
        }
        Ok(BenchEnd::Complete)
    }

    /// Whether so many rounds are all that is wanted.
    fn enough(&self, done: u32, elapsed: Duration) -> bool {
        match self.request.runs {
            BenchRuns::Exactly(rounds) => done >= rounds,
            BenchRuns::Between { least, most } => {
                let long = elapsed >= LONG_ENOUGH * self.commands.len() as u32;
                done >= most || (done >= least && long)
            }
        }
    }

    /// Times one run; nothing where the user stopped it.
    fn time(&mut self, command: usize, replicate: u32, seed: Seed) -> Result<Option<Run>, Error> {
        let study = Arc::clone(&self.studies[command]);
        let number = command as u32 + 1;
        let Some(record) = self.record(study, number, replicate, seed)? else { return Ok(None) };
        let failed = !matches!(record.outcome, Outcome::Finished);
        if failed && self.request.failures == BenchFailures::Stop || record.usage.is_none() {
            return Err(Error::BenchFailed {
                command: self.commands[command].label.clone(),
                run: replicate,
                reason: record.outcome.reason().unwrap_or("it was stopped").to_owned(),
            });
        }
        Ok(record.usage.as_ref().map(|usage| Run {
            metric: self.request.metric.as_ref().and_then(|metric| {
                let own = record.measurements.iter().find(|own| own.metric == metric.name);
                own.map(|own| own.value)
            }),
            wall_s: usage.wall_s,
            user_s: usage.user_s,
            system_s: usage.system_s,
            peak_memory_bytes: usage.peak_memory_bytes,
            exit_code: usage.exit_code,
            failed,
        }))
    }

    /// Lets the engine run one process; nothing where the user stopped it.
    fn record(
        &mut self,
        study: Arc<Study>,
        number: u32,
        replicate: u32,
        seed: Seed,
    ) -> Result<Option<TrialRecord>, Error> {
        if (self.wish)() != Wish::GoOn {
            return Ok(None);
        }
        let configuration =
            Configuration::new(vec![(FACTOR.to_owned(), Level::Integer(i64::from(number)))]);
        let trial = PlannedTrial {
            number,
            row: None,
            replicate,
            configuration,
            seed: (seed.value() >> 33) as u32,
            block: None,
            whole_plot: None,
        };
        self.engine.submit(TrialOrder {
            study,
            trial,
            slots: 1,
            start: TrialStart::Anew,
            variables: Default::default(),
        })?;
        loop {
            match self.engine.next_event(PATIENCE) {
                Some(EngineEvent::Ended { record, .. }) => {
                    return Ok((record.outcome != Outcome::Stopped).then_some(*record));
                }
                Some(EngineEvent::NoRoom { reason, .. }) => return Err(Error::NoRoom { reason }),
                Some(EngineEvent::Lost { reason, .. }) => return Err(Error::EngineLost { reason }),
                _ => match (self.wish)() {
                    Wish::GoOn => {}
                    Wish::Stop => self.engine.stop(Which::All, Stop::Politely),
                    Wish::StopNow => self.engine.stop(Which::All, Stop::Now),
                },
            }
        }
    }

    /// Finds out what an empty shell takes; says whether the user lets it go on.
    fn time_shell(&mut self) -> Result<bool, Error> {
        if !self.commands.iter().any(|own| own.through_shell) {
            return Ok(true);
        }
        let words = words_of(&self.request.shell, "")?;
        let empty = Arc::new(study_of(&words, None, None)?);
        let mut sum = ShellStart { wall_s: 0.0, user_s: 0.0, system_s: 0.0 };
        for at in 0..SHELL_WARMUP + SHELL_STARTS {
            let study = Arc::clone(&empty);
            let Some(record) = self.record(study, WITHOUT_COUNT, at + 1, Seed::new(0))? else {
                return Ok(false);
            };
            let (Outcome::Finished, Some(usage)) = (&record.outcome, &record.usage) else {
                let reason = record.outcome.reason().unwrap_or("it was stopped");
                let shell = &self.request.shell;
                return Err(Error::Request(format!("the shell `{shell}` does not run: {reason}")));
            };
            if at >= SHELL_WARMUP {
                sum.wall_s += usage.wall_s;
                sum.user_s += usage.user_s;
                sum.system_s += usage.system_s;
            }
        }
        let n = f64::from(SHELL_STARTS);
        self.shell_start = Some(ShellStart {
            wall_s: sum.wall_s / n,
            user_s: sum.user_s / n,
            system_s: sum.system_s / n,
        });
        Ok(true)
    }

    /// Runs a text once for each command, in order; says whether the user lets it go on.
    fn once(&mut self, text: Option<&str>, what: &'static str) -> Result<bool, Error> {
        let Some(text) = text else { return Ok(true) };
        for command in self.commands {
            let text = command.parameters.iter().fold(text.to_owned(), |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), value)
            });
            let shell = match &self.request.shell {
                BenchShell::None => BenchShell::default(),
                own => own.clone(),
            };
            let study = Arc::new(study_of(&words_of(&shell, &text)?, None, None)?);
            let Some(record) = self.record(study, WITHOUT_COUNT, 1, Seed::new(0))? else {
                return Ok(false);
            };
            if let Some(reason) = record.outcome.reason() {
                let label = &command.label;
                return Err(Error::Request(format!("the {what} of `{label}` failed: {reason}")));
            }
        }
        Ok(true)
    }
}

/// The number of what is run and not counted.
const WITHOUT_COUNT: u32 = 0;
/// The factor whose level is the command's number.
const FACTOR: &str = "command";

fn study(
    request: &BenchRequest,
    words: &[String],
    prepare: Option<&[String]>,
) -> Result<Study, Error> {
    let metric = request.metric.as_ref().map(|metric| {
        let source = match &metric.pattern {
            None => MetricSource::Reported { key: metric.name.clone() },
            Some(pattern) => {
                MetricSource::Regex { file: TextFile::Stdout, pattern: pattern.clone() }
            }
        };
        (metric.name.clone(), source)
    });
    study_of(words, prepare, metric)
}

/// A study of one command, whose words are taken as they are.
fn study_of(
    words: &[String],
    prepare: Option<&[String]>,
    metric: Option<(String, MetricSource)>,
) -> Result<Study, Error> {
    let mut draft = StudyDraft::new("bench");
    let numbers = FactorDraft::with_levels(vec![Level::Integer(1), Level::Integer(2)]);
    draft.factors = std::iter::once((FACTOR.to_owned(), numbers)).collect();
    draft.run.command = Some(vec![WordDraft::One(format!("{{{FACTOR}}}"))]);
    let wall = MetricDraft {
        from: Some(MetricFrom::Wall),
        unit: Some("s".to_owned()),
        ..MetricDraft::default()
    };
    let name = metric.as_ref().map_or("time", |(name, _)| name.as_str());
    draft.metrics = std::iter::once((name.to_owned(), wall)).collect();
    let mut study = Study::from_draft(draft)?;
    if let Some((_, source)) = metric {
        study.metrics[0].source = source;
    }
    // What the user wrote may hold braces, which are no placeholders here.
    let literal = |words: &[String]| -> Vec<Template> {
        words.iter().map(|word| Template::parse_with(word, |_| false)).collect()
    };
    study.task = Some(Task::Command(CommandTemplate {
        words: literal(words).into_iter().map(CommandWord::One).collect(),
        env: Default::default(),
        keep_env: Default::default(),
        workdir: None,
    }));
    study.run.prepare = prepare.map(|words| PrepareCommand::Words(literal(words)));
    Ok(study)
}
