//! The life of one trial, from its folder to its record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::{Instant, SystemTime};

use trainwright_study::{Outcome, PrepareCommand, TrialRecord, Usage};

use super::LocalPlace;
use super::family::{Children, Family};
use super::folder::{clean_folder, create};
use super::going_on;
use super::note::ProcessNotes;
use super::overlap::Overlap;
use super::process::{Process, kill_and_reap};
use super::start::Program;
use super::stop::StopLine;
use super::supervise::{Ended, Limits, supervise};
use super::usage::UsageStart;
use super::watch::Watch;
use crate::echo::disagreement;
use crate::metrics::gather;
use crate::output::text::last_lines;
use crate::output::{Output, printable, trial_folder};
use crate::render::{Launch, Names, STOP_FILE, render};
use crate::verdict::{EndedBy, Evidence, bad_exit, kept_output, verdict, with_output};
use crate::{EngineError, EngineEvent, MissingMetric, Stop, TrialHandle, TrialOrder, TrialStart};

/// Output of the prepare command, in the trial's folder.
const PREPARE_OUTPUT: &str = "prepare";

/// A trial for a slot.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) order: TrialOrder,
    pub(super) stop: StopLine,
}

/// What the slots of an engine share.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// With the canonical path of the folder of all trials.
    pub(super) place: LocalPlace,
    pub(super) notes: ProcessNotes,
    pub(super) children: Children,
    pub(super) overlap: Overlap,
}

/// Runs one trial; whatever goes wrong with it is in the record.
///
/// The second part names the metrics for want of which it failed.
///
/// # Errors
/// There is no room to write, which is no fault of the trial.
pub(super) fn run(
    assignment: &Assignment,
    surroundings: &Surroundings,
    events: &Sender<EngineEvent>,
) -> Result<(TrialRecord, Vec<MissingMetric>), EngineError> {
    let mut record = TrialRecord {
        outcome: Outcome::Stopped,
        measurements: Vec::new(),
        usage: None,
        series: Vec::new(),
        command: Vec::new(),
        environment: BTreeMap::new(),
        started_ms: now_ms(),
        output_end: String::new(),
        cluster: Vec::new(),
    };
    let Assignment { order, stop } = assignment;
    if stop.asked(Stop::Politely) {
        return Ok((record, Vec::new()));
    }
    let attempt = Attempt { order, stop, surroundings, events };
    match attempt.run(&mut record) {
        Ok(missing) => Ok((record, missing)),
        Err(error) if error.is_no_room() => Err(error),
        Err(error) => {
            record.outcome = Outcome::Failed { reason: error.to_string() };
            Ok((record, Vec::new()))
        }
    }
}

struct Attempt<'a> {
    order: &'a TrialOrder,
    stop: &'a StopLine,
    surroundings: &'a Surroundings,
    events: &'a Sender<EngineEvent>,
}

