//! How a search came to its best: what was known after each trial, and what the next one promised.

use serde::Serialize;

use crate::{Bayesian, History};

/// A search after one of its trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracePoint {
    /// Number of the trial.
    pub trial: u32,
    /// The best value of the first goal up to then.
    pub best: Option<f64>,
    /// The gain that the next trial promised then, as a share of the best value; absent before
    /// enough was known.
    pub gain: Option<f64>,
}

/// The best value after each trial, and what the next one promised to a Bayesian search.
pub fn trace(known: &History, judge: Option<&Bayesian>) -> Vec<TracePoint> {
    let goal = known.aims().goals.first();
    known
        .numbers()
        .into_iter()
        .map(|trial| {
            let then = known.up_to(trial);
            let loss = then.best(0).and_then(|own| own.loss(0));
            let best = goal.and_then(|goal| loss.map(|loss| goal.value(loss)));
            let next = judge.and_then(|own| own.next_trial(&then));
            TracePoint { trial, best, gain: next.and_then(|own| own.share) }
        })
        .collect()
}
