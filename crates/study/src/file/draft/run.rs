//! How, where and how long trials run, before any check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{PrepareCommand, Template};

/// How trials run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunDraft {
    /// Words of the command; `{factor}` stands for a level, a nested list is left out where a
    /// factor in it does not exist.
    pub command: Option<Vec<WordDraft>>,
    /// Folder to run in; the study file's own where absent.
    pub workdir: Option<String>,
    /// Variables set for the command.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of `env` whose values may be kept and shown; of the others only the names are.
    #[serde(default)]
    pub keep_env: Vec<String>,
    /// Longest time a trial may take, such as `20m`.
    pub timeout: Option<String>,
    /// Time between asking a trial to stop and killing it, such as `5s`.
    pub grace: Option<String>,
    /// Further attempts after an exit code in `retry_on`.
    #[serde(default)]
    pub retries: u32,
    /// Exit codes worth another attempt; 128 plus the number for a signal.
    pub retry_on: Option<Vec<i32>>,
    /// Trials of this study at the same time, at most the engine's slots.
    pub parallel: Option<u32>,
    /// Trials thrown away before the first one counts.
    #[serde(default)]
    pub warmup: u32,
    /// What runs before every trial: a command for the shell, in which values are quoted, or a list
    /// of words that run without one.
    pub prepare: Option<PrepareDraft>,
    /// Whether trials may log by MLflow's client, to this program.
    #[serde(default)]
    pub mlflow: bool,
}

/// What runs before a trial.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "a script, or words")]
pub enum PrepareDraft {
    Shell(String),
    Words(Vec<String>),
}

impl PrepareDraft {
    pub(crate) fn command(&self) -> PrepareCommand {
        match self {
            Self::Shell(text) => PrepareCommand::Shell(Template::parse(text)),
            Self::Words(words) => {
                PrepareCommand::Words(words.iter().map(|word| Template::parse(word)).collect())
            }
        }
    }
}

/// A part of a command line.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "a word, or a list of words")]
pub enum WordDraft {
    One(String),
    Group(Vec<String>),
}

/// Where trials run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineDraft {
    /// `local` or `spark`.
    #[serde(default)]
    pub kind: EngineKind,
    /// Trials at the same time.
    pub slots: Option<u32>,
    /// The Spark cluster, such as `spark://host:7077` or `local[2]`.
    pub master: Option<String>,
    /// Settings of Spark, such as `"spark.executor.memory" = "2g"`.
    #[serde(default)]
    pub conf: BTreeMap<String, String>,
}

/// What runs the trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the key `kind`")]
pub enum EngineKind {
    #[default]
    Local,
    Spark,
}

/// Resource sampling.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelemetryDraft {
    /// Time between samples, such as `1s`.
    pub sample_every: Option<String>,
}

/// Limits and price.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetDraft {
    /// No trial starts after this many hours of running.
    pub max_hours: Option<f64>,
    /// Price of an hour of the machine.
    pub price_per_hour: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preparation_keeps_its_words_apart() {
        let shell = PrepareDraft::Shell("sync; echo {a}".to_owned()).command();
        assert_eq!(shell.templates().len(), 1);
        let words = PrepareDraft::Words(vec!["echo".to_owned(), "{a} {b}".to_owned()]).command();
        let PrepareCommand::Words(templates) = &words else { panic!("{words:?}") };
        assert_eq!(templates[1].names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(words.source(), "echo {a} {b}");
    }

    #[test]
    fn a_command_is_words_and_groups_of_words() {
        let draft: RunDraft = toml::from_str("command = [\"p\", [\"-a\", \"1\"]]").unwrap();
        let words = draft.command.unwrap();
        assert!(matches!(&words[0], WordDraft::One(word) if word == "p"));
        assert!(matches!(&words[1], WordDraft::Group(group) if group.len() == 2));
        assert!(toml::from_str::<RunDraft>("command = [1]").is_err());
        assert!(toml::from_str::<RunDraft>("command = [[[\"deep\"]]]").is_err());
    }
}
