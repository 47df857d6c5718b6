//! Which configurations are confirmed when a search has ended, and what that tells.
//!
//! The best of many noisy trials is a lucky one as a rule. So who is confirmed follows from the
//! search's own trials alone, once and for all, and who wins from the confirming trials alone.

use trainwright_study::Configuration;

use crate::{Cell, History};

/// How the best configurations are told apart when a search has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirm {
    /// How many of the best run again.
    pub best: usize,
    /// Trials that each has in the end.
    pub replications: u32,
}

impl Confirm {
    /// The best by the search's own trials, so many of each configuration, best first.
    fn chosen(self, known: &History, replicates: u32) -> Vec<Cell> {
        let own_trials = known.cells().into_iter().filter_map(|cell| {
            let own = part(&cell, 0, replicates as usize);
            let loss = own.loss(0).filter(|_| known.keeps_limits(&own))?;
            Some((loss, cell))
        });
        let mut ranked: Vec<(f64, Cell)> = own_trials.collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.into_iter().take(self.best).map(|(_, cell)| cell).collect()
    }

    /// What runs next: all have their second trial before any has its third, so that what drifts
    /// with time meets all alike. One that failed runs no more.
    pub(crate) fn next(self, known: &History, replicates: u32) -> Option<Configuration> {
        let chosen = self.chosen(known, replicates).into_iter();
        let few = chosen.filter(|own| own.failed == 0 && own.trials() < self.replications);
        few.min_by_key(Cell::trials).map(|own| own.configuration)
    }

    /// Whether trials of the search itself are under way, so that the best are not known yet.
    pub(crate) fn waits(self, known: &History, replicates: u32) -> bool {
        known.cells().iter().any(|own| own.running > 0 && own.measured() < replicates)
    }

    /// What the confirming trials alone tell of those that were confirmed, best first; nothing
    /// before each has one.
    pub fn judged(self, known: &History, replicates: u32) -> Vec<Cell> {
        let chosen = self.chosen(known, replicates);
        let confirming = |own: &Cell| part(own, replicates as usize, usize::MAX);
        let there: Vec<Cell> =
            chosen.iter().filter(|own| own.failed == 0).map(confirming).collect();
        if there.iter().any(|own| own.measured() == 0) {
            return Vec::new();
        }
        let kept = there.into_iter().filter(|own| known.keeps_limits(own));
        let mut scored: Vec<(f64, Cell)> =
            kept.filter_map(|own| Some((own.loss(0)?, own))).collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        scored.into_iter().map(|(_, own)| own).collect()
    }
}

/// A cell with some of its measured trials, by their order.
fn part(cell: &Cell, from: usize, to: usize) -> Cell {
    let few = |all: &Vec<f64>| all.iter().copied().take(to).skip(from).collect::<Vec<f64>>();
    let all = cell.measured() as usize;
    cell.with_measurements(
        cell.losses.iter().map(few).collect(),
        cell.limited.iter().map(few).collect(),
        all.min(to).saturating_sub(from) as u32,
    )
}
