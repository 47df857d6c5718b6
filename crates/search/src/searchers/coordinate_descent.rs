//! One factor after the other is set to its best value, until no single change helps.

use trainwright_study::Configuration;

use super::walk::{Need, Results};
use crate::{Dimension, History, Searcher, Space, StopReason, Suggestion};

/// Steps along a range, as shares of it; the last one is to the values on both sides, where values
/// can be counted.
const STEPS: [f64; 4] = [0.25, 0.1, 0.04, 0.0];

/// Suggests neighbours of the best configuration, one factor at a time.
#[derive(Debug, Clone)]
pub struct CoordinateDescent {
    space: Space,
    start: Configuration,
    alpha: f64,
}

impl CoordinateDescent {
    /// A descent from a configuration; `alpha` is the largest p-value that counts as a difference
    /// where configurations have replicates.
    pub fn new(space: Space, start: Configuration, alpha: f64) -> Self {
        Self { space, start, alpha }
    }

    fn walk(&self, results: &Results<'_>) -> Result<StopReason, Need> {
        let Some(mut at) = self.space.point(&self.start) else {
            return Ok(StopReason::PlanComplete);
        };
        let mut here = results.of_configuration(&self.start)?;
        for step in STEPS {
            loop {
                let mut moved = false;
                for dimension in 0..self.space.width() {
                    for place in self.neighbours(&at, dimension, step) {
                        let mut point = at.clone();
                        point[dimension] = place;
                        let Some(own) = self.space.candidate(&point) else { continue };
                        let there = results.of_configuration(&own.configuration)?;
                        if results.better(there, here) {
                            (at, here, moved) = (point, there, true);
                        }
                    }
                }
                if !moved {
                    break;
                }
            }
        }
        Ok(StopReason::NoStepImproves { at_edge: Vec::new() })
    }

    /// Other places of one factor: all others of a category, the next ones of a number.
    fn neighbours(&self, at: &[f64], dimension: usize, step: f64) -> Vec<f64> {
        let own = self.space.dimensions().get(dimension);
        let count = own.and_then(|own| own.count()).map(|count| count as f64);
        let here = at[dimension];
        let category =
            own.is_none_or(|own| own.distance() == crate::gaussian_process::Distance::Mismatch);
        let places: Vec<f64> = match count {
            Some(count) if category => {
                (0..count as u64).map(|place| (place as f64 + 0.5) / count).collect()
            }
            Some(count) => {
                let jump = (step * count).floor() / count;
                let mut places = beside(own.expect("it has values"), here);
                // Steps that are no longer than to the next value are left to the last round.
                if jump > 0.0 {
                    places = vec![here - jump, here + jump];
                }
                places
            }
            None if own.is_none() => {
                let rows = self.space.listed().map_or(0, <[_]>::len) as f64;
                (0..rows as u64).map(|place| (place as f64 + 0.5) / rows).collect()
            }
            None if step > 0.0 => vec![here - step, here + step],
            None => Vec::new(),
        };
        let inside = places.into_iter().filter(|place| (0.0..=1.0).contains(place));
        inside.filter(|place| (place - here).abs() > 1e-9).collect()
    }
}

/// Places of the values next to the one at a place: on a scale values have parts of different size,
/// so that no step of one size leads from each to the next.
fn beside(dimension: &Dimension, here: f64) -> Vec<f64> {
    let Some(index) = dimension.index(&dimension.level(here)) else { return Vec::new() };
    let others = [index.checked_sub(1), index.checked_add(1)];
    let value = |own: u64| dimension.place(&dimension.value(own)?);
    let count = dimension.count().unwrap_or(0);
    others.into_iter().flatten().filter(|own| *own < count).filter_map(value).collect()
}

impl Searcher for CoordinateDescent {
    fn name(&self) -> &'static str {
        "coordinate-descent"
    }

    fn suggest(&mut self, known: &History) -> Suggestion {
        match self.walk(&Results::of(known, self.alpha)) {
            Ok(reason) => Suggestion::Stop(reason),
            Err(need) => need.into(),
        }
    }
}
