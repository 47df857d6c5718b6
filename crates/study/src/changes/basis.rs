//! What is kept of a study to compare it with later: all that its trials rest on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainwright_random::{finalize, mix};

use crate::{
    Additions, CommandTemplate, CommandWord, DesignKind, Expression, Factor, JobTemplate, Metric,
    MetricSource, Pick, RunOrder, Seed, Study, Task, Template,
};

/// The part of a study that its trials rest on; [`changes`](crate::changes) compares two of them.
///
/// Analysis, budget, timeouts and replications are no part of it: they may change at any time.
/// In JSON it reads what older versions kept, which had no metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyBasis {
    pub(super) study: Head,
    pub(super) factors: Vec<Factor>,
    pub(super) design: Rows,
    pub(super) constraints: Vec<Expression>,
    pub(super) task: Option<KeptTask>,
    /// Absent where an older version kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metrics: Option<Vec<MetricRule>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) seed: Seed,
}

/// The design without the number of replications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Rows {
    pub(super) kind: DesignKind,
    pub(super) order: RunOrder,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) additions: Additions,
}

/// What a trial runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KeptTask {
    Job(JobTemplate),
    Command(KeptCommand),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptCommand {
    pub(super) words: Vec<CommandWord>,
    pub(super) env: BTreeMap<String, KeptValue>,
    pub(super) workdir: Option<Template>,
}

/// The value of a variable; a mark to compare with where it is not to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum KeptValue {
    Plain(Template),
    Hidden { mark: u32 },
}

impl KeptValue {
    /// A mark that tells a changed value in all but one of 2^32 cases. It is that short on purpose:
    /// a guess that fits it is no proof of having found the value.
    pub(super) fn mark(&self) -> u32 {
        match self {
            Self::Hidden { mark } => *mark,
            Self::Plain(template) => {
                let fold = |state, byte: u8| finalize(state ^ mix(u64::from(byte)));
                let state = template.source().bytes().fold(0, fold);
                u32::try_from(state >> 32).expect("half of 64 bits")
            }
        }
    }

    pub(super) fn shown(&self) -> Option<String> {
        match self {
            Self::Plain(template) => Some(template.source().to_owned()),
            Self::Hidden { .. } => None,
        }
    }
}

/// How a metric is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MetricRule {
    pub(super) name: String,
    pub(super) source: MetricSource,
    #[serde(default)]
    pub(super) pick: Pick,
    /// The unit that wall time is counted in; other metrics come in theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<String>,
}

impl Study {
    /// What its trials rest on, to be kept with them.
    pub fn basis(&self) -> StudyBasis {
        let design = &self.design;
        StudyBasis {
            study: Head { name: self.name.clone(), seed: self.seed },
            factors: self.factors.clone(),
            design: Rows {
                kind: design.kind.clone(),
                order: design.order,
                additions: design.additions.clone(),
            },
            constraints: self.constraints.clone(),
            task: self.task.as_ref().map(KeptTask::of),
            metrics: Some(self.metrics.iter().map(MetricRule::of).collect()),
        }
    }
}

impl KeptTask {
    fn of(task: &Task) -> Self {
        match task {
            Task::Job(job) => Self::Job(job.clone()),
            Task::Command(CommandTemplate { words, env, keep_env, workdir }) => {
                let kept = |(name, value): (&String, &Template)| {
                    let plain = KeptValue::Plain(value.clone());
                    let kept = keep_env.contains(name);
                    let value = if kept { plain } else { KeptValue::Hidden { mark: plain.mark() } };
                    (name.clone(), value)
                };
                let env = env.iter().map(kept).collect();
                Self::Command(KeptCommand { words: words.clone(), env, workdir: workdir.clone() })
            }
        }
    }
}

impl MetricRule {
    fn of(metric: &Metric) -> Self {
        let unit = match metric.source {
            MetricSource::Wall => metric.unit.clone(),
            _ => None,
        };
        Self { name: metric.name.clone(), source: metric.source.clone(), pick: metric.pick, unit }
    }
}

fn is_default(additions: &Additions) -> bool {
    *additions == Additions::default()
}
