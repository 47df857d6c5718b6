//! What a design's reader should know about how its rows came to be.

use std::fmt;

use serde::Serialize;
use trainwright_study::{Configuration, Level};

use crate::misprint::Misprint;

/// Something about a design that its rows alone do not tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DesignNote {
    /// Rows left out because a constraint forbids them.
    Dropped {
        /// The constraint.
        constraint: String,
        /// What it forbids.
        configurations: Vec<Configuration>,
    },
    /// Combinations that differ only in factors absent from them run once.
    Merged {
        /// Combinations that repeated an earlier row.
        combinations: usize,
    },
    /// A level that no row runs.
    LevelNeverRun {
        /// The factor.
        factor: String,
        /// The level.
        level: Level,
    },
    /// A row of the table repeats an earlier one.
    Repeated {
        /// The later row, from 1.
        row: usize,
        /// The earlier row, from 1.
        of: usize,
    },
    /// The runs asked for are all combinations, so nothing is aliased.
    WholeFactorial,
    /// The search for the best fraction was cut short; there may be better generators.
    NotProvenBest,
    /// The table looks like a regular fraction with a wrong sign.
    Misprint(Misprint),
}

impl fmt::Display for DesignNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped { constraint, configurations } => {
                let count = configurations.len();
                let rows = if count == 1 { "row" } else { "rows" };
                write!(f, "{count} {rows} dropped by constraint `{constraint}`")
            }
            Self::Merged { combinations: 1 } => {
                f.write_str("1 combination merged with another that differs in absent factors only")
            }
            Self::Merged { combinations } => write!(
                f,
                "{combinations} combinations merged with others that differ in absent factors only"
            ),
            Self::LevelNeverRun { factor, level } => {
                write!(f, "no row runs `{factor}` at {level}")
            }
            Self::Repeated { row, of } => write!(f, "row {row} repeats row {of}"),
            Self::WholeFactorial => {
                f.write_str("the runs are all combinations, so nothing is aliased")
            }
            Self::NotProvenBest => f.write_str(
                "the generators are the best of those tried; better ones may exist for this size",
            ),
            Self::Misprint(misprint) => misprint.fmt(f),
        }
    }
}
