//! A checked study: everything downstream takes this type.

mod environment;
pub(crate) mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Configuration, DesignSpec, Direction, EarlyStopRule, Echo, Expression, Factor, GoOn,
    JobTemplate, Metric, SearchSpec, Seed, Template, Value,
};

/// A question with factors, metrics, a design and a budget, checked.
///
/// It comes from a file by [`Study::load`] or from code by [`Study::from_draft`]; as JSON it can be
/// kept without its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Study {
    /// Name, which also names the folder of its trials.
    pub name: String,
    /// What it asks, in the user's words.
    pub description: Option<String>,
    /// Source of all its randomness.
    pub seed: Seed,
    /// Factors in file order.
    pub factors: Vec<Factor>,
    /// Which configurations run, how often, in which order.
    #[serde(with = "crate::design_spec::in_parts")]
    pub design: DesignSpec,
    /// How configurations are searched for, instead of a design or after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSpec>,
    /// What a trial runs; nothing for results measured elsewhere.
    pub task: Option<Task>,
    /// How trials are run.
    pub run: RunOptions,
    /// What runs them.
    #[serde(default)]
    pub engine: EngineSpec,
    /// What is measured, in file order.
    pub metrics: Vec<Metric>,
    /// Parameters read back from the output.
    pub echoes: Vec<Echo>,
    /// What is asked of the measurements.
    pub analysis: AnalysisSpec,
    /// Conditions on every configuration.
    pub constraints: Vec<Expression>,
    /// Limits and price.
    pub budget: Budget,
    /// The file it was read from.
    pub source: SourceFile,
}

impl Study {
    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Whether a trial that a search cut short may go on from what it kept of itself.
    pub fn trials_go_on(&self) -> bool {
        let rule = self.search.as_ref().and_then(|own| own.early_stop.as_ref());
        rule.is_some_and(|own| match own.go_on {
            _ if own.rule == EarlyStopRule::Median => false,
            GoOn::OwnTrainer => matches!(self.task, Some(Task::Job(_))),
            GoOn::Always => true,
            GoOn::Never => false,
        })
    }

    /// The factor of that name.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }

    /// The metric that the analysis explains.
    pub fn response(&self) -> &Metric {
        self.metric(&self.analysis.response).expect("a checked study has its response")
    }

    /// Whether the response should be small or large; small unless the study says otherwise.
    pub fn direction(&self) -> Direction {
        self.response().objective.unwrap_or(Direction::Minimize)
    }

    /// The configuration of a trial that may have run before some factors joined: those that it
    /// lacks are there with the values that they had `before`.
    pub fn with_earlier_values(&self, configuration: &Configuration) -> Configuration {
        let scope = |name: &str| {
            let level = configuration.get(name).or_else(|| self.factor(name)?.before.as_ref());
            level.map(Value::from)
        };
        let exists = |factor: &Factor| match &factor.when {
            Some(when) => when.truth(&scope).unwrap_or(false),
            None => true,
        };
        let value = |factor: &Factor| match configuration.get(&factor.name) {
            Some(level) => Some(level.clone()),
            None => factor.before.clone().filter(|_| exists(factor)),
        };
        let pairs = self.factors.iter().map(|factor| Some((factor.name.clone(), value(factor)?)));
        Configuration::new(pairs.flatten().collect())
    }

    /// The folder that the study file lies in.
    pub fn folder(&self) -> &Path {
        match self.source.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }
}

/// A file's path and text, for messages that show places in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Where it was read.
    pub path: PathBuf,
    /// What it said.
    pub text: String,
}

/// What a trial runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// The built-in trainer.
    Job(JobTemplate),
    /// Any command.
    Command(CommandTemplate),
}

/// A command line with placeholders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandTemplate {
    /// Words of the command line, in order.
    pub words: Vec<CommandWord>,
    /// Variables set for the command.
    pub env: BTreeMap<String, Template>,
    /// Those whose values may be kept and shown; of the others only the names are.
    #[serde(default)]
    pub keep_env: BTreeSet<String>,
    /// Folder to run in; the study file's own where absent.
    pub workdir: Option<Template>,
}

/// A part of a command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandWord {
    /// One word.
    One(Template),
    /// Words that appear only where every factor in them exists.
    Group(Vec<Template>),
}

impl CommandTemplate {
    /// All templates of the command: words, variables and folder.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.words
            .iter()
            .flat_map(|word| match word {
                CommandWord::One(template) => std::slice::from_ref(template),
                CommandWord::Group(templates) => templates,
            })
            .chain(self.env.values())
            .chain(&self.workdir)
    }
}

/// What runs trials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineSpec {
    /// This machine.
    #[default]
    Local,
    /// A Spark cluster.
    Spark(SparkSpec),
}

/// A Spark cluster, and how to use it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkSpec {
    /// The cluster, as spark-submit names it.
    pub master: String,
    /// Settings of Spark.
    pub conf: BTreeMap<String, String>,
}

