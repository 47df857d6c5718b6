//! What has changed in a study since its trials ran, and what each change means for them.
//!
//! `basis.rs` is what is kept of a study to compare with, `compare.rs` finds the changes and
//! `words.rs` tells them.

mod basis;
mod compare;
mod words;

use crate::{BlockSpec, DesignKind, Level, RunOrder};

pub use basis::StudyBasis;
pub use compare::changes;

/// One thing that differs between a study and what was kept of it.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each name says what it holds; `old` is what was kept")]
pub enum StudyChange {
    /// A factor has joined; trials so far had the value `before`, where the study says it.
    FactorAdded { name: String, before: Option<Level> },
    /// A factor is gone.
    FactorRemoved { name: String },
    /// Another order of the factors.
    FactorsReordered,
    /// A factor measures distances otherwise, or takes values between its levels, or no more.
    FactorRescaled { name: String },
    /// A factor exists in other configurations, or is set anew between other runs.
    FactorRuleChanged { name: String },
    /// A factor is called one of the training or of the machine.
    FactorKindChanged { name: String },
    /// Levels that the factor did not have.
    LevelsAdded { factor: String, levels: Vec<Level> },
    /// Levels that the factor no longer has.
    LevelsRemoved { factor: String, levels: Vec<Level> },
    /// The same levels in another order.
    LevelsReordered { factor: String },
    /// Configurations are chosen otherwise.
    DesignChanged { old: Box<DesignKind>, new: Box<DesignKind> },
    /// Other centre points or another foldover.
    AdditionsChanged,
    /// Other blocks, or none.
    BlocksChanged { old: Option<BlockSpec>, new: Option<BlockSpec> },
    /// Another order of the trials.
    OrderChanged { old: RunOrder, new: RunOrder },
    /// Another seed.
    SeedChanged { old: u64, new: u64 },
    /// Other conditions on configurations.
    ConstraintsChanged { old: Vec<String>, new: Vec<String> },
    /// Trials run something else.
    CommandChanged { parts: Vec<CommandPart> },
    /// A metric has joined.
    MetricAdded { name: String, is_formula: bool },
    /// A metric is gone.
    MetricRemoved { name: String },
    /// A metric is read elsewhere, or another of its values counts.
    MetricRuleChanged { name: String },
    /// A metric is computed otherwise.
    FormulaChanged { name: String, old: String, new: String },
}

/// A part of what a trial runs that is no longer the same.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandPart {
    /// What it is, such as `the command` or `the variable DATA`.
    pub what: String,
    /// What was kept; absent where it was not there or its value is not kept.
    pub old: Option<String>,
    /// What it is now; absent where it is gone or its value is not kept.
    pub new: Option<String>,
}

/// What a change means for the trials that have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEffect {
    /// Nothing that was measured changes: it takes effect as trials are read.
    OnReading,
    /// What trials left behind is read again by the new rule.
    Rereads,
    /// Trials stay where the new design has a place for each of them, and others join.
    Grows,
    /// Trials before and after are of one study only if the user accepts it by this name.
    NeedsAcceptance(&'static str),
    /// Trials before and after are not of one study.
    Refused,
}

impl StudyChange {
    /// What it means for the trials that have run.
    pub fn effect(&self) -> ChangeEffect {
        match self {
            Self::FactorKindChanged { .. }
            | Self::MetricRemoved { .. }
            | Self::MetricAdded { is_formula: true, .. }
            | Self::FormulaChanged { .. } => ChangeEffect::OnReading,
            Self::MetricAdded { .. } | Self::MetricRuleChanged { .. } => ChangeEffect::Rereads,
            Self::FactorAdded { before: Some(_), .. }
            | Self::FactorsReordered
            | Self::FactorRescaled { .. }
            | Self::LevelsAdded { .. }
            | Self::LevelsRemoved { .. }
            | Self::LevelsReordered { .. }
            | Self::DesignChanged { .. }
            | Self::AdditionsChanged
            | Self::ConstraintsChanged { .. } => ChangeEffect::Grows,
            Self::CommandChanged { .. } => ChangeEffect::NeedsAcceptance("command"),
            Self::FactorAdded { before: None, .. }
            | Self::FactorRemoved { .. }
            | Self::FactorRuleChanged { .. }
            | Self::BlocksChanged { .. }
            | Self::OrderChanged { .. }
            | Self::SeedChanged { .. } => ChangeEffect::Refused,
        }
    }
}

#[cfg(test)]
mod tests;
