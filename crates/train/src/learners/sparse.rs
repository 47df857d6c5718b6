//! Logistic regression on sparse examples of libsvm files.

pub(crate) mod served;

use std::path::{Path, PathBuf};
use std::time::Instant;

use trainwright_networks::{
    FeatureOrder, SafeTensors, SparseBatch, SparseDraft, SparseLogistic, SparseMode, SparseRule,
    SparseSet, Team,
};
use trainwright_records::{SparseExamples, read_libsvm};
use trainwright_study::{JobSpec, Optimizer, UpdateMode};

use crate::account::{Account, Told};
use crate::error::TrainError;
use crate::events::Activity;
use crate::learners::learner::{Evaluation, Learner, OwnedTensor, Part, wanted};
use crate::learners::memory_limit::MemoryLimit;
use crate::predict::Predicted;
use crate::train::stretch::{Chosen, Plan, PlannedStep, StepResult, Stretch, StretchResult};

/// Examples between two events of an asynchronous training.
const FREE_STRETCH: usize = 65_536;

/// FTRL's smoothing of the first steps, as McMahan et al. (2013, section 3.1) advise.
const BETA: f32 = 1.0;

/// Bytes of a feature: its counts and numbers in the order, and up to four of a rule.
const FEATURE_BYTES: u64 = 32;

/// A training and a test part with the same features.
pub(crate) struct SparseSplits {
    train: SparseSet,
    test: SparseSet,
    order: FeatureOrder,
}

impl SparseSplits {
    /// Reads the two files of a job.
    ///
    /// # Errors
    /// When a file cannot be read, the test part is missing or there are not two classes.
    pub(crate) fn load(job: &JobSpec) -> Result<Self, TrainError> {
        let path = PathBuf::from(&job.data);
        let train = path.clone();
        let test = test_file(job, &train)?;
        let [train_examples, test_examples] = [read_libsvm(&train)?, read_libsvm(&test)?];
        if job.hash_bits.is_none() {
            for (path, examples) in [(&train, &train_examples), (&test, &test_examples)] {
                examples.check_largest_id().map_err(|problem| problem.in_file(path))?;
            }
        }
        let positive = positive_label(&train, &train_examples)?;
        let known = |label: &f32| train_examples.labels.contains(label);
        if let Some(&label) = test_examples.labels.iter().find(|label| !known(label)) {
            return Err(TrainError::UnknownLabel { path: test, label });
        }
        let draft = |examples: SparseExamples| {
            let draft = SparseDraft {
                starts: examples.starts,
                ids: examples.ids,
                values: examples.values,
                positive: examples.labels.iter().map(|&label| label == positive).collect(),
            };
            job.hash_bits.map_or_else(|| draft.clone(), |bits| draft.hashed(bits))
        };
        let [train, test] = [draft(train_examples), draft(test_examples)];
        let features = match job.hash_bits {
            Some(bits) => 1 << bits,
            None => {
                let id = train.ids.iter().chain(&test.ids).max().copied().unwrap_or(0);
                check_features(&path, id, MemoryLimit::here())?;
                id.saturating_add(1)
            }
        };
        let order = FeatureOrder::of(&train, features);
        Ok(Self { train: train.ordered(&order), test: test.ordered(&order), order })
    }

    /// Rows of the model: one a feature, and the bias.
    pub(crate) fn rows(&self) -> usize {
        self.order.features() + 1
    }
}

/// How gradients change the weights of a job.
fn rule_of(job: &JobSpec) -> SparseRule {
    match job.optimizer {
        Optimizer::AdaGrad => SparseRule::AdaGrad,
        Optimizer::Ftrl => {
            let (l1, l2) = (job.l1 as f32, job.weight_decay.unwrap_or(0.0) as f32);
            SparseRule::Ftrl { beta: BETA, l1, l2 }
        }
        _ => SparseRule::Sgd,
    }
}

/// Whether there is memory for the weights of all features up to one.
///
/// # Errors
/// When there is not.
fn check_features(path: &Path, id: u32, limit: MemoryLimit) -> Result<(), TrainError> {
    let bytes = FEATURE_BYTES * (u64::from(id) + 1);
    if bytes <= limit.bytes() {
        return Ok(());
    }
    Err(TrainError::TooManyFeatures { path: path.to_owned(), id, bytes, limit })
}

/// The file of the test part: the one named, or the training file's name with `.t`.
fn test_file(job: &JobSpec, train: &Path) -> Result<PathBuf, TrainError> {
    if let Some(path) = &job.test_data {
        return Ok(path.into());
    }
    let mut name = train.as_os_str().to_owned();
    name.push(".t");
    let path = PathBuf::from(name);
    if path.is_file() || !train.is_file() {
        return Ok(path);
    }
    Err(TrainError::NoTestFile { path })
}