/// How trials are run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// A trial that takes longer is stopped and has failed.
    pub timeout: Option<Duration>,
    /// Time between asking a trial to stop and killing it.
    pub grace: Duration,
    /// Further attempts after an exit code in `retry_on`.
    pub retries: u32,
    /// Exit codes worth another attempt; 128 plus the number for a signal.
    pub retry_on: Vec<i32>,
    /// Trials at the same time.
    pub slots: u32,
    /// Trials whose results are thrown away before the first one counts.
    pub warmup: u32,
    /// What runs before every trial; its time does not count.
    pub prepare: Option<PrepareCommand>,
    /// Time between telemetry samples; by trial length where absent.
    pub sample_every: Option<Duration>,
    /// Whether trials may log by MLflow's client, to the program that runs them.
    #[serde(default)]
    pub mlflow: bool,
}

/// What runs before a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PrepareCommand {
    /// A script for `sh`; the values in it are data to the shell, whatever they are.
    Shell(Template),
    /// A program and its arguments, without a shell.
    Words(Vec<Template>),
}

impl PrepareCommand {
    /// The words to run.
    ///
    /// # Errors
    /// The first placeholder that `lookup` does not know.
    pub fn words(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<Vec<String>, String> {
        match self {
            Self::Shell(script) => {
                Ok(vec!["sh".to_owned(), "-c".to_owned(), script.shell_script(lookup)?])
            }
            Self::Words(words) => words.iter().map(|word| word.render(&lookup)).collect(),
        }
    }

    /// What the study file says, before values are filled in.
    pub fn source(&self) -> String {
        let sources: Vec<&str> = self.templates().iter().map(Template::source).collect();
        sources.join(" ")
    }

    /// Its templates, in order.
    pub fn templates(&self) -> &[Template] {
        match self {
            Self::Shell(script) => std::slice::from_ref(script),
            Self::Words(words) => words,
        }
    }
}

/// What is asked of the measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalysisSpec {
    /// The metric to explain.
    pub response: String,
    /// Terms of the fitted equation.
    pub terms: String,
    /// Largest p-value called evidence.
    pub alpha: f64,
    /// Whether diverged trials that have a response count.
    #[serde(default, skip_serializing_if = "DivergedTrials::is_default")]
    pub diverged: DivergedTrials,
}

/// What becomes of trials that diverged but have a finite response, as where a loss stayed above
/// thirty times the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DivergedTrials {
    /// They are left out of fits and comparisons, and a finding says so.
    #[default]
    LeaveOut,
    /// What they measured counts as that of any finished trial.
    Count,
}

impl DivergedTrials {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Limits and price.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// No trial starts after this many hours of running.
    pub max_hours: Option<f64>,
    /// Price of an hour of the machine.
    pub price_per_hour: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n\
                        [run]\ncommand = [\"p\", [\"{a}\"], \"{seed}\"]\nworkdir = \"w\"\n\
                        env.V = \"v\"\n[metrics.m]\n[metrics.n]\nobjective = \"maximize\"\n";

    fn study() -> Study {
        Study::from_text(TEXT).unwrap()
    }

    #[test]
    fn the_folder_of_a_study_is_never_empty() {
        let mut own = study();
        for (path, folder) in [("s.toml", "."), ("a/b/s.toml", "a/b"), ("/s.toml", "/"), ("", ".")]
        {
            own.source.path = path.into();
            assert_eq!(own.folder(), Path::new(folder), "{path}");
        }
    }

    #[test]
    fn metrics_and_factors_are_found_by_name() {
        let own = study();
        assert_eq!(own.metric("m").unwrap().name, "m");
        assert!(own.metric("a").is_none() && own.factor("m").is_none());
        assert_eq!(own.factor("a").unwrap().levels.len(), 2);
    }

    #[test]
    fn a_response_without_an_objective_should_be_small() {
        let mut own = study();
        assert_eq!((own.response().name.as_str(), own.direction()), ("n", Direction::Maximize));
        own.analysis.response = "m".to_owned();
        assert_eq!(own.direction(), Direction::Minimize);
    }

    #[test]
    fn the_templates_of_a_command_are_all_that_it_has() {
        let Some(Task::Command(command)) = study().task else { panic!() };
        let sources: Vec<&str> = command.templates().map(Template::source).collect();
        assert_eq!(sources, ["p", "{a}", "{seed}", "v", "w"]);
    }

    #[test]
    fn a_placeholder_that_nothing_fills_is_an_error_of_the_preparation() {
        let words = PrepareCommand::Words(vec![Template::parse("mk"), Template::parse("{x}")]);
        assert!(words.words(|_| None).is_err());
        assert!(PrepareCommand::Shell(Template::parse("mk {x}")).words(|_| None).is_err());
        assert_eq!(words.words(|_| Some("1".to_owned())).unwrap(), ["mk", "1"]);
    }

    #[test]
    fn a_factor_that_joined_without_an_earlier_value_stays_absent() {
        let own = study();
        assert_eq!(own.with_earlier_values(&Configuration::default()), Configuration::default());
    }
}
