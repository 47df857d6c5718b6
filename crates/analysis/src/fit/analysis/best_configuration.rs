//! The best configuration, measured and predicted.

use serde::Serialize;
use trainwright_study::{Configuration, Direction};

/// The best configuration seen.
#[derive(Debug, Clone, Serialize)]
pub struct Best {
    /// One level for every factor.
    pub configuration: Configuration,
    /// Mean of its observations, whatever block they were made in.
    pub mean: f64,
    /// Lower end of the mean's interval, which allows for its having been chosen among those that
    /// cannot be told from it, and stays in the metric's range.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Number of observations.
    pub n: usize,
    /// Whether small or large is good.
    pub direction: Direction,
    /// Whose spread the interval uses: `common` of all configurations, `own` of each (Welch), or
    /// `strata`, whole plots and trials within them; absent without a measure of noise.
    pub spread: Option<&'static str>,
    /// Configurations that cannot be told from it, the best first (Hsu's comparisons with the
    /// best).
    pub alike: Vec<Alike>,
    /// The best by the equation over all combinations of the levels that ran.
    pub predicted: Option<PredictedBest>,
}

/// A configuration that may be as good as the best.
#[derive(Debug, Clone, Serialize)]
pub struct Alike {
    /// One level for every factor.
    pub configuration: Configuration,
    /// Mean of its observations.
    pub mean: f64,
    /// Number of observations.
    pub n: usize,
}

/// The best combination of levels by the equation.
#[derive(Debug, Clone, Serialize)]
pub struct PredictedBest {
    /// One level for every factor.
    pub configuration: Configuration,
    /// What the equation expects, each term shrunken by 1 - 1/F since the combination was chosen;
    /// the mean of its own runs where configurations vary unequally and it was repeated.
    pub mean: f64,
    /// Whether the terms are shrunken.
    pub shrunken: bool,
    /// Lower end of the interval of one more trial; absent without a measure of noise.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How often it was measured; 0 where it was not run.
    pub measured: usize,
    /// Whether it is the best measured too.
    pub same: bool,
    /// Combinations of the levels that ran; absent where there are too many to count.
    pub combinations: Option<usize>,
    /// False where only combinations near the best measured were looked at, one factor at a time.
    pub all_looked_at: bool,
    /// Combinations that the equation cannot predict, because terms are aliased.
    pub beyond_prediction: usize,
}
