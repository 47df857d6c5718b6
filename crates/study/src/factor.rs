//! A knob of the study and the values it may take.

pub(crate) mod configuration;
pub(crate) mod level;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Expression, Level};

/// A knob, hyper-parameter or system setting, with its levels in file order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Name, an identifier.
    pub name: String,
    /// Levels in file order, or the two ends of a range; at least two, no two the same.
    pub levels: Vec<Level>,
    /// Whether values between the levels may run too.
    #[serde(default, skip_serializing_if = "Domain::is_levels")]
    pub domain: Domain,
    /// How distances between numeric levels are measured.
    pub scale: Scale,
    /// Whether it changes the training or the machine.
    pub kind: FactorKind,
    /// Whether runs are grouped so that it changes seldom.
    #[serde(default, skip_serializing_if = "Change::is_easy")]
    pub change: Change,
    /// The factor exists only in configurations where this holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// The value of trials that ran before the study had this factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Level>,
}

impl Factor {
    /// The factor's own level equal to `level`, if it has one.
    pub fn level(&self, level: &Level) -> Option<&Level> {
        self.levels.iter().find(|own| own.same_as(level))
    }

    /// What a cell of a table means: one of the levels, or a number inside the range.
    pub fn value(&self, cell: &Level) -> Option<Level> {
        // A level may be a text that looks like a number, which a cell does not show.
        let is_spelt = |own: &&Level| matches!(own, Level::Text(text) if *text == cell.to_string());
        let spelt = || self.levels.iter().find(is_spelt);
        if let Some(level) = self.level(cell).or_else(spelt) {
            return Some(level.clone());
        }
        let (low, high) = (self.domain == Domain::Range).then(|| self.ends())??;
        let inside = |value: f64| low.number() < Some(value) && Some(value) < high.number();
        cell.number().is_some_and(inside).then(|| cell.clone())
    }

    /// The smallest and the largest level of a numeric factor.
    pub fn ends(&self) -> Option<(&Level, &Level)> {
        let mut sorted: Vec<(f64, &Level)> = self
            .levels
            .iter()
            .map(|level| Some((level.number()?, level)))
            .collect::<Option<_>>()?;
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some((sorted.first()?.1, sorted.last()?.1))
    }

    /// Whether every level is a number.
    pub fn is_numeric(&self) -> bool {
        self.levels.iter().all(|level| level.number().is_some())
    }

    /// The lower and the higher level of a two-level factor: numbers by size, others in file order.
    pub fn low_and_high(&self) -> Option<(&Level, &Level)> {
        let [first, second] = self.levels.as_slice() else { return None };
        match (first.number(), second.number()) {
            (Some(a), Some(b)) if a > b => Some((second, first)),
            _ => Some((first, second)),
        }
    }
}

/// Which values a factor may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    /// The levels and no others, unless the design needs points between them.
    #[default]
    Levels,
    /// Every value from the lower level to the higher.
    Range,
}

impl Domain {
    /// Whether only the levels may run.
    pub fn is_levels(&self) -> bool {
        *self == Self::Levels
    }
}

/// How distances between numeric levels are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By difference.
    #[default]
    Linear,
    /// By ratio, natural logarithm.
    Log,
    /// By ratio, in doublings.
    Log2,
}

impl Scale {
    /// The position of a value on this scale.
    pub fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.ln(),
            Self::Log2 => value.log2(),
        }
    }

    /// The value at a position on this scale.
    pub fn value(self, position: f64) -> f64 {
        match self {
            Self::Linear => position,
            Self::Log => position.exp(),
            Self::Log2 => position.exp2(),
        }
    }
}

/// What it takes to set a factor to another level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Any run may have any level.
    #[default]
    Easy,
    /// Runs of the same level are kept together, in whole plots.
    Hard,
}

impl Change {
    /// Whether any run may have any level.
    pub fn is_easy(&self) -> bool {
        *self == Self::Easy
    }
}

/// What a factor changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactorKind {
    /// The training itself, such as a learning rate.
    #[default]
    Hyper,
    /// The machine or its use, such as a thread count.
    System,
}
