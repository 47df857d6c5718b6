//! A learner for tests: sums instead of a network, and losses that a test decides.

use std::time::{Duration, Instant};

use trainwright_networks::{BatchScore, GradientNorms, SafeTensors};
use trainwright_study::{JobSpec, Seed};

use crate::account::Told;
use crate::error::TrainError;
use crate::events::Activity;
use crate::learners::learner::{Evaluation, Learner, Look, OwnedTensor, Part, wanted};
use crate::predict::Predicted;
use crate::train::stretch::{Chosen, Plan, PlannedStep, StepResult, Stretch, StretchResult};

/// Adds up what it is shown; the order of the examples decides the sums.
pub(crate) struct Fake {
    /// Examples to learn from.
    pub(crate) examples: usize,
    /// Changes with every example and rate.
    pub(crate) sums: Vec<f32>,
    /// Each step that was made: its number, its examples, its rate.
    pub(crate) steps: Vec<(u64, Vec<u32>, f64)>,
    /// The mean loss of a step, by its number.
    pub(crate) loss: fn(u64) -> f64,
    /// The mean loss of each evaluation of held-out examples, by how many came before.
    pub(crate) held_out_loss: fn(usize) -> f64,
    /// Held-out examples, as they were evaluated.
    pub(crate) held_out: Vec<Vec<u32>>,
    /// Noise scale that looks find.
    pub(crate) noise: f64,
    /// Steps of a stretch.
    pub(crate) at_once: usize,
    /// What the loop has spent time with.
    pub(crate) spent: Vec<Activity>,
}

/// A job of the fake learner.
pub(crate) fn fake_job(keys: serde_json::Value) -> JobSpec {
    let mut job = serde_json::json!({ "network": "mlp", "data": "any", "seed": 7, "batch": 4 });
    let given = keys.as_object().expect("keys of a job").clone();
    job.as_object_mut().expect("it is one").extend(given);
    serde_json::from_value(job).expect("the other keys have defaults")
}

impl Fake {
    /// A learner of so many examples, whose losses are all 1.
    pub(crate) fn new(examples: usize) -> Self {
        Self {
            examples,
            sums: vec![0.5, -0.5, 0.25],
            steps: Vec::new(),
            loss: |_| 1.0,
            held_out_loss: |_| 1.0,
            held_out: Vec::new(),
            noise: 0.0,
            at_once: 1,
            spent: Vec::new(),
        }
    }

    fn step(&mut self, planned: PlannedStep, chosen: Chosen<'_>) -> StepResult {
        for &example in chosen.now {
            let place = example as usize % self.sums.len();
            self.sums[place] =
                0.9 * self.sums[place] + planned.rate as f32 * (example as f32 + 1.0);
        }
        self.steps.push((chosen.step, chosen.now.to_vec(), planned.rate));
        let whole = chosen.now.len() as f64;
        // |G_B|^2 = |G|^2 + tr(S) / B, here with |G|^2 = 1.
        let norm = |batch: f64| 1.0 + self.noise / batch;
        let norms = (planned.look == Look::AtNoise).then(|| GradientNorms {
            part: 0.5 * whole,
            of_parts: norm(0.5 * whole),
            whole,
            of_whole: norm(whole),
        });
        StepResult { score: score((self.loss)(chosen.step), chosen.now.len()), norms }
    }

    /// All examples that were shown, in their order.
    pub(crate) fn shown(&self) -> Vec<u32> {
        self.steps.iter().flat_map(|step| step.1.clone()).collect()
    }
}

fn score(loss: f64, examples: usize) -> BatchScore {
    BatchScore { loss_sum: loss * examples as f64, correct: examples / 2, examples }
}

impl Learner for Fake {
    fn examples(&self) -> usize {
        self.examples
    }

    fn order(&self, _epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        seed.shuffled(pool.to_vec())
    }

    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        plan.steps(self.at_once)
    }

    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError> {
        let steps: Vec<StepResult> =
            stretch.each().map(|(planned, chosen)| self.step(planned, chosen)).collect();
        let waited = Some(Duration::from_millis(10) * steps.len() as u32);
        Ok(StretchResult { steps, waited, lost: Vec::new() })
    }

    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError> {
        let score = match part {
            Part::Test => score(1.0, 10),
            Part::Training(chosen) => {
                let loss = (self.held_out_loss)(self.held_out.len());
                self.held_out.push(chosen.to_vec());
                score(loss, chosen.len())
            }
        };
        Ok(Evaluation { score, auc: None })
    }

    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError> {
        Ok(Vec::new())
    }

    fn parameters(&self) -> Vec<f32> {
        self.sums.clone()
    }

    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        Ok(vec![OwnedTensor::vector("parameters.sums", self.sums.clone())])
    }

    fn restore(&mut self, file: &SafeTensors) -> Result<(), TrainError> {
        self.sums = wanted(file, "parameters.sums", 3)?;
        Ok(())
    }

    fn account(&mut self) -> Result<Vec<Told>, TrainError> {
        Ok(Vec::new())
    }

    fn spent(&mut self, activity: Activity, _from: Instant) {
        self.spent.push(activity);
    }

    fn export(&self) -> Vec<OwnedTensor> {
        vec![OwnedTensor::vector("sums", self.sums.clone())]
    }

    fn onnx(&self) -> Result<Vec<u8>, TrainError> {
        Err(TrainError::SparseOnnx)
    }
}
