//! A walk that measures step by step, written as if every measurement were there at once.
//!
//! The walk is gone through anew at each question. A step that nobody has measured ends it, and
//! that step is what is suggested; so a walk needs no memory of its own.

use std::collections::BTreeMap;

use trainwright_stats::welch_t;
use trainwright_study::Configuration;

use crate::{Cell, History, Suggestion};

/// What a walk needs before it can go on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Need {
    /// The result of a configuration that was not tried.
    Untried(Configuration),
    /// The result of one under way.
    Running,
}

impl From<Need> for Suggestion {
    fn from(need: Need) -> Self {
        match need {
            Need::Untried(configuration) => Self::Try(configuration),
            Need::Running => Self::Wait,
        }
    }
}

/// Looks results up.
pub(super) struct Results<'a> {
    known: &'a History,
    cells: BTreeMap<String, Cell>,
    /// Largest p-value that counts as a difference, where both sides have replicates.
    alpha: f64,
}

impl<'a> Results<'a> {
    pub(super) fn of(known: &'a History, alpha: f64) -> Self {
        let cells = known.cells().into_iter().map(|own| (own.identity.clone(), own)).collect();
        Self { known, cells, alpha }
    }

    /// What is known of a configuration; nothing where it failed or breaks a limit.
    pub(super) fn of_configuration(&self, own: &Configuration) -> Result<Option<&Cell>, Need> {
        let Some(cell) = self.cells.get(&own.identity()) else {
            return Err(Need::Untried(own.clone()));
        };
        if cell.running > 0 {
            return Err(Need::Running);
        }
        let good = cell.measured() > 0 && self.known.keeps_limits(cell);
        Ok(good.then_some(cell))
    }

    /// Whether the first is better: by a test where both have replicates, else by their means.
    pub(super) fn better(&self, first: Option<&Cell>, second: Option<&Cell>) -> bool {
        match (first, second) {
            (Some(_), None) => true,
            (None, _) => false,
            (Some(first), Some(second)) => {
                let lower = first.loss(0) < second.loss(0);
                let tested = first.measured() > 1 && second.measured() > 1;
                let test = || welch_t(&first.losses[0], &second.losses[0]);
                // Replicates that do not differ at all leave nothing to test.
                lower && (!tested || test().map_or(true, |test| test.p <= self.alpha))
            }
        }
    }
}
