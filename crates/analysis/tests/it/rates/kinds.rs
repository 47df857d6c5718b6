//! Kinds of study, and clean data of each.
//!
//! Clean means normal, independent noise of one size about an equation of straight lines, all
//! rows run, nothing drifting. `designed.rs` holds studies that were planned, `tables.rs` tables
//! that somebody brings, `questions.rs` the data of other questions than an equation.

pub(crate) mod designed;
pub(crate) mod questions;
pub(crate) mod tables;

use trainwright_analysis::Finding;

use super::noise::Noise;

/// What the factors of a clean study do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    /// Nothing: all is noise.
    NoEffect,
    /// Each moves the response along a straight line.
    Linear,
}

impl Truth {
    /// Change of the response for each unit that a coded factor moves.
    pub(crate) fn slope(self) -> f64 {
        match self {
            Self::NoEffect => 0.0,
            Self::Linear => 1.5,
        }
    }
}

/// A kind of study.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Findings of one clean study.
    pub(crate) findings: fn(&Kind, Truth, &mut Noise) -> Vec<Finding>,
    /// The design of a planned study, the formula of a table.
    pub(crate) text: &'static str,
    /// Findings that are facts of the plan or of the rows, made of every study of the kind.
    pub(crate) facts: &'static [&'static str],
    /// Findings that are facts of some studies of the kind: of the rows drawn, or of blocks that
    /// differ.
    pub(crate) at_times: &'static [&'static str],
}

/// All kinds.
pub(crate) fn kinds() -> Vec<Kind> {
    [designed::KINDS, tables::KINDS, questions::KINDS].concat()
}
