//! The size of each step: a job's schedule, and the batch that follows the gradients' noise.

use trainwright_networks::{GradientNorms, NoiseScale, Schedule, ScheduleShape, StepSize};
use trainwright_study::{JobSpec, Schedule as Name};

use crate::learners::learner::Look;

/// Steps between two looks at the noise of the gradients; a look costs a little more than a step.
const LOOK_EVERY: u64 = 10;

/// What decides rate and batch.
#[derive(Debug)]
pub(crate) struct Pace {
    schedule: Schedule,
    adaptive: Option<Adaptive>,
}

/// A batch that grows with the measured noise scale.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Adaptive {
    noise: NoiseScale,
    batch: usize,
}

impl Pace {
    /// The pace of a job over so many examples an epoch.
    pub(crate) fn new(job: &JobSpec, examples: usize) -> Self {
        let shape = match &job.schedule {
            Name::Constant | Name::NoiseScale => ScheduleShape::Constant,
            Name::Cosine => ScheduleShape::Cosine,
            Name::Step { factor, at } => ScheduleShape::Step { factor: *factor, at: at.clone() },
            Name::GrowBatch { factor, at } => {
                ScheduleShape::GrowBatch { factor: *factor, at: at.clone() }
            }
        };
        let batch = (job.global_batch() as usize).min(examples);
        let adaptive = (job.schedule == Name::NoiseScale)
            .then(|| Adaptive { noise: NoiseScale::default(), batch });
        let schedule = Schedule {
            shape,
            rate: job.lr,
            batch,
            examples,
            epochs: job.epochs.into(),
            warmup: job.warmup,
            reference_batch: job.rate_is_for().map(|batch| batch as usize),
        };
        Self { schedule, adaptive }
    }

    /// The size of the step after so many examples of an epoch, which counts from 1.
    pub(crate) fn size(&self, epoch: u32, consumed: usize) -> StepSize {
        let position = f64::from(epoch - 1) + consumed as f64 / self.schedule.examples as f64;
        let size = self.schedule.at(position);
        let batch = self.adaptive.map_or(size.batch, |adaptive| adaptive.batch);
        StepSize { batch, ..size }
    }

    /// Whether a step looks at the noise of its gradients.
    pub(crate) fn look(&self, step: u64, examples: usize) -> Look {
        let due = step.is_multiple_of(LOOK_EVERY) && examples >= 2;
        if self.adaptive.is_some() && due { Look::AtNoise } else { Look::No }
    }

