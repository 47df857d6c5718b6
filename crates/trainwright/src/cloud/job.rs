//! The user's job on a configuration, as a trial of the local engine: it has a folder, a time
//! limit, and leaves no process behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use trainwright_engine::{
    Engine, EngineEvent, LocalEngine, LocalPlace, Stop, TrialOrder, TrialStart, Which, outputs,
};
use trainwright_search::cloud::Candidate;
use trainwright_study::{
    Configuration, Level, Outcome, PlannedTrial, Study, Template, TrialRecord,
};

use super::search_file::OwnRun;
use crate::{Error, Wish};

/// The factors that a configuration of machines has.
const VM_TYPE: &str = "vm_type";
const NODES: &str = "nodes";
/// The metric that is the time of a run, where a job measures it itself.
const ELAPSED: &str = "elapsed_s";
/// How often the user's wishes are asked for.
const LOOK: Duration = Duration::from_millis(200);

/// What runs on the machines.
#[derive(Debug, Clone, Copy)]
pub enum CloudJob<'a> {
    /// A command line in which `{vm_type}` and `{nodes}` stand for the configuration.
    ///
    /// Its wall time counts, or `elapsed_s` of its last line `::metric {...}`; other numbers there
    /// are low-level metrics.
    Command {
        /// The line.
        line: &'a str,
        /// A run that takes longer is ended and has failed.
        timeout: Option<Duration>,
    },
    /// The command of a study with the factors `vm_type` and, where there is a choice, `nodes`.
    ///
    /// Its metric `elapsed_s` counts, else its wall time; other metrics are low-level ones.
    Study(&'a Study),
}

