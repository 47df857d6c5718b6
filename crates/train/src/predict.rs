//! A trained network applied to the test part of a data set: what it takes each example for.

use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_networks::SafeTensors;
use trainwright_records::load;
use trainwright_study::{JobSpec, NetworkName};

use crate::checkpoint::{kept_job, last_checkpoint};
use crate::dense::DenseLearner;
use crate::error::TrainError;
use crate::learner::{Learner, Part};
use crate::sparse::{SparseLearner, SparseSplits};

/// What to apply, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictRequest {
    /// A checkpoint, or a folder of them, of which the last counts.
    pub from: PathBuf,
    /// Data set instead of the one that was trained on.
    pub data: Option<String>,
    /// Folder to look for named data sets in.
    pub data_dir: Option<PathBuf>,
    /// Test file instead of the one that was trained with.
    pub test_data: Option<String>,
    /// Threads to compute with.
    pub threads: u32,
}

/// What a network takes the examples of a test part for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predictions {
    /// The data set.
    pub data: String,
    /// How many examples there are.
    pub examples: usize,
    /// Share of right answers.
    pub accuracy: f64,
    /// Mean loss in nats.
    pub loss: f64,
    /// Area under the curve of hits over false alarms, for sparse models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Each class by itself.
    pub classes: Vec<ClassScore>,
    /// Examples by class (rows) and by what they were taken for (columns).
    pub confusion: Vec<Vec<u64>>,
    /// Each example by itself.
    #[serde(skip)]
    pub each: Vec<Predicted>,
}

/// How one class fared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class, from 0.
    pub class: usize,
    /// Examples of it.
    pub examples: u64,
    /// Share of them that was found; `None` without examples.
    pub accuracy: Option<f64>,
    /// Share of right answers among those that were taken for it; `None` without any.
    pub precision: Option<f64>,
}

/// What one example was taken for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Its class.
    pub class: u32,
    /// What it was taken for.
    pub predicted: u32,
    /// The probability of that.
    pub probability: f32,
}

/// Applies a trained network to a test part.
///
/// # Errors
/// When the checkpoint or the data cannot be read, or do not fit together.
pub fn predict(request: &PredictRequest) -> Result<Predictions, TrainError> {
    let path = match request.from.is_dir() {
        true => last_checkpoint(&request.from)?,
        false => request.from.clone(),
    };
    let file = SafeTensors::open(&path)?;
    let mut job = kept_job(&path, &file)?;
    job.threads = request.threads.max(1);
    job.data_dir.clone_from(&request.data_dir);
    if let Some(data) = &request.data {
        job.data.clone_from(data);
        job.test_data = None;
    }
    if request.test_data.is_some() {
        job.test_data.clone_from(&request.test_data);
    }
    match job.network {
        NetworkName::Mlp | NetworkName::Described(_) => {
            let splits = load(&job.data, job.data_dir.as_deref())?;
            apply(&job, &path, &file, &mut DenseLearner::new(&job, &splits, 1)?)
        }
        NetworkName::Logistic => {
            let splits = SparseSplits::load(&job)?;
            apply(&job, &path, &file, &mut SparseLearner::new(&job, &splits)?)
        }
    }
}

fn apply(
    job: &JobSpec,
    path: &Path,
    file: &SafeTensors,
    learner: &mut dyn Learner,
) -> Result<Predictions, TrainError> {
    learner.restore(file).map_err(|error| TrainError::Checkpoint {
        path: path.to_owned(),
        problem: format!("its network does not fit data `{}`: {error}", job.data),
    })?;
    let evaluation = learner.evaluate(Part::Test);
    let each = learner.predictions();
    let confusion = confusion(&each);
    let examples = evaluation.score.examples;
    Ok(Predictions {
        data: job.data.clone(),
        examples,
        accuracy: evaluation.score.correct as f64 / examples as f64,
        loss: evaluation.score.loss_sum / examples as f64,
        auc: evaluation.auc,
        classes: class_scores(&confusion),
        confusion,
        each,
    })
}

fn confusion(each: &[Predicted]) -> Vec<Vec<u64>> {
    let largest = each.iter().map(|example| example.class.max(example.predicted)).max();
    let classes = largest.map_or(0, |largest| largest as usize + 1);
    let mut counts = vec![vec![0; classes]; classes];
    for example in each {
        counts[example.class as usize][example.predicted as usize] += 1;
    }
    counts
}

fn class_scores(confusion: &[Vec<u64>]) -> Vec<ClassScore> {
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let score = |(class, row): (usize, &Vec<u64>)| {
        let examples = row.iter().sum();
        let taken = confusion.iter().map(|row| row[class]).sum();
        ClassScore {
            class,
            examples,
            accuracy: share(row[class], examples),
            precision: share(row[class], taken),
        }
    };
    confusion.iter().enumerate().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_counted_by_row_and_column() {
        let each = [(0, 0), (0, 1), (0, 0), (2, 1), (2, 2)].map(|(class, predicted)| Predicted {
            class,
            predicted,
            probability: 0.5,
        });
        let counts = confusion(&each);
        assert_eq!(counts, [[2, 1, 0], [0, 0, 0], [0, 1, 1]]);
        let scores = class_scores(&counts);
        assert_eq!(scores[0].accuracy, Some(2.0 / 3.0));
        assert_eq!((scores[1].accuracy, scores[1].precision), (None, Some(0.0)));
        assert_eq!((scores[2].accuracy, scores[2].precision), (Some(0.5), Some(1.0)));
    }
}