    /// Takes in a look.
    pub(crate) fn saw(&mut self, norms: GradientNorms) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.noise.look(norms);
        }
    }

    /// The noise scale in examples, where it is measured and known.
    pub(crate) fn noise_scale(&self) -> Option<f64> {
        self.adaptive.and_then(|adaptive| adaptive.noise.estimate())
    }

    /// Doubles the adaptive batch after an epoch while the noise scale is at least twice the
    /// batch and a tenth of the data has room for it. The rate stays, so that growing takes the
    /// place of decaying it.
    pub(crate) fn end_epoch(&mut self) {
        let largest = self.schedule.largest_batch();
        let noise_scale = self.noise_scale();
        if let Some(adaptive) = &mut self.adaptive {
            let doubled = adaptive.batch * 2;
            if noise_scale.is_some_and(|scale| scale >= doubled as f64) && doubled <= largest {
                adaptive.batch = doubled;
            }
        }
    }

    /// What a checkpoint keeps of it: the averages of the noise and the batch.
    pub(crate) fn memory(&self) -> Option<((f64, f64, u64), usize)> {
        self.adaptive.map(|adaptive| (adaptive.noise.parts(), adaptive.batch))
    }

    /// Puts back what [`Self::memory`] told.
    pub(crate) fn restore(&mut self, memory: Option<((f64, f64, u64), usize)>) {
        self.adaptive =
            memory.map(|(parts, batch)| Adaptive { noise: NoiseScale::from_parts(parts), batch });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::learners::fake::fake_job;

    /// Where |G|^2 is 1 and tr(S) 20: at a batch of 2 the norm is 11, at 4 it is 6.
    const NORMS: GradientNorms =
        GradientNorms { part: 2.0, of_parts: 11.0, whole: 4.0, of_whole: 6.0 };

    fn pace(keys: serde_json::Value, examples: usize) -> Pace {
        Pace::new(&fake_job(keys), examples)
    }

    #[track_caller]
    fn check(pace: &Pace, at: (u32, usize), rate: f64, batch: usize) {
        let size = pace.size(at.0, at.1);
        assert!((size.rate - rate).abs() < 1e-12, "{at:?}: rate {}", size.rate);
        assert_eq!(size.batch, batch, "{at:?}");
    }

    #[test]
    fn a_constant_rate_stays_and_a_batch_is_no_larger_than_the_data() {
        let constant = pace(json!({ "lr": 0.5, "batch": 64, "epochs": 3 }), 40);
        check(&constant, (1, 0), 0.5, 40);
        check(&constant, (3, 39), 0.5, 40);
    }

    #[test]
    fn a_batch_of_each_replica_makes_a_larger_batch_and_rate() {
        let keys = json!({
            "lr": 0.1, "batch": 8, "epochs": 5, "warmup": 2.0, "strategy": "mirrored",
            "replicas": 4, "scaling": "per-replica",
        });
        let scaled = pace(keys, 320);
        check(&scaled, (3, 0), 0.4, 32);
        assert!(scaled.size(1, 0).rate < 0.4, "the warm-up rises to the scaled rate");
    }

    #[test]
    fn a_cosine_falls_from_the_rate_to_nothing_over_all_epochs() {
        let cosine =
            pace(json!({ "lr": 0.5, "batch": 10, "epochs": 4, "schedule": "cosine" }), 100);
        check(&cosine, (1, 0), 0.5, 10);
        check(&cosine, (3, 0), 0.25, 10);
        // cos(pi * 3.5 / 4) is -0.9238795...
        let near_the_end = 0.25 * (1.0 + (std::f64::consts::PI * 3.5 / 4.0).cos());
        check(&cosine, (4, 50), near_the_end, 10);
    }

    #[test]
    fn a_warmup_rises_to_the_rate() {
        let keys = json!({ "lr": 0.5, "batch": 10, "epochs": 4, "warmup": 2.0 });
        let warm = pace(keys, 100);
        let rates: Vec<f64> =
            [(1, 0), (1, 50), (2, 0), (2, 50)].map(|(e, c)| warm.size(e, c).rate).to_vec();
        assert!(rates.windows(2).all(|pair| pair[0] < pair[1]) && rates[3] < 0.5, "{rates:?}");
        check(&warm, (3, 0), 0.5, 10);
    }

    #[test]
    fn only_an_adaptive_pace_looks_at_batches_of_two_or_more_now_and_then() {
        let noise = pace(json!({ "schedule": "noise-scale" }), 100);
        let looks: Vec<u64> =
            (1..=40).filter(|&step| noise.look(step, 4) == Look::AtNoise).collect();
        assert_eq!(looks, [10, 20, 30, 40]);
        assert_eq!([noise.look(10, 5), noise.look(10, 2)], [Look::AtNoise; 2]);
        assert_eq!([noise.look(10, 1), noise.look(10, 0)], [Look::No; 2], "it has no parts");
        assert_eq!(pace(json!({}), 100).look(10, 4), Look::No);
    }

    #[test]
    fn the_adaptive_batch_doubles_while_the_noise_asks_for_it() {
        let mut noise = pace(json!({ "schedule": "noise-scale", "batch": 4 }), 200);
        noise.end_epoch();
        assert_eq!(noise.size(1, 0).batch, 4, "without a look nothing is known");
        (0..9).for_each(|_| noise.saw(NORMS));
        assert_eq!(noise.noise_scale(), None, "nine looks are not enough");
        noise.saw(NORMS);
        assert!((noise.noise_scale().unwrap() - 20.0).abs() < 1e-9);
        for batch in [8, 16, 16, 16] {
            noise.end_epoch();
            assert_eq!(noise.size(1, 0).batch, batch, "twice 16 is more than the noise scale");
        }
    }

    #[test]
    fn what_a_checkpoint_keeps_is_the_whole_pace() {
        let keys = json!({ "schedule": "noise-scale", "batch": 4 });
        let mut pace = pace(keys.clone(), 200);
        (0..10).for_each(|_| pace.saw(NORMS));
        pace.end_epoch();
        let mut again = self::pace(keys, 200);
        again.restore(pace.memory());
        assert_eq!(again.adaptive, pace.adaptive);
        assert_eq!(self::pace(json!({}), 200).memory(), None);
    }
}
