//! Means of the response by level, and which levels differ.

use serde::Serialize;
use trainwright_study::Level;

/// Means of the response by the levels of a factor.
#[derive(Debug, Clone, Serialize)]
pub struct MainEffect {
    /// The factor.
    pub factor: String,
    /// Its levels, low to high.
    pub levels: Vec<LevelMean>,
}

/// Mean of the response at one level.
#[derive(Debug, Clone, Serialize)]
pub struct LevelMean {
    /// The level.
    pub level: Level,
    /// Mean of the observations at it; absent where there are none.
    pub mean: Option<f64>,
    /// Lower end of the mean's interval, with sigma of the fit.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Number of observations.
    pub n: usize,
}

/// Means of the response by pairs of levels.
#[derive(Debug, Clone, Serialize)]
pub struct Interaction {
    /// First factor.
    pub a: String,
    /// Second factor.
    pub b: String,
    /// All pairs of levels.
    pub cells: Vec<CellMean>,
}

/// Mean of the response at a pair of levels.
#[derive(Debug, Clone, Serialize)]
pub struct CellMean {
    /// Level of the first factor.
    pub a_level: Level,
    /// Level of the second factor.
    pub b_level: Level,
    /// Mean; absent where there are no observations.
    pub mean: Option<f64>,
    /// Number of observations.
    pub n: usize,
}

/// All pairs of a factor's levels, compared together.
#[derive(Debug, Clone, Serialize)]
pub struct LevelDifferences {
    /// The factor.
    pub factor: String,
    /// `tukey`, or `games-howell` where the levels vary unequally.
    pub method: &'static str,
    /// One entry a pair.
    pub pairs: Vec<LevelDifference>,
}

/// The difference of the means at two levels.
#[derive(Debug, Clone, Serialize)]
pub struct LevelDifference {
    /// The level whose mean comes first.
    pub a: Level,
    /// The level whose mean is taken from it.
    pub b: Level,
    /// Mean at `a` less mean at `b`.
    pub difference: f64,
    /// Lower end; the intervals of all pairs hold together at the analysis' confidence.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Chance of such a difference in any of the pairs if all levels were alike.
    pub p: f64,
}
