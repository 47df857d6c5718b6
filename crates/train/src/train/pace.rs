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
        let batch = (job.batch as usize).min(examples);
        let adaptive = (job.schedule == Name::NoiseScale)
            .then(|| Adaptive { noise: NoiseScale::default(), batch });
        let schedule = Schedule {
            shape,
            rate: job.lr,
            batch,
            examples,
            epochs: job.epochs.into(),
            warmup: job.warmup,
            reference_batch: job.reference_batch.map(|batch| batch as usize),
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
        // Halves of one size, or the estimate would be biased.
        let due = step.is_multiple_of(LOOK_EVERY) && examples >= 2 && examples.is_multiple_of(2);
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
