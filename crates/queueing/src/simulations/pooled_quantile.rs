//! Quantiles of a simulated time, out of all batches together.
//!
//! The quantile of a short batch of dependent times is biased, and a mean of such quantiles keeps
//! the bias however many batches there are. The estimate is therefore the quantile of the pooled
//! times. Its interval comes from the share of each batch that lies below it, which is a mean and
//! has no such bias: the interval of that share is turned into times through the pooled sample
//! (Woodruff, Journal of the American Statistical Association 47, 1952).

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::interval::{Interval, sorted_quantile};

/// Sections that the batches are joined to, few and long: a quantile far out in the tail forgets its
/// past more slowly than a mean does.
const SECTIONS: usize = 10;

/// Times of all batches in order.
pub(crate) struct Pooled<'a> {
    batches: Vec<&'a [f64]>,
    all: Vec<f64>,
}

impl<'a> Pooled<'a> {
    /// Pools at least two batches of sorted times, none of them empty.
    pub(crate) fn new(batches: Vec<&'a [f64]>) -> Self {
        let mut all = batches.concat();
        // Runs that are in order already are merged.
        all.sort_by(f64::total_cmp);
        Self { batches, all }
    }

    /// The time that a fraction of all jobs keeps within.
    pub(crate) fn quantile(&self, fraction: f64, confidence: f64) -> Interval {
        let estimate = sorted_quantile(&self.all, fraction);
        let half = self.half_width(estimate, confidence);
        let end = |share: f64| sorted_quantile(&self.all, share.clamp(0.0, 1.0));
        Interval { estimate, low: end(fraction - half), high: end(fraction + half) }
    }

    /// Half of the width of Student's interval of the share of jobs that keep within a time;
    /// sections weigh by their jobs.
    fn half_width(&self, time: f64, confidence: f64) -> f64 {
        let within = |batch: &&[f64]| batch.partition_point(|own| *own <= time) as f64;
        let sections: Vec<(f64, f64)> = self
            .batches
            .chunks(self.batches.len().div_ceil(SECTIONS))
            .map(|own| (own.iter().map(within).sum(), own.iter().map(|b| b.len() as f64).sum()))
            .collect();
        let (count, jobs) = (sections.len() as f64, self.all.len() as f64);
        let share = sections.iter().map(|(within, _)| within).sum::<f64>() / jobs;
        let miss = |(within, own): &(f64, f64)| ((within - share * own) * count / jobs).powi(2);
        let squares: f64 = sections.iter().map(miss).sum();
        let t = StudentsT::new(0.0, 1.0, count - 1.0)
            .expect("two sections leave a degree of freedom")
            .inverse_cdf(0.5 + 0.5 * confidence);
        t * (squares / (count - 1.0) / count).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_random::Random;

    use super::*;

    fn exponential_batches(batches: usize, jobs: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed);
        let batch = |_| {
            let mut own: Vec<f64> = (0..jobs).map(|_| random.exponential()).collect();
            own.sort_by(f64::total_cmp);
            own
        };
        (0..batches).map(batch).collect()
    }

    fn quantile(batches: &[Vec<f64>], fraction: f64) -> Interval {
        Pooled::new(batches.iter().map(Vec::as_slice).collect()).quantile(fraction, 0.95)
    }

    #[test]
    fn quantiles_of_independent_times_are_covered_as_often_as_promised() {
        for fraction in [0.5, 0.9, 0.99] {
            let truth = -(1.0f64 - fraction).ln();
            let held = (0..400)
                .filter(|&seed| {
                    quantile(&exponential_batches(20, 200, seed), fraction).contains(truth)
                })
                .count();
            // 380 are promised; four standard errors are 17.
            assert!((363..=397).contains(&held), "{fraction}: {held}");
        }
    }

    #[test]
    fn a_quantile_of_short_batches_is_not_too_low() {
        // Each batch has 20 values, whose own p99 is nearly always below that of the whole.
        let found = quantile(&exponential_batches(500, 20, 3), 0.99);
        assert!((found.estimate - 100f64.ln()).abs() < 0.25, "{found:?}");
    }

    #[test]
    fn times_that_never_vary_have_no_width() {
        let found = quantile(&[vec![2.0; 5], vec![2.0; 7]], 0.9);
        assert_eq!((found.low, found.estimate, found.high), (2.0, 2.0, 2.0));
    }

    proptest! {
        #[test]
        fn the_estimate_lies_in_its_interval_and_in_the_sample(
            values in prop::collection::vec(prop::collection::vec(0.0..9.0f64, 1..20), 2..8),
            fraction in 0.01..0.99f64,
        ) {
            let sorted = |own: &Vec<f64>| {
                let mut own = own.clone();
                own.sort_by(f64::total_cmp);
                own
            };
            let batches: Vec<Vec<f64>> = values.iter().map(sorted).collect();
            let found = quantile(&batches, fraction);
            prop_assert!(found.contains(found.estimate));
            let all = batches.concat();
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            let most = all.iter().copied().fold(0.0, f64::max);
            prop_assert!(least <= found.low && found.high <= most);
        }
    }
}
