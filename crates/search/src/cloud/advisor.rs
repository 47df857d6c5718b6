//! What every method does: says what to run next, and whether that is still worth it.

use serde::Serialize;

use super::problem::Told;

/// A method that has been made ready for a problem and its history.
///
/// Advice depends on what was told and on the seed and on nothing else, and never names a
/// candidate that has run.
pub trait Advisor: Send + Sync {
    /// What to run next after these runs.
    fn advise(&self, told: &[Told], seed: u64) -> Advice;
}

/// What a method makes of the runs so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Advice {
    /// The candidate to run next, also where the method would stop; nothing once all have run.
    pub next: Option<usize>,
    /// Why no further run is worth it.
    pub stop: Option<Stop>,
    /// What is expected of candidates that have not run, best first; methods that foretell
    /// nothing leave it empty.
    pub outlook: Vec<Outlook>,
    /// What the user should know about it.
    pub warnings: Vec<String>,
}

/// What is expected of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outlook {
    /// Its place in the table.
    pub candidate: usize,
    /// The objective that is expected: the middle of what it may be.
    pub expected: f64,
    /// It lies above this with a chance of 95 %.
    pub low: Option<f64>,
    /// It lies below this with a chance of 95 %.
    pub high: Option<f64>,
    /// The chance that a run ends well and keeps within the limits.
    pub chance_accepted: Option<f64>,
}

/// Why a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum Stop {
    /// Every candidate has run.
    AllTried,
    /// The method takes this many runs, whatever they give.
    RunsSpent {
        /// How many.
        runs: usize,
    },
    /// The next run is expected to gain less than it must.
    LittleToGain {
        /// The gain expected, as a share of the best objective.
        expected_gain: f64,
        /// The gain that would be enough.
        threshold: f64,
    },
    /// No candidate is expected to be better than the best.
    NoneBetter {
        /// The chance that the most promising one is.
        chance: f64,
    },
    /// All candidates are expected to be worse than so many times the best.
    NoneWithin {
        /// What is expected of the most promising one, as a ratio to the best.
        expected_ratio: f64,
        /// The ratio below which it would have run.
        limit: f64,
    },
    /// Nothing has ended well within the limits, and nothing is likely to.
    NoneAcceptable {
        /// The chance that the most promising candidate would.
        chance: f64,
    },
    /// Every run has failed.
    AllFailed {
        /// How many.
        runs: usize,
    },
    /// No change of one property was better.
    NoNeighbourBetter,
    /// So many runs in a row were no better, although they promised to be.
    Misses {
        /// How many.
        runs: usize,
    },
}

impl Stop {
    /// The reason, in words.
    pub fn words(&self) -> String {
        match self {
            Self::AllTried => "every candidate has run".to_owned(),
            Self::RunsSpent { runs } => format!("the method takes {runs} runs"),
            Self::LittleToGain { expected_gain, threshold } => format!(
                "the next run is expected to gain {:.1} %, and {:.1} % would be worth it",
                100.0 * expected_gain,
                100.0 * threshold
            ),
            Self::NoneBetter { chance } => format!(
                "no other candidate is likely to be better; the most promising one has a chance \
                 of {:.0} %",
                100.0 * chance
            ),
            Self::NoneWithin { expected_ratio, limit } => format!(
                "the most promising candidate is expected at {expected_ratio:.2} times the best, \
                 and {limit} times would have been worth a run"
            ),
            Self::NoneAcceptable { chance } => format!(
                "nothing has kept within the limits, and nothing is likely to; the most promising \
                 candidate has a chance of {} %",
                small_percent(*chance)
            ),
            Self::AllFailed { runs } => format!(
                "all {runs} runs failed; look at what they wrote before paying for more, then go \
                 on as before"
            ),
            Self::NoNeighbourBetter => "no change of one property was better".to_owned(),
            Self::Misses { runs } => format!("{runs} promising runs in a row were no better"),
        }
    }
}

/// A chance of next to nothing is told by its size alone.
fn small_percent(chance: f64) -> String {
    if chance < 0.001 { "less than 0.1".to_owned() } else { format!("{:.1}", 100.0 * chance) }
}