/// The larger of exactly two labels.
fn positive_label(path: &Path, examples: &SparseExamples) -> Result<f32, TrainError> {
    let mut labels = examples.labels.clone();
    labels.sort_by(f32::total_cmp);
    labels.dedup();
    match labels.as_slice() {
        &[_, positive] => Ok(positive),
        _ => {
            let count = labels.len();
            labels.truncate(5);
            Err(TrainError::NotTwoClasses { path: path.to_owned(), count, labels })
        }
    }
}

/// A sparse model, its examples and its threads.
pub(crate) struct SparseLearner<'a> {
    splits: &'a SparseSplits,
    model: SparseLogistic,
    mode: SparseMode,
    team: Team,
    account: Account,
}

impl<'a> SparseLearner<'a> {
    /// The model of a job before its first step.
    ///
    /// # Errors
    /// When the system does not give the threads.
    pub(crate) fn new(job: &JobSpec, splits: &'a SparseSplits) -> Result<Self, TrainError> {
        let mode = match job.update {
            UpdateMode::Sync => SparseMode::Sync,
            UpdateMode::Hogwild => SparseMode::Async,
        };
        let model = SparseLogistic::new(rule_of(job), splits.order.clone());
        let team = Team::new(job.threads as usize)?;
        Ok(Self { splits, model, mode, team, account: Account::new() })
    }
}

impl Learner for SparseLearner<'_> {
    fn examples(&self) -> usize {
        self.splits.train.len()
    }

    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        match self.mode {
            SparseMode::Sync => plan.steps(1),
            SparseMode::Async => plan.single_examples(FREE_STRETCH),
        }
    }

    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError> {
        let mut steps = Vec::with_capacity(stretch.steps.len());
        for (planned, Chosen { now, next, .. }) in stretch.each() {
            let batch = SparseBatch { set: &self.splits.train, chosen: now, next };
            let Self { model, mode, team, account, .. } = self;
            account.step(planned.step);
            let score =
                account.timed(Activity::Compute, || model.train(batch, planned.rate, *mode, team));
            steps.push(StepResult { score, norms: None });
        }
        Ok(StretchResult { steps, waited: None, lost: Vec::new() })
    }

    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError> {
        let Part::Test = part else {
            unreachable!("a checked job of this network does not stop early");
        };
        let found = self.model.evaluate(&self.splits.test, &mut self.team);
        Ok(Evaluation { score: found.score, auc: found.auc })
    }

    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError> {
        let set = &self.splits.test;
        let margins = self.model.margins(set, &mut self.team).into_iter();
        let predicted = |(example, margin): (usize, f32)| Predicted {
            class: Some(u32::from(set.is_positive(example))),
            predicted: u32::from(margin > 0.0),
            probability: (1.0 / (1.0 + f64::from(-margin.abs()).exp())) as f32,
        };
        Ok(margins.enumerate().map(predicted).collect())
    }

    fn onnx(&self) -> Result<Vec<u8>, TrainError> {
        Err(TrainError::SparseOnnx)
    }

    fn parameters(&self) -> Vec<f32> {
        self.model.weights()
    }

    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        let memory = self.model.memory().into_iter();
        Ok(memory.map(|(name, values)| OwnedTensor::vector(name, values)).collect())
    }

    fn restore(&mut self, file: &SafeTensors) -> Result<(), TrainError> {
        let count = self.splits.order.features() + 1;
        let names = self.model.memory().into_iter().map(|part| part.0);
        let memory: Vec<Vec<f32>> =
            names.map(|name| wanted(file, name, count)).collect::<Result<_, _>>()?;
        self.model.restore(&memory);
        Ok(())
    }

    fn account(&mut self) -> Result<Vec<Told>, TrainError> {
        Ok(vec![self.account.told()])
    }

    fn spent(&mut self, activity: Activity, from: Instant) {
        self.account.spent(activity, from, from.elapsed());
    }

    fn export(&self) -> Vec<OwnedTensor> {
        // As PyTorch's `Linear(features, 1)` has them.
        let mut weights = self.model.weights();
        let bias = weights.split_off(weights.len() - 1);
        let shape = vec![1, weights.len()];
        vec![
            OwnedTensor { name: "weight".to_owned(), shape, values: weights },
            OwnedTensor::vector("bias", bias),
        ]
    }
}

#[cfg(test)]
mod tests;
