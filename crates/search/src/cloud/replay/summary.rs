//! How a method did over many workloads and seeds.

use serde::Serialize;

use super::Replayed;

/// How a method did over all replays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Replays.
    pub replays: usize,
    /// Runs until one within 5 % of the optimum.
    pub n_to_5pct: Quantiles,
    /// Runs until one within 10 % of the optimum.
    pub n_to_10pct: Quantiles,
    /// The best before the stop over the optimum.
    pub ratio_at_stop: Quantiles,
    /// Share of the replays that stopped within 5 % of the optimum.
    pub within_5pct_at_stop: f64,
    /// Share of the replays that stopped within 10 % of the optimum.
    pub within_10pct_at_stop: f64,
    /// Runs before the stop.
    pub stopped_after: Quantiles,
    /// What all runs before the stop took together, over the optimum.
    pub search_cost: Quantiles,
    /// How far what was foretold at the stop lay from what was recorded, over the replays that
    /// foretold something.
    pub prediction_error: Quantiles,
}

/// The middle of some values and what nine in ten of them keep below; nothing where those never
/// got there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// The middle.
    pub median: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
}

/// Sums up replays; nothing without any.
pub fn summary(replays: &[Replayed]) -> Option<Summary> {
    if replays.is_empty() {
        return None;
    }
    let count = |runs: Option<usize>| runs.map(|runs| runs as f64);
    let of = |value: &dyn Fn(&Replayed) -> Option<f64>| {
        Quantiles::of(replays.iter().map(value).collect())
    };
    let share = |most: f64| {
        let within = |own: &&Replayed| own.ratio.is_some_and(|ratio| ratio <= 1.0 + most);
        replays.iter().filter(within).count() as f64 / replays.len() as f64
    };
    Some(Summary {
        replays: replays.len(),
        n_to_5pct: of(&|own| count(own.n_to_5pct)),
        n_to_10pct: of(&|own| count(own.n_to_10pct)),
        ratio_at_stop: of(&|own| own.ratio),
        within_5pct_at_stop: share(0.05),
        within_10pct_at_stop: share(0.10),
        stopped_after: of(&|own| Some(own.stopped_after as f64)),
        search_cost: of(&|own| Some(own.search_cost)),
        prediction_error: Quantiles::of(
            replays.iter().map(|own| own.prediction_error).filter(Option::is_some).collect(),
        ),
    })
}

impl Quantiles {
    /// Of values of which some may be missing: those lie beyond all others.
    pub fn of(values: Vec<Option<f64>>) -> Self {
        let mut values: Vec<f64> =
            values.into_iter().map(|own| own.unwrap_or(f64::INFINITY)).collect();
        values.sort_by(f64::total_cmp);
        Self { median: quantile(&values, 0.5), p90: quantile(&values, 0.9) }
    }
}

/// Linear between the values in order (definition 7 of Hyndman and Fan, 1996).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)?) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    let found = if low < high { low + (high - low) * place.fract() } else { low };
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 3, 4, 10], [0.5, 0.9]) gives 3 and 7.6.
        let of = |values: &[f64]| Quantiles::of(values.iter().map(|own| Some(*own)).collect());
        let own = of(&[10.0, 2.0, 1.0, 4.0, 3.0]);
        assert_eq!(own.median, Some(3.0));
        assert!((own.p90.unwrap() - 7.6).abs() < 1e-12);
        assert_eq!(of(&[]), Quantiles { median: None, p90: None });
    }

    #[test]
    fn what_was_never_reached_lies_beyond_all() {
        let own = Quantiles::of(vec![Some(1.0), Some(2.0), None]);
        assert_eq!(own, Quantiles { median: Some(2.0), p90: None });
    }
}