impl CloudJob<'_> {
    /// The machine types that a study names; nothing where any will do.
    ///
    /// # Errors
    /// A study without machine types or without a command.
    pub(crate) fn vm_types(&self) -> Result<Option<Vec<String>>, Error> {
        let Self::Study(study) = self else { return Ok(None) };
        if study.task.is_none() {
            return Err(Error::NothingToRun { study: study.name.clone() });
        }
        let other = study.factors.iter().find(|own| own.name != VM_TYPE && own.name != NODES);
        if let Some(other) = other {
            let name = &other.name;
            return Err(Error::Request(format!(
                "the study's factor `{name}` is no machine type; a study for `cloud recommend` has \
                 the factors {VM_TYPE} and {NODES}"
            )));
        }
        let factor = study.factors.iter().find(|own| own.name == VM_TYPE).ok_or_else(|| {
            let message = format!("the study has no factor {VM_TYPE}, whose levels are machines");
            Error::Request(message)
        })?;
        Ok(Some(factor.levels.iter().map(Level::to_string).collect()))
    }

    /// The numbers of nodes that a study names.
    pub(crate) fn nodes(&self) -> Option<Vec<u32>> {
        let Self::Study(study) = self else { return None };
        let factor = study.factors.iter().find(|own| own.name == NODES)?;
        let number = |own: &Level| own.number().filter(|own| *own >= 1.0).map(|own| own as u32);
        Some(factor.levels.iter().filter_map(number).collect())
    }

    /// The study of one run, whose script lies in a folder.
    fn study(&self, candidate: &Candidate, script: &Path) -> Result<Study, Error> {
        let (line, timeout) = match self {
            Self::Study(study) => return Ok((*study).clone()),
            Self::Command { line, timeout } => (line, timeout),
        };
        if !line.contains("{vm_type}") {
            let message = format!("the command `{line}` does not use {{vm_type}}");
            return Err(Error::Request(message));
        }
        let value = |name: &str| match name {
            VM_TYPE => Some(candidate.machine.vm_type.clone()),
            NODES => Some(candidate.nodes.to_string()),
            _ => None,
        };
        let template = Template::parse_with(line, |name| value(name).is_some());
        let line = template.shell_script(value).map_err(Error::Request)?;
        let cannot = |source| {
            Error::Request(format!("cannot write the script {}: {source}", script.display()))
        };
        fs::write(script, format!("{line}\n")).map_err(cannot)?;
        // JSON texts are texts of TOML too. The script needs no argument; the study needs a factor.
        let text = |own: &str| Value::from(own).to_string();
        let limit = timeout.map(|own| format!("timeout = \"{}s\"\n", own.as_secs_f64()));
        let text = format!(
            "schema = 1\nstudy.name = \"cloud\"\ndesign.type = \"full\"\n\
             factors.vm_type.levels = [{}, \"any other\"]\n\
             [run]\ncommand = [\"sh\", {}, \"{{vm_type}}\"]\n{}\
             [metrics.wall]\nfrom = \"wall\"\nunit = \"s\"\n",
            text(&candidate.machine.vm_type),
            text(&script.to_string_lossy()),
            limit.unwrap_or_default(),
        );
        Ok(Study::from_text(&text)?)
    }

    /// Runs on a candidate; nothing where the user has ended it.
    ///
    /// # Errors
    /// A faulty command, or a folder that cannot be made.
    pub(crate) fn run(
        &self,
        place: &RunPlace<'_>,
        number: u32,
        candidate: &Candidate,
    ) -> Result<Option<OwnRun>, Error> {
        let mut engine = LocalEngine::new(LocalPlace {
            trials: place.folder.clone(),
            program: place.program.to_owned(),
            slots: 1,
        })?;
        let script = place.folder.join(format!("{number:05}.sh"));
        let study = Arc::new(self.study(candidate, &script)?);
        let level = |name: &str| match name {
            VM_TYPE => Level::Text(candidate.machine.vm_type.clone()),
            _ => Level::Integer(i64::from(candidate.nodes)),
        };
        let pairs = study.factors.iter().map(|own| (own.name.clone(), level(&own.name)));
        let trial = PlannedTrial {
            number,
            row: None,
            replicate: 1,
            configuration: Configuration::new(pairs.collect()),
            seed: number,
            block: None,
            whole_plot: None,
        };
        engine.submit(TrialOrder {
            study,
            trial,
            slots: 1,
            start: TrialStart::Anew,
            variables: BTreeMap::new(),
        })?;
        let record = ended(&mut engine, place.wish)?;
        if record.outcome == Outcome::Stopped {
            return Ok(None);
        }
        let mut metrics = self.metrics(&place.folder, number, &record);
        let wall_s = record.usage.as_ref().map(|own| own.wall_s);
        Ok(Some(OwnRun {
            vm_type: candidate.machine.vm_type.clone(),
            nodes: candidate.nodes,
            elapsed_s: metrics.remove(ELAPSED).or(wall_s),
            completed: record.outcome == Outcome::Finished,
            metrics,
        }))
    }

    fn metrics(&self, folder: &Path, number: u32, record: &TrialRecord) -> BTreeMap<String, f64> {
        match self {
            Self::Study(_) => {
                let all = record.measurements.iter();
                all.map(|own| (own.metric.clone(), own.value)).collect()
            }
            Self::Command { .. } => {
                let kept = outputs(folder, number).map(|own| own.stdout);
                let text = kept.and_then(|path| fs::read(path).ok()).unwrap_or_default();
                last_metrics(&String::from_utf8_lossy(&text))
            }
        }
    }
}

/// Where runs have their folders, and what the user wishes meanwhile.
pub(crate) struct RunPlace<'a> {
    /// The folder of all runs.
    pub(crate) folder: PathBuf,
    /// This program itself.
    pub(crate) program: &'a Path,
    /// What the user wishes.
    pub(crate) wish: &'a dyn Fn() -> Wish,
}

/// The end of the one trial under way.
fn ended(engine: &mut LocalEngine, wish: &dyn Fn() -> Wish) -> Result<TrialRecord, Error> {
    let mut heard = Wish::GoOn;
    loop {
        let now = wish();
        if now != heard {
            heard = now;
            let how = if now == Wish::StopNow { Stop::Now } else { Stop::Politely };
            engine.stop(Which::All, how);
        }
        match engine.next_event(LOOK) {
            Some(EngineEvent::Ended { record, .. }) => return Ok(*record),
            Some(EngineEvent::NoRoom { reason, .. }) => {
                return Err(Error::Request(format!("the run cannot start: {reason}")));
            }
            _ => {}
        }
    }
}

