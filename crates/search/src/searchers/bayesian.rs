//! Learns a Gaussian process from what is known and tries what is worth most by it.

mod worth;

use trainwright_random::Random;
use trainwright_study::{Configuration, Seed};

use super::points::Points;
use super::{first_configuration, random_for, random_suggestion};
use crate::surrogate::{Surrogate, SurrogateSettings};
use crate::{History, Searcher, Space, StopReason, Suggestion};
use worth::most_worth;

/// When a search has little to gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittleToGain {
    /// The expected gain of the next trial, as a share of the best value, below which it stops.
    pub threshold: f64,
    /// Configurations that are tried in any case.
    pub least: usize,
}

/// How a Bayesian search goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BayesianSettings {
    /// How the first configurations are chosen.
    pub start: Points,
    /// How many they are.
    pub start_count: usize,
    /// How the surrogate is made.
    pub surrogate: SurrogateSettings,
    /// When it stops by itself; never where absent.
    pub stop: Option<LittleToGain>,
    /// Source of its randomness.
    pub seed: Seed,
}

impl BayesianSettings {
    /// The usual settings for a space.
    pub fn for_space(space: &Space, seed: Seed) -> Self {
        Self {
            start: Points::Sobol,
            start_count: space.distances().len() + 3,
            surrogate: SurrogateSettings::default(),
            stop: None,
            seed,
        }
    }
}

/// What a Bayesian search thinks of the next trial.
#[derive(Debug, Clone)]
pub struct NextTrial {
    /// What it would try.
    pub configuration: Configuration,
    /// The improvement expected of the scaled objective, by the chance that the trial does not fail
    /// and keeps all limits.
    pub improvement: f64,
    /// The same as a share of the best value.
    pub share: Option<f64>,
    /// The same also where the best value is about 0, see [`Surrogate::gain`].
    pub gain: Option<f64>,
}

/// Suggests what is worth most by a Gaussian process.
#[derive(Debug, Clone)]
pub struct Bayesian {
    space: Space,
    settings: BayesianSettings,
    planned: Vec<Configuration>,
    /// What did well elsewhere; it comes first, whatever a design has measured.
    known_good: Vec<Configuration>,
}

/// What becomes of the next trial.
enum Verdict {
    /// It is worth it.
    Worth,
    /// It is not, if trials under way change nothing.
    AskLater,
    /// It is not.
    Enough(StopReason),
}

impl Bayesian {
    /// A search of a space.
    pub fn new(space: Space, settings: BayesianSettings) -> Self {
        let BayesianSettings { start, start_count, seed, .. } = settings;
        let planned = start.configurations(&space, start_count, seed);
        Self { space, settings, planned, known_good: Vec::new() }
    }

    /// The same search, beginning with configurations that did well elsewhere.
    pub fn starting_with(mut self, known_good: Vec<Configuration>) -> Self {
        let new = |own: &Configuration| !known_good.iter().any(|good| good.same_as(own));
        self.planned.retain(new);
        self.known_good = known_good;
        self
    }

    /// What the next trial would be and what it is worth; nothing while too little is known or
    /// nothing is left to try.
    pub fn next_trial(&self, known: &History) -> Option<NextTrial> {
        let mut random = random_for(self.settings.seed, known);
        let surrogate = self.surrogate(known, &mut random)?;
        self.judged(known, &surrogate, &mut random)
    }

    /// What is learnt from what is known; nothing where that is too little.
    pub fn learnt(&self, known: &History) -> Option<Surrogate> {
        self.surrogate(known, &mut random_for(self.settings.seed, known))
    }

    fn surrogate(&self, known: &History, random: &mut Random) -> Option<Surrogate> {
        let weights = weights(known.aims().goals.len(), random);
        Surrogate::of(&self.space, known, &self.settings.surrogate, &weights, random)
    }

    fn judged(
        &self,
        known: &History,
        surrogate: &Surrogate,
        random: &mut Random,
    ) -> Option<NextTrial> {
        let own = most_worth(&self.space, known, surrogate, random)?;
        let point = [&own.features];
        let improvement = surrogate.improvements(&point)[0] * surrogate.chances(&point)[0];
        let share = surrogate.share(improvement);
        let gain = surrogate.gain(improvement);
        Some(NextTrial { configuration: own.configuration, improvement, share, gain })
    }

    /// Trials under way are believed to give what is expected of them, and may give more: the
    /// search ends with them, not before.
    fn verdict(&self, known: &History, next: &NextTrial) -> Verdict {
        let Some(stop) = self.settings.stop else { return Verdict::Worth };
        let Some(share) = next.gain.filter(|own| *own < stop.threshold) else {
            return Verdict::Worth;
        };
        let tried = known.cells().iter().filter(|own| own.measured() + own.failed > 0).count();
        if tried < stop.least {
            Verdict::Worth
        } else if known.running() > 0 {
            Verdict::AskLater
        } else {
            Verdict::Enough(StopReason::LittleToGain { share, threshold: stop.threshold })
        }
    }
}

/// How much each of several goals matters now: another mixture at each question.
fn weights(goals: usize, random: &mut Random) -> Vec<f64> {
    if goals < 2 {
        return vec![1.0];
    }
    let parts: Vec<f64> = (0..goals).map(|_| random.exponential()).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

impl Searcher for Bayesian {
    fn name(&self) -> &'static str {
        "bayesian"
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        if let Some(own) = first_configuration(&self.known_good, &self.planned, known) {
            return Suggestion::Try(own.clone());
        }
        let mut random = random_for(self.settings.seed, known);
        let Some(surrogate) = self.surrogate(known, &mut random) else {
            return random_suggestion(&self.space, known, &mut random);
        };
        match self.judged(known, &surrogate, &mut random) {
            None if known.running() > 0 => Suggestion::Wait,
            None => Suggestion::Stop(StopReason::SpaceExhausted),
            Some(next) => match self.verdict(known, &next) {
                Verdict::Enough(reason) => Suggestion::Stop(reason),
                Verdict::AskLater => Suggestion::Wait,
                Verdict::Worth => Suggestion::Try(next.configuration),
            },
        }
    }
}
