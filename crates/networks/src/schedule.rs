//! How learning rate and batch go on while a network is trained.
//!
//! Positions are counted in epochs, so that a schedule means the same for every batch size.

use std::f64::consts::PI;

/// A rate and a batch for every position of a training.
///
/// ```
/// use trainwright_networks::{Schedule, ScheduleShape};
///
/// let shape = ScheduleShape::GrowBatch { factor: 5.0, at: vec![30.0, 60.0] };
/// let schedule = Schedule { shape, ..Schedule::constant(0.1, 128, 50_000) };
/// assert_eq!((schedule.at(0.0).rate, schedule.at(0.0).batch), (0.1, 128));
/// assert_eq!((schedule.at(30.0).rate, schedule.at(30.0).batch), (0.1, 640));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// How the rate or the batch goes on after the warm-up.
    pub shape: ScheduleShape,
    /// Learning rate for a batch of `reference_batch`, or for the first batch.
    pub rate: f64,
    /// Examples a step at first.
    pub batch: usize,
    /// Examples an epoch.
    pub examples: usize,
    /// Epochs in all.
    pub epochs: f64,
    /// Epochs over which the rate rises to its full size.
    pub warmup: f64,
    /// The batch that `rate` is meant for: the linear scaling rule multiplies the rate by
    /// `batch / reference_batch` (Goyal et al. 2017, section 2.1).
    pub reference_batch: Option<usize>,
}

/// How the rate or the batch goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum ScheduleShape {
    /// Both stay.
    Constant,
    /// The rate is multiplied by `factor` at each of these epochs.
    Step {
        /// What the rate is multiplied by.
        factor: f64,
        /// When, in epochs.
        at: Vec<f64>,
    },
    /// The rate falls to zero along half a cosine (Loshchilov and Hutter 2017, equation 5, without
    /// restarts).
    Cosine,
    /// The batch is multiplied by `factor` at each of these epochs where [`Self::Step`] would
    /// divide the rate by it, as long as it stays within a tenth of the data; beyond that the rate
    /// is divided after all (Smith et al. 2018, sections 3 and 5).
    GrowBatch {
        /// What the batch is multiplied by.
        factor: f64,
        /// When, in epochs.
        at: Vec<f64>,
    },
}

/// The sizes of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSize {
    /// Learning rate.
    pub rate: f64,
    /// Examples to take, as far as the epoch has them.
    pub batch: usize,
}

impl StepSize {
    /// The scale of the noise that this step brings into the weights, `rate * N / (B * (1 - m))`
    /// with `N` examples and momentum `m` (Smith et al. 2018, equation 7, for `B` well below `N`).
    pub fn noise_scale(self, examples: usize, momentum: f64) -> f64 {
        self.rate * examples as f64 / (self.batch as f64 * (1.0 - momentum))
    }
}

impl Schedule {
    /// A rate and a batch that stay.
    pub fn constant(rate: f64, batch: usize, examples: usize) -> Self {
        let (epochs, warmup) = (1.0, 0.0);
        let shape = ScheduleShape::Constant;
        Self { shape, rate, batch, examples, epochs, warmup, reference_batch: None }
    }

    /// The largest batch that grows out of the first one: a tenth of the data, but never less
    /// than the first (Smith et al. 2018, section 5.1).
    pub fn largest_batch(&self) -> usize {
        self.batch.max(self.examples / 10)
    }

    /// The sizes of the step that begins at `position` epochs.
    pub fn at(&self, position: f64) -> StepSize {
        let (factor, batch) = match &self.shape {
            ScheduleShape::Constant => (1.0, self.batch),
            ScheduleShape::Step { factor, at } => (factor.powi(passed(at, position)), self.batch),
            ScheduleShape::Cosine => (self.cosine(position), self.batch),
            ScheduleShape::GrowBatch { factor, at } => self.grown(*factor, passed(at, position)),
        };
        StepSize { rate: factor * self.warmed(position), batch }
    }

    /// The full rate, or what the warm-up has made of it by the end of the step at `position`.
    ///
    /// It rises in a straight line from the rate before scaling, or from zero where nothing is
    /// scaled (Goyal et al. 2017, section 2.2, "gradual warmup").
    fn warmed(&self, position: f64) -> f64 {
        let scale = self.reference_batch.map_or(1.0, |batch| self.batch as f64 / batch as f64);
        let full = self.rate * scale;
        let end = position + self.batch as f64 / self.examples as f64;
        if end >= self.warmup {
            return full;
        }
        let start = if self.reference_batch.is_some() { self.rate } else { 0.0 };
        start + (full - start) * (end / self.warmup)
    }

    fn cosine(&self, position: f64) -> f64 {
        if position <= self.warmup {
            return 1.0;
        }
        let done = (position - self.warmup) / (self.epochs - self.warmup);
        0.5 * (1.0 + (PI * done.clamp(0.0, 1.0)).cos())
    }

    /// What is left of the rate, and the batch, after `times` growths.
    fn grown(&self, factor: f64, times: i32) -> (f64, usize) {
        let start = self.batch as f64;
        let growths = (0..=times).rev();
        let fits = |&growth: &i32| {
            growth == 0 || (start * factor.powi(growth)).round() <= self.largest_batch() as f64
        };
        let growth = { growths }.find(fits).unwrap_or(0);
        let batch = (start * factor.powi(growth)).round();
        // A rounded batch, or growths that found no room, are made up for by the rate, so that
        // rate / batch is that of the schedule which only decays.
        (batch / (start * factor.powi(times)), batch as usize)
    }
}

