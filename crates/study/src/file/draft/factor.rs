//! Factors before any check.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{FactorKind, Level, Scale};

/// A knob and its levels.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorDraft {
    /// The values it takes, at least two.
    pub levels: Option<Vec<Level>>,
    /// A range of numbers instead of levels; with whole numbers at both ends, of whole numbers.
    pub range: Option<RangeDraft>,
    /// How distances between numeric levels are measured.
    #[serde(default)]
    pub scale: Scale,
    /// Whether it changes the training or the machine.
    #[serde(default)]
    pub kind: FactorKind,
    /// Runs are grouped so that it changes seldom.
    #[serde(default)]
    pub hard_to_change: bool,
    /// The factor exists only where this holds, such as `optimizer == 'sgd'`.
    pub when: Option<String>,
    /// The value that trials had which ran before the study had this factor.
    pub before: Option<Level>,
}

impl FactorDraft {
    /// A factor with these levels.
    pub fn with_levels(levels: Vec<Level>) -> Self {
        Self { levels: Some(levels), ..Self::default() }
    }
}

/// A range of numbers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeDraft {
    /// Lower end.
    pub from: Level,
    /// Upper end.
    pub to: Level,
}
