//! Points that look at nothing: by chance, or evenly spread.

use trainwright_design::{latin_hypercube, sobol};
use trainwright_random::Random;
use trainwright_study::{Configuration, Seed, Spread};

use super::{random_for, random_suggestion};
use crate::{History, Searcher, Space, StopReason, Suggestion};

/// Factors up to which there are Sobol points.
const MOST_SOBOL: usize = 25;
/// Points looked at for each one that is wanted; constraints and repeats take some away.
const SPARE: usize = 8;

/// How points are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Points {
    /// By chance.
    Random,
    /// One in every stratum of every factor.
    LatinHypercube,
    /// The Sobol sequence, moved by chance round the cube.
    Sobol,
}

impl Points {
    /// So many different configurations, fewer where the space has no more.
    pub fn configurations(self, space: &Space, count: usize, seed: Seed) -> Vec<Configuration> {
        let width = space.width();
        let points = match self {
            Self::LatinHypercube => {
                latin_hypercube(width, count.max(1), seed, Spread::Maximin).ok()
            }
            Self::Sobol if width <= MOST_SOBOL => {
                let shift: Vec<f64> = {
                    let mut random = Random::for_purpose(seed.value(), &[1]);
                    (0..width).map(|_| random.unit()).collect()
                };
                // Shifting round the cube keeps the spread (Cranley and Patterson, 1976).
                let moved = |point: Vec<f64>| -> Vec<f64> {
                    point.iter().zip(&shift).map(|(a, b)| (a + b).fract()).collect()
                };
                let points = sobol(width, count.max(1) * SPARE).ok();
                points.map(|points| points.into_iter().map(moved).collect())
            }
            Self::Sobol | Self::Random => None,
        };
        let mut found: Vec<Configuration> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut random = Random::for_purpose(seed.value(), &[2]);
        let by_chance = std::iter::repeat_with(|| space.random(&mut random)).take(count * SPARE);
        let planned = points.into_iter().flatten().map(|point| space.candidate(&point));
        for own in planned.chain(by_chance).flatten() {
            if found.len() >= count {
                break;
            }
            if seen.insert(own.configuration.identity()) {
                found.push(own.configuration);
            }
        }
        found
    }
}

/// Suggests points that look at nothing.
#[derive(Debug, Clone)]
pub struct PointSearch {
    space: Space,
    points: Points,
    seed: Seed,
    planned: Vec<Configuration>,
}

impl PointSearch {
    /// Random points go on for ever; the others are `count` points.
    pub fn new(space: Space, points: Points, count: usize, seed: Seed) -> Self {
        let planned = match points {
            Points::Random => Vec::new(),
            _ => points.configurations(&space, count, seed),
        };
        Self { space, points, seed, planned }
    }
}

impl Searcher for PointSearch {
    fn name(&self) -> &'static str {
        match self.points {
            Points::Random => "random",
            Points::LatinHypercube => "latin-hypercube",
            Points::Sobol => "sobol",
        }
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        if self.points == Points::Random {
            return random_suggestion(&self.space, known, &mut random_for(self.seed, known));
        }
        let fresh = self.planned.iter().find(|own| !known.knows(&own.identity()));
        fresh.map_or(Suggestion::Stop(StopReason::PlanComplete), |own| Suggestion::Try(own.clone()))
    }
}
