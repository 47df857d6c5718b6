//! Searchers: each suggests what to measure next from what is known.
//!
//! `grid.rs` and `points.rs` (random, Latin hypercube, Sobol) look at nothing; `line.rs` and
//! `coordinate_descent.rs` walk step by step (`walk.rs`); `tree_parzen.rs` and `bayesian.rs` learn, `tuneful.rs`
//! first which factors matter.

pub(crate) mod bayesian;
pub(crate) mod coordinate_descent;
pub(crate) mod grid;
pub(crate) mod line;
pub(crate) mod points;
pub(crate) mod tree_parzen;
pub(crate) mod tuneful;
mod walk;

use trainwright_random::Random;
use trainwright_study::{Configuration, Seed};

use crate::{History, Space, StopReason, Suggestion};

/// Random candidates that are looked at for a new one before a space counts as exhausted.
const MOST_TRIES: usize = 2_000;

/// The random numbers for the next question: they follow from the seed and from how much is known.
fn random_for(seed: Seed, known: &History) -> Random {
    Random::for_purpose(seed.value(), &[known.trials() as u64])
}

/// What is tried before a searcher learns: all that did well elsewhere, then what was planned as
/// far as no other trials, such as those of a design, have told as much.
fn first_configuration<'a>(
    known_good: &'a [Configuration],
    planned: &'a [Configuration],
    known: &History,
) -> Option<&'a Configuration> {
    let fresh = |own: &&Configuration| !known.knows(&own.identity());
    let all = known_good.len() + planned.len();
    let planned = if known.cells().len() < all { planned } else { &[] };
    known_good.iter().find(fresh).or_else(|| planned.iter().find(fresh))
}

/// A candidate by chance that was not tried.
fn random_suggestion(space: &Space, known: &History, random: &mut Random) -> Suggestion {
    let tried: std::collections::BTreeSet<String> =
        known.cells().into_iter().map(|own| own.identity).collect();
    if let Some(listed) = space.listed() {
        let fresh: Vec<_> =
            listed.iter().filter(|own| !tried.contains(&own.configuration.identity())).collect();
        if fresh.is_empty() {
            return Suggestion::Stop(StopReason::SpaceExhausted);
        }
        return Suggestion::Try(fresh[random.index(fresh.len())].configuration.clone());
    }
    for _ in 0..MOST_TRIES {
        let Some(own) = space.random(random) else { break };
        if !tried.contains(&own.configuration.identity()) {
            return Suggestion::Try(own.configuration);
        }
    }
    Suggestion::Stop(StopReason::SpaceExhausted)
}