/// How many of the rising places are reached.
fn passed(places: &[f64], position: f64) -> i32 {
    places.iter().filter(|&&place| place <= position).count() as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn schedule(shape: ScheduleShape) -> Schedule {
        Schedule { shape, epochs: 90.0, ..Schedule::constant(0.1, 128, 50_000) }
    }

    #[test]
    fn steps_divide_the_rate() {
        let step = schedule(ScheduleShape::Step { factor: 0.1, at: vec![30.0, 60.0] });
        let rates = [0.0, 29.99, 30.0, 60.0, 89.9].map(|position| step.at(position).rate);
        for (rate, expected) in rates.into_iter().zip([0.1, 0.1, 0.01, 0.001, 0.001]) {
            assert!((rate - expected).abs() < 1e-15, "{rates:?}");
        }
    }

    #[test]
    fn warm_up_rises_as_goyal_et_al_print_it() {
        // Batch 8192 against 256: the rate goes from 0.1 to 3.2 in 5 epochs.
        let goyal = Schedule {
            reference_batch: Some(256),
            warmup: 5.0,
            batch: 8192,
            examples: 1_281_167,
            ..schedule(ScheduleShape::Constant)
        };
        let step = 8192.0 / 1_281_167.0;
        assert!((goyal.at(-step).rate - 0.1).abs() < 1e-12, "it starts from the base rate");
        assert!((goyal.at(2.5 - step).rate - 1.65).abs() < 1e-12, "half-way");
        assert_eq!((goyal.at(5.0).rate, goyal.at(50.0).rate), (3.2, 3.2));
        let plain = Schedule { reference_batch: None, ..goyal };
        assert!((plain.at(0.0).rate - 0.1 * step / 5.0).abs() < 1e-15, "the first step moves");
    }

    #[test]
    fn a_cosine_falls_from_one_to_zero_after_the_warm_up() {
        let cosine = Schedule { warmup: 10.0, ..schedule(ScheduleShape::Cosine) };
        assert_eq!((cosine.at(10.0).rate, cosine.at(90.0).rate), (0.1, 0.0));
        assert!((cosine.at(50.0).rate - 0.05).abs() < 1e-15);
        assert!(cosine.at(5.0).rate < 0.1);
        let all_warm_up = Schedule { warmup: 90.0, ..cosine };
        assert!((all_warm_up.at(45.0).rate - 0.05).abs() < 1e-3, "it rises to the end");
    }

    #[test]
    fn the_batch_grows_to_a_tenth_of_the_data_and_then_the_rate_falls() {
        // Smith et al. 2018, section 5.1: CIFAR-10, batch 128, factors of 5; 128 * 25 fits into a
        // tenth of 50,000, 128 * 125 does not.
        let at = vec![30.0, 60.0, 80.0];
        let grow = schedule(ScheduleShape::GrowBatch { factor: 5.0, at });
        let sizes = [0.0, 30.0, 60.0, 80.0].map(|position| grow.at(position));
        assert_eq!(sizes.map(|size| size.batch), [128, 640, 3200, 3200]);
        assert_eq!(sizes.map(|size| size.rate), [0.1, 0.1, 0.1, 0.1 * 0.2]);
    }

    proptest! {
        #[test]
        fn growing_and_decaying_have_equal_noise_scales_everywhere(
            factor in 1.1_f64..8.0,
            mut at in prop::collection::vec(0.0_f64..100.0, 0..6),
            batch in 1..600_usize,
            examples in 600..100_000_usize,
            momentum in 0.0_f64..0.99,
            warmup in 0.0_f64..8.0,
            position in 0.0_f64..100.0,
        ) {
            at.sort_by(f64::total_cmp);
            let base = Schedule { warmup, ..Schedule::constant(0.1, batch, examples) };
            let decay = ScheduleShape::Step { factor: 1.0 / factor, at: at.clone() };
            let decay = Schedule { shape: decay, ..base.clone() };
            let grow = Schedule { shape: ScheduleShape::GrowBatch { factor, at }, ..base };
            let [slow, fast] = [&decay, &grow].map(|schedule| schedule.at(position));
            let [expected, found] = [slow, fast].map(|size| size.noise_scale(examples, momentum));
            prop_assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
            prop_assert!(fast.batch >= slow.batch && fast.batch <= grow.largest_batch());
        }

        #[test]
        fn growing_needs_fewer_updates_for_the_same_epochs(
            factor in 2.0_f64..6.0, batch in 8..64_usize,
        ) {
            let shape = ScheduleShape::GrowBatch { factor, at: vec![2.0, 4.0] };
            let grow = Schedule { shape, ..Schedule::constant(0.1, batch, 6_000) };
            let updates = |schedule: &Schedule| -> usize {
                (0..6).map(|epoch| 6_000_usize.div_ceil(schedule.at(f64::from(epoch)).batch)).sum()
            };
            let constant = Schedule::constant(0.1, batch, 6_000);
            prop_assert!(updates(&grow) < updates(&constant) * 3 / 4);
        }
    }
}
