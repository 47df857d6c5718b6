//! From a study and a planned trial to a command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trainwright_study::{
    CommandTemplate, CommandWord, PlannedTrial, PrepareCommand, Study, Task, Template,
};

use crate::EngineError;

/// All that is needed to start a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables set for the trial, besides those it inherits.
    pub environment: BTreeMap<String, String>,
    /// Where it runs.
    pub workdir: PathBuf,
    /// Program and arguments to run first.
    pub prepare: Option<Vec<String>>,
    /// Files to write into the trial's folder first: name and content.
    pub files: Vec<(&'static str, String)>,
}

/// Works out how to start a trial whose folder is `folder`, an absolute path.
///
/// `program` is this program itself, which runs the study's own jobs.
///
/// # Errors
/// The study has nothing to run, a placeholder has no value, or the job is faulty.
pub fn render(
    study: &Study,
    trial: &PlannedTrial,
    folder: &Path,
    program: &Path,
) -> Result<Launch, EngineError> {
    let names = Names::new(study, trial, folder)?;
    let params = json(&trial.configuration);
    let mut launch = Launch {
        command: Vec::new(),
        environment: BTreeMap::new(),
        workdir: workdir(study, &names)?,
        prepare: study.run.prepare.as_ref().map(|own| names.prepare(own)).transpose()?,
        files: vec![(PARAMS, params)],
    };
    match study.task.as_ref().ok_or(EngineError::NoTask)? {
        Task::Job(template) => {
            let job = template.job(&trial.configuration, u64::from(trial.seed))?;
            let spec = names.path(JOB)?;
            launch.files.push((JOB, json(&job)));
            launch.command = vec![utf8(program)?, "job".to_owned(), spec];
        }
        Task::Command(template) => {
            launch.command = words(template, &names)?;
            launch.environment = variables(template, &names)?;
        }
    }
    launch.environment.extend(names.protocol()?);
    Ok(launch)
}

/// Where a trial runs: the study's folder, unless its command names another.
pub(crate) fn workdir(study: &Study, names: &Names<'_>) -> Result<PathBuf, EngineError> {
    let folder = std::path::absolute(study.folder())
        .map_err(EngineError::file("find the folder", study.folder()))?;
    Ok(match &study.task {
        Some(Task::Command(CommandTemplate { workdir: Some(workdir), .. })) => {
            folder.join(names.fill(workdir)?)
        }
        _ => folder,
    })
}

const PARAMS: &str = "params.json";
const JOB: &str = "job.json";

/// The file that a trial may append JSON lines to.
pub(crate) const METRICS: &str = "metrics.jsonl";
/// The file that appears when a trial should end.
pub(crate) const STOP_FILE: &str = "stop";
/// The folder in which a trial that may go on keeps itself.
pub(crate) const CHECKPOINT: &str = "checkpoint";
/// Names the trial's folder to its process; leftovers are known by it.
pub(crate) const FOLDER_VARIABLE: &str = "TRAINWRIGHT_DIR";

/// What placeholders of one trial stand for.
#[derive(Debug, Clone)]
pub(crate) struct Names<'a> {
    study: &'a Study,
    trial: &'a PlannedTrial,
    folder: String,
}

impl<'a> Names<'a> {
    pub(crate) fn new(
        study: &'a Study,
        trial: &'a PlannedTrial,
        folder: &Path,
    ) -> Result<Self, EngineError> {
        Ok(Self { study, trial, folder: utf8(folder)? })
    }

    /// The template's text for this trial.
    pub(crate) fn fill(&self, template: &Template) -> Result<String, EngineError> {
        let unknown = |name| EngineError::NoValue { name, trial: self.trial.number };
        template.render(|name| self.value(name)).map_err(unknown)
    }

    fn prepare(&self, prepare: &PrepareCommand) -> Result<Vec<String>, EngineError> {
        let unknown = |name| EngineError::NoValue { name, trial: self.trial.number };
        prepare.words(|name| self.value(name)).map_err(unknown)
    }

    fn value(&self, name: &str) -> Option<String> {
        if let Some(level) = self.trial.configuration.get(name) {
            return Some(level.to_string());
        }
        Some(match name {
            "seed" => self.trial.seed.to_string(),
            "trial" => self.trial.number.to_string(),
            "replicate" => self.trial.replicate.to_string(),
            "trial.dir" => self.folder.clone(),
            "params" => self.path(PARAMS).ok()?,
            _ => return None,
        })
    }

    /// Whether a template uses a factor that this configuration does not have.
    fn lacks_a_factor_of(&self, template: &Template) -> bool {
        template.names().any(|name| self.value(name).is_none() && self.study.factor(name).is_some())
    }

    fn path(&self, file: &str) -> Result<String, EngineError> {
        utf8(&Path::new(&self.folder).join(file))
    }

    fn protocol(&self) -> Result<BTreeMap<String, String>, EngineError> {
        let pairs = [
            ("TRAINWRIGHT_STUDY", self.study.name.clone()),
            ("TRAINWRIGHT_TRIAL", self.trial.number.to_string()),
            ("TRAINWRIGHT_REPLICATE", self.trial.replicate.to_string()),
            ("TRAINWRIGHT_SEED", self.trial.seed.to_string()),
            (FOLDER_VARIABLE, self.folder.clone()),
            ("TRAINWRIGHT_PARAMS", self.path(PARAMS)?),
            ("TRAINWRIGHT_METRICS", self.path(METRICS)?),
            ("TRAINWRIGHT_STOP_FILE", self.path(STOP_FILE)?),
        ];
        let mut all: BTreeMap<String, String> =
            pairs.map(|(name, value)| (name.to_owned(), value)).into();
        if self.study.trials_go_on() {
            all.insert("TRAINWRIGHT_CHECKPOINT".to_owned(), self.path(CHECKPOINT)?);
        }
        Ok(all)
    }
}

fn words(template: &CommandTemplate, names: &Names<'_>) -> Result<Vec<String>, EngineError> {
    let mut words = Vec::new();
    for word in &template.words {
        match word {
            CommandWord::One(template) => words.push(names.fill(template)?),
            CommandWord::Group(group) => {
                if !group.iter().any(|template| names.lacks_a_factor_of(template)) {
                    for template in group {
                        words.push(names.fill(template)?);
                    }
                }
            }
        }
    }
    if words.is_empty() {
        return Err(EngineError::EmptyCommand { trial: names.trial.number });
    }
    Ok(words)
}

/// The user's variables; one whose factor does not exist here is not set.
fn variables(
    template: &CommandTemplate,
    names: &Names<'_>,
) -> Result<BTreeMap<String, String>, EngineError> {
    let set = template.env.iter().filter(|(_, value)| !names.lacks_a_factor_of(value));
    set.map(|(name, value)| Ok((name.clone(), names.fill(value)?))).collect()
}

fn utf8(path: &Path) -> Result<String, EngineError> {
    let text = path.to_str().ok_or_else(|| EngineError::NotUtf8 { path: path.to_owned() })?;
    Ok(text.to_owned())
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("names, numbers and texts always write as JSON")
}
