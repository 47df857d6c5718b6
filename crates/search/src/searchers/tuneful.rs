//! Tuneful: finds the few factors that matter, then tunes those (Fekry, Carata, Pasquier, Rice and
//! Hopper, "To tune or not to tune? In search of optimal configurations for data analytics",
//! KDD 2020).
//!
//! Factors that do not matter stay where the best trial so far had them: a study has no defaults,
//! which the paper uses.

use trainwright_study::{Configuration, Seed};

use super::bayesian::{Bayesian, BayesianSettings, LittleToGain, NextTrial};
use super::points::Points;
use super::{random_for, random_suggestion};
use crate::cloud::significant_columns;
use crate::surrogate::SurrogateSettings;
use crate::{Cell, History, Searcher, Space, StopReason, Suggestion};

/// Rounds in which factors are dropped.
const ROUNDS: u64 = 2;

/// How such a search goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TunefulSettings {
    /// How the configurations of a round are spread.
    pub points: Points,
    /// How many they are.
    pub round: usize,
    /// The share of the factors that a round keeps.
    pub kept: f64,
    /// How the tuning that follows models trials.
    pub surrogate: SurrogateSettings,
    /// When the tuning stops by itself; never where absent.
    pub stop: Option<LittleToGain>,
    /// Source of its randomness.
    pub seed: Seed,
}

impl TunefulSettings {
    /// The published settings: ten runs a round, of which two fifths of the factors are left; it
    /// stops when less than a tenth is to be gained, after ten runs at least.
    pub fn published(seed: Seed) -> Self {
        Self {
            points: Points::Sobol,
            round: 10,
            kept: 0.4,
            surrogate: SurrogateSettings::default(),
            stop: Some(LittleToGain { threshold: 0.1, least: 10 }),
            seed,
        }
    }
}

/// Suggests what tells factors apart, then what a Gaussian process of those that matter thinks
/// most of.
#[derive(Debug, Clone)]
pub struct Tuneful {
    space: Space,
    settings: TunefulSettings,
}

/// Where a search stands after the rounds that have ended.
enum Stage {
    /// A round has configurations that were not tried.
    Round(Configuration),
    /// All of a round run or ran, and not all have ended.
    Waiting,
    /// No trial of a round has a result.
    NothingMeasured,
    /// The factors that matter vary in this space.
    Tuning(Space),
}

impl Tuneful {
    /// A search of a space of factors.
    pub fn new(space: Space, settings: TunefulSettings) -> Self {
        Self { space, settings }
    }

    /// The factors that are left to tune, by their places; nothing before both rounds have ended.
    pub fn significant(&self, known: &History) -> Option<Vec<String>> {
        match self.stage(known) {
            Stage::Tuning(own) => {
                Some(own.dimensions().iter().map(|own| own.name().to_owned()).collect())
            }
            _ => None,
        }
    }

    /// Follows from the trials of the rounds alone, so that it does not change while tuning.
    fn stage(&self, known: &History) -> Stage {
        let cells = known.cells();
        let mut columns: Vec<usize> = (0..self.space.width()).collect();
        let mut space = self.space.clone();
        let mut tried: Vec<&Cell> = Vec::new();
        for round in 1..=ROUNDS {
            let TunefulSettings { points, round: count, seed, .. } = self.settings;
            let planned = points.configurations(&space, count, seed.derive(round));
            let mut of_round = Vec::new();
            for own in &planned {
                let identity = own.identity();
                match cells.iter().find(|cell| cell.identity == identity) {
                    None => return Stage::Round(own.clone()),
                    Some(cell) => of_round.push(cell),
                }
            }
            if of_round.iter().any(|cell| cell.running > 0) {
                return Stage::Waiting;
            }
            columns = self.kept(&columns, &of_round, round);
            tried.extend(of_round);
            let best = tried
                .iter()
                .filter(|cell| known.keeps_limits(cell))
                .filter_map(|cell| Some((cell.loss(0)?, *cell)))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.first.cmp(&b.1.first)));
            let best = best.and_then(|(_, cell)| self.space.point(&cell.configuration));
            let Some(centre) = best else { return Stage::NothingMeasured };
            space = self.space.focused(&columns, &centre);
        }
        Stage::Tuning(space)
    }

    /// The columns that the trials of a round leave; all where they tell nothing.
    fn kept(&self, columns: &[usize], of_round: &[&Cell], round: u64) -> Vec<usize> {
        let measured = of_round.iter().filter_map(|cell| {
            let seen = self.space.features(&cell.configuration)?;
            Some((columns.iter().map(|&column| seen[column]).collect(), cell.loss(0)?))
        });
        let (points, losses): (Vec<Vec<f64>>, Vec<f64>) = measured.unzip();
        if points.len() < 2 || columns.len() < 2 {
            return columns.to_vec();
        }
        let seed = self.settings.seed.derive(round).value();
        let places = significant_columns(&points, &losses, self.settings.kept, seed);
        places.into_iter().map(|place| columns[place]).collect()
    }

    /// What the next trial would be and what it is worth; nothing before both rounds have ended.
    pub fn next_trial(&self, known: &History) -> Option<NextTrial> {
        match self.stage(known) {
            Stage::Tuning(space) => self.tuning(space).next_trial(known),
            _ => None,
        }
    }

    fn tuning(&self, space: Space) -> Bayesian {
        let TunefulSettings { points, surrogate, stop, seed, .. } = self.settings;
        let settings = BayesianSettings { start: points, start_count: 0, surrogate, stop, seed };
        Bayesian::new(space, settings)
    }

    fn tuned(&self, space: Space, known: &History) -> Suggestion {
        match self.tuning(space).suggest(known) {
            // What is left are the factors that seemed not to matter.
            Suggestion::Stop(StopReason::SpaceExhausted) => {
                let mut random = random_for(self.settings.seed, known);
                random_suggestion(&self.space, known, &mut random)
            }
            own => own,
        }
    }
}

impl Searcher for Tuneful {
    fn name(&self) -> &'static str {
        "tuneful"
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        match self.stage(known) {
            Stage::Round(own) => Suggestion::Try(own),
            Stage::Waiting => Suggestion::Wait,
            Stage::NothingMeasured => {
                let mut random = random_for(self.settings.seed, known);
                random_suggestion(&self.space, known, &mut random)
            }
            Stage::Tuning(space) => self.tuned(space, known),
        }
    }
}