fn last_metrics(output: &str) -> BTreeMap<String, f64> {
    let lines = output.lines().rev().filter_map(|line| line.trim().strip_prefix("::metric "));
    let parsed = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let last = lines.filter_map(parsed).next();
    last.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_search::cloud::Machine;

    use super::*;

    fn candidate() -> Candidate {
        Candidate { machine: Machine::plain("m.large", 2.0, 4.0, 0.1), nodes: 3 }
    }

    fn run(job: CloudJob<'_>, wish: &dyn Fn() -> Wish) -> Result<Option<OwnRun>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new("/bin/false");
        let place = RunPlace { folder: folder.path().to_owned(), program, wish };
        job.run(&place, 1, &candidate())
    }

    fn command(line: &str) -> CloudJob<'_> {
        CloudJob::Command { line, timeout: None }
    }

    #[test]
    fn placeholders_are_filled_and_metrics_read() {
        let line = "echo '::metric {\"elapsed_s\": {nodes}00, \"cpu\": 7}'; \
            test {vm_type} = m.large && test \"${NONE:-{x}}\" = '{x}'";
        let run = run(command(line), &|| Wish::GoOn).unwrap().unwrap();
        assert_eq!((run.elapsed_s, run.completed), (Some(300.0), true));
        assert_eq!(run.metrics, BTreeMap::from([("cpu".to_owned(), 7.0)]));
    }

    #[test]
    fn the_name_of_a_machine_is_never_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let place = RunPlace {
            folder: folder.path().to_owned(),
            program: Path::new("/bin/false"),
            wish: &|| Wish::GoOn,
        };
        let name = "x; echo '::metric {\"run\": 1}'";
        let candidate = Candidate { machine: Machine::plain(name, 2.0, 4.0, 0.1), nodes: 3 };
        let job = command("echo {vm_type} ${HOME} && test -n \"${HOME}\"");
        let run = job.run(&place, 1, &candidate).unwrap().unwrap();
        assert!(run.completed && run.metrics.is_empty(), "{run:?}");
    }

    #[test]
    fn a_failed_command_is_a_failed_run_with_its_time() {
        let run = run(command("exit 3 # {vm_type}"), &|| Wish::GoOn).unwrap().unwrap();
        assert!(!run.completed && run.elapsed_s.is_some_and(|own| own > 0.0));
    }

    #[test]
    fn a_run_that_takes_too_long_is_ended_and_has_failed() {
        // What it left behind would hold the test for an hour.
        let line = "sleep 3600 & sleep 3600 # {vm_type}";
        let job = CloudJob::Command { line, timeout: Some(Duration::from_millis(300)) };
        let run = run(job, &|| Wish::GoOn).unwrap().unwrap();
        assert!(!run.completed && run.elapsed_s.is_some_and(|own| own < 600.0), "{run:?}");
    }

    #[test]
    fn a_run_that_the_user_ends_is_none() {
        assert_eq!(run(command("sleep 3600 # {vm_type}"), &|| Wish::StopNow).unwrap(), None);
    }

    #[test]
    fn a_command_must_name_the_machine() {
        let error = run(command("true"), &|| Wish::GoOn).unwrap_err().to_string();
        assert_eq!(error, "the command `true` does not use {vm_type}");
    }

    #[test]
    fn a_study_says_what_runs_on_which_machines() {
        let text = "schema = 1\nstudy.name = \"s\"\ndesign.type = \"full\"\n\
            factors.vm_type.levels = [\"m.large\", \"m.xlarge\"]\nfactors.nodes.levels = [3, 5]\n\
            [run]\ncommand = [\"sh\", \"-c\", 'echo \"$1\"', \"{vm_type}\", '::metric {\"elapsed_s\": {nodes}0, \"cpu\": 4}']\n\
            [metrics.elapsed_s]\nunit = \"s\"\n[metrics.cpu]\n[analysis]\nresponse = \"elapsed_s\"\n";
        let study = Study::from_text(text).unwrap();
        let job = CloudJob::Study(&study);
        assert_eq!(job.vm_types().unwrap().unwrap(), ["m.large", "m.xlarge"]);
        assert_eq!(job.nodes(), Some(vec![3, 5]));
        let run = run(job, &|| Wish::GoOn).unwrap().unwrap();
        assert_eq!((run.elapsed_s, run.completed, run.metrics["cpu"]), (Some(30.0), true, 4.0));
        let other = text.replace("nodes", "speed");
        let error = CloudJob::Study(&Study::from_text(&other).unwrap()).vm_types().unwrap_err();
        assert!(error.to_string().contains("factor `speed` is no machine type"), "{error}");
    }
}
