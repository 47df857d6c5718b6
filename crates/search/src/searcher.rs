//! What every searcher does, and why one stops.

use std::fmt;

use serde::Serialize;
use trainwright_study::Configuration;

use crate::History;

/// Suggests which configuration to measure next.
///
/// The answer depends on what is known and on the searcher's settings and seed, and on nothing
/// else: not on earlier questions, nor on the order in which trials ended. So a search that was
/// interrupted goes on as if it had not been. No configuration is suggested that was tried or is
/// being tried. `tests/it/searchers.rs` holds each implementation to this.
pub trait Searcher: Send {
    /// The word that names it in a study file.
    fn name(&self) -> &'static str;

    /// What to measure next.
    fn suggest(&mut self, known: &History) -> Suggestion;
}

/// What a searcher wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion {
    /// Measure this configuration.
    Try(Configuration),
    /// Nothing before a trial under way has ended.
    Wait,
    /// Stop, and say why. Stopping is a result, so it is not an error.
    Stop(StopReason),
}

/// Why a search ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum StopReason {
    /// Every allowed trial has been spent.
    TrialsSpent {
        /// How many that were.
        trials: u32,
    },
    /// The allowed hours have been spent.
    HoursSpent {
        /// How many that were.
        hours: f64,
    },
    /// The allowed money has been spent.
    MoneySpent {
        /// How much that was.
        money: f64,
    },
    /// The best gain still expected is below the threshold.
    LittleToGain {
        /// The gain expected of the next trial, as a share of the best value.
        share: f64,
        /// The threshold.
        threshold: f64,
    },
    /// Nothing more can be said before trials that somebody else runs have ended.
    TrialsOutside {
        /// How many they are.
        trials: usize,
    },
    /// Every configuration of the space was tried.
    SpaceExhausted,
    /// No step from the best configuration improves it.
    NoStepImproves {
        /// Factors whose best value is at an end of its range: a wider range may hold better ones.
        at_edge: Vec<String>,
    },
    /// The searcher has tried all that it was made for, such as a grid or a given number of points.
    PlanComplete,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrialsSpent { trials } => write!(f, "the budget of {trials} trials is spent"),
            Self::HoursSpent { hours } => {
                write!(f, "the budget is spent: trials took {hours:.2} hours")
            }
            // Small sums would be told as nothing.
            Self::MoneySpent { money } if *money < 0.1 => {
                write!(f, "the budget is spent: trials cost {money:.2e}")
            }
            Self::MoneySpent { money } => write!(f, "the budget is spent: trials cost {money:.2}"),
            Self::LittleToGain { share, threshold } => write!(
                f,
                "little is left to gain: the next trial is expected to improve the best by {:.2} %, \
                 less than {:.2} %",
                100.0 * share,
                100.0 * threshold
            ),
            Self::TrialsOutside { trials } => write!(
                f,
                "trials that were asked for run outside ({trials}); tell what came of them, then \
                 go on"
            ),
            Self::SpaceExhausted => f.write_str("every configuration was tried"),
            Self::NoStepImproves { at_edge } if at_edge.is_empty() => {
                f.write_str("no step from the best configuration improves it")
            }
            Self::NoStepImproves { at_edge } => write!(
                f,
                "no step from the best configuration improves it, but {} ended at the edge of the \
                 range: a wider range may hold a better value",
                at_edge.join(", ")
            ),
            Self::PlanComplete => f.write_str("all planned configurations were tried"),
        }
    }
}
