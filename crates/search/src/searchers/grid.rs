//! Every combination, one after the other.

use trainwright_study::Configuration;

use crate::{History, Searcher, Space, StopReason, Suggestion};

/// Points of a grid at most.
const MOST_ROWS: usize = 1 << 16;

/// Suggests the points of a grid in order.
#[derive(Debug, Clone)]
pub struct Grid {
    rows: Vec<Configuration>,
}

impl Grid {
    /// All combinations of a space, with so many evenly spaced values of every range that has
    /// more; the last factor changes slowest. Beyond [`MOST_ROWS`] it ends, as nobody tries more.
    pub fn new(space: &Space, points_per_range: u32) -> Self {
        if let Some(listed) = space.listed() {
            return Self { rows: listed.iter().map(|own| own.configuration.clone()).collect() };
        }
        let places: Vec<Vec<f64>> = space
            .dimensions()
            .iter()
            .map(|own| {
                let most = u64::from(points_per_range.max(2));
                let count = own.count().unwrap_or(u64::MAX);
                if count <= most || !own.is_range() {
                    (0..count).map(|place| (place as f64 + 0.5) / count as f64).collect()
                } else {
                    (0..most).map(|place| place as f64 / (most - 1) as f64).collect()
                }
            })
            .collect();
        let total = places.iter().fold(1, |total: usize, own| total.saturating_mul(own.len()));
        let mut rows = Vec::new();
        for mut number in 0..total {
            if rows.len() == MOST_ROWS {
                break;
            }
            let point: Vec<f64> = places
                .iter()
                .map(|own| {
                    let place = own[number % own.len()];
                    number /= own.len();
                    place
                })
                .collect();
            rows.extend(space.candidate(&point).map(|own| own.configuration));
        }
        Self { rows }
    }

    /// Points in all.
    pub fn size(&self) -> usize {
        self.rows.len()
    }
}

impl Searcher for Grid {
    fn name(&self) -> &'static str {
        "grid"
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        let fresh = self.rows.iter().find(|own| !known.knows(&own.identity()));
        fresh.map_or(Suggestion::Stop(StopReason::PlanComplete), |own| Suggestion::Try(own.clone()))
    }
}