impl Attempt<'_> {
    fn run(&self, record: &mut TrialRecord) -> Result<Vec<MissingMetric>, EngineError> {
        let TrialOrder { study, trial, .. } = self.order;
        let folder = trial_folder(&self.surroundings.place.trials, trial.number);
        let earlier = match self.order.start {
            TrialStart::Anew => None,
            TrialStart::GoOn => going_on::earlier(&folder),
        };
        if earlier.is_none() {
            clean_folder(&folder)?;
        }
        let launch = self.launch(&folder, earlier.is_some(), record)?;
        let presence = self.surroundings.overlap.enter();
        let Surroundings { notes, children, .. } = self.surroundings;
        let mut family = Family::new(&folder, notes.of_trial(trial.number), *children);
        if earlier.is_none()
            && let Some(outcome) = self.prepare(&launch, &folder, &mut family)?
        {
            record.outcome = outcome;
            return Ok(Vec::new());
        }
        let names = Names::new(study, trial, &folder)?;
        let output = Output::of_trial(study, names, &launch.workdir, &folder);
        let before = UsageStart::now();
        record.started_ms = now_ms();
        let (ended, watch) = self.main(&launch, &output, &folder, &mut family)?;
        let sampler = watch.into_sampler();
        family.know(sampler.members());
        // Nothing that the trial started may write any more, or run beside the next one.
        drop(family);
        let alone = presence.was_alone();
        let usage = before.until_now(ended.wall, &ended.reaped, sampler.totals(), alone);
        let mut usage = Usage { gpus: sampler.gpus(alone), ..usage };
        if let Some(earlier) = &earlier {
            usage = usage.after(&earlier.usage);
        }
        drop(presence);
        let gathered = gather(&study.metrics, &output, usage.wall_s);
        let verdict = verdict(Evidence {
            ended_by: ended.by,
            timeout: study.run.timeout,
            usage: &usage,
            gathered: &gathered,
            disagreement: disagreement(&study.echoes, &trial.configuration, &output),
            output: &output,
        });
        record.outcome = verdict.outcome;
        if study.trials_go_on() {
            match record.outcome {
                Outcome::Stopped => going_on::keep(&folder, &usage)?,
                _ => going_on::forget(&folder)?,
            }
        }
        record.usage = Some(usage);
        record.measurements = gathered.measurements;
        record.series = gathered.curves;
        record.series.extend(sampler.into_series());
        record.output_end = kept_output(&output);
        Ok(verdict.missing)
    }

    /// What is started in a folder, with its files written; where the trial goes on, they are there.
    fn launch(
        &self,
        folder: &Path,
        goes_on: bool,
        record: &mut TrialRecord,
    ) -> Result<Launch, EngineError> {
        let TrialOrder { study, trial, variables, .. } = self.order;
        let mut launch = render(study, trial, folder, &self.surroundings.place.program)?;
        record.command.clone_from(&launch.command);
        record.environment.clone_from(&launch.environment);
        launch.environment.extend(variables.clone());
        for (name, content) in launch.files.iter().filter(|_| !goes_on) {
            let path = folder.join(name);
            let written = create(&path)?.write_all(content.as_bytes());
            written.map_err(EngineError::file("write", path))?;
        }
        if !launch.workdir.is_dir() {
            return Err(EngineError::NoWorkdir { path: launch.workdir });
        }
        Ok(launch)
    }

    /// Runs the prepare command, if any; gives an outcome where the trial ends with it.
    fn prepare(
        &self,
        launch: &Launch,
        folder: &Path,
        family: &mut Family<'_>,
    ) -> Result<Option<Outcome>, EngineError> {
        let Some(words) = &launch.prepare else { return Ok(None) };
        let path = folder.join(PREPARE_OUTPUT);
        let started = Instant::now();
        let file = create(&path)?;
        let same = file.try_clone().map_err(EngineError::file("write", &path))?;
        let process = start(words, launch, [file, same], family)?;
        let stop_file = folder.join(STOP_FILE);
        let ended = supervise(&process, started, self.limits(&stop_file), &mut |_| None);
        let failed = |reason: String| {
            let command = self.order.study.run.prepare.as_ref().map(PrepareCommand::source);
            let command = command.unwrap_or_default();
            let reason = format!("the prepare command `{command}` failed: {reason}");
            let reason = with_output(reason, &last_lines(&path, 8));
            Some(Outcome::Failed { reason: printable(&reason).into_owned() })
        };
        Ok(match (ended.by, bad_exit(ended.reaped.exit_code, ended.reaped.signal)) {
            (EndedBy::User, _) => Some(Outcome::Stopped),
            (EndedBy::Timeout, _) => failed("took longer than the trial's timeout".to_owned()),
            (EndedBy::Itself, Some(exit)) => failed(exit),
            (EndedBy::Itself, None) => None,
        })
    }

    /// Runs the trial's own process to its end.
    fn main(
        &self,
        launch: &Launch,
        output: &Output<'_>,
        folder: &Path,
        family: &mut Family<'_>,
    ) -> Result<(Ended, Watch<'_>), EngineError> {
        // New where the folder is; written on where the trial goes on.
        let open = |path: &Path| match self.order.start {
            TrialStart::GoOn => going_on::append(path),
            TrialStart::Anew => create(path),
        };
        let (stdout, stderr) = (open(&output.stdout)?, open(&output.stderr)?);
        let number = self.order.trial.number;
        let started = Instant::now();
        let process = start(&launch.command, launch, [stdout, stderr], family)?;
        let handle = TrialHandle::new(format!("process {}", process.pid()));
        // Nobody listens any more when the engine is being dropped.
        let _ = self.events.send(EngineEvent::Started { number, handle });
        let every = self.order.study.run.sample_every;
        let mut watch = Watch::new(number, process.pid(), every, output, self.events);
        let stop_file = folder.join(STOP_FILE);
        let ended = supervise(&process, started, self.limits(&stop_file), &mut |elapsed| {
            let next = watch.tick(elapsed);
            // A process that has just begun has left nothing yet.
            if !elapsed.is_zero() {
                family.reap_orphans();
            }
            next
        });
        Ok((ended, watch))
    }

    fn limits<'a>(&'a self, stop_file: &'a Path) -> Limits<'a> {
        let run = &self.order.study.run;
        Limits { timeout: run.timeout, grace: run.grace, stop_file, stop: self.stop }
    }
}

/// Starts a process that leads a session of its own.
fn start(
    words: &[String],
    launch: &Launch,
    [stdout, stderr]: [File; 2],
    family: &mut Family<'_>,
) -> Result<Process, EngineError> {
    let Launch { workdir, environment, .. } = launch;
    let program = Program { words, workdir, environment, stdout, stderr };
    let name = || words[0].clone();
    let leader =
        family.start(&program).map_err(|source| EngineError::Start { program: name(), source })?;
    // It is not reaped before `supervise` does it, so its number stays its own.
    Process::open(leader).map_err(|source| {
        kill_and_reap(leader);
        EngineError::Watch { program: name(), source }
    })
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
