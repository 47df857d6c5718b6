//! A trained network applied to the test part of a data set, or to pictures that belong to none
//! (`pictures.rs`).

mod learned_from;
mod pictures;
pub(crate) mod trained;

use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_records::is_data_set;
use trainwright_records::pictures::PixelLimit;
use trainwright_study::{JobSpec, NetworkName};

use crate::checkpoints::DamagedCheckpoint;
use crate::checkpoints::kept::Kept;
use crate::error::TrainError;
use crate::input::Pictures;
use crate::learners::dense::DenseLearner;
use crate::learners::learner::{Learner, Part};
use crate::learners::sparse::{SparseLearner, SparseSplits};
use pictures::{apply_to_pictures, class_names};

/// What to apply, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictRequest {
    /// A checkpoint, or a folder of them, of which the last that is not damaged counts.
    pub from: PathBuf,
    /// Data set instead of the one that was trained on, whose test part counts; or a picture, a
    /// folder of pictures (perhaps a folder a class), or TFRecord files.
    pub data: Option<String>,
    /// Folder to look for named data sets in.
    pub data_dir: Option<PathBuf>,
    /// Test file instead of the one that was trained with.
    pub test_data: Option<String>,
    /// Threads to compute with.
    pub threads: u32,
    /// Most pixels that a picture file may have.
    pub max_pixels: PixelLimit,
}

/// What a network takes examples for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predictions {
    /// The data set.
    pub data: String,
    /// How many examples there are.
    pub examples: usize,
    /// Whether they are among those that the network learned from, as far as their place tells.
    pub learned_from: bool,
    /// Share of right answers; `None` where the classes of the examples are not known.
    pub accuracy: Option<f64>,
    /// Mean loss in nats; `None` where the classes of the examples are not known.
    pub loss: Option<f64>,
    /// Area under the curve of hits over false alarms, for sparse models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Each class by itself.
    pub classes: Vec<ClassScore>,
    /// Examples by class (rows) and by what they were taken for (columns).
    pub confusion: Vec<Vec<u64>>,
    /// Damaged checkpoints that were passed over for an older one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedCheckpoint>,
    /// Each example by itself.
    #[serde(skip)]
    pub each: Vec<Predicted>,
    /// Names of the examples, where they have some.
    #[serde(skip)]
    pub names: Vec<String>,
}

/// How one class fared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class, from 0.
    pub class: usize,
    /// Its name, where classes have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Examples of it.
    pub examples: u64,
    /// Examples that were taken for it.
    pub taken: u64,
    /// Share of its examples that was found; `None` without examples.
    pub accuracy: Option<f64>,
    /// Share of right answers among those that were taken for it; `None` without any.
    pub precision: Option<f64>,
}

/// What one example was taken for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Its class, where it is known.
    pub class: Option<u32>,
    /// What it was taken for.
    pub predicted: u32,
    /// The probability of that.
    pub probability: f32,
}

impl Predicted {
    /// The first class of the largest probability; one number is the probability of the second of
    /// two.
    pub(crate) fn most_probable(row: &[f32], class: Option<u32>) -> Self {
        if let &[second] = row {
            let predicted = u32::from(second > 0.5);
            return Self { class, predicted, probability: second.max(1.0 - second) };
        }
        let mut best = (0, row[0]);
        for (index, &probability) in (0..).zip(row) {
            if probability > best.1 {
                best = (index, probability);
            }
        }
        Self { class, predicted: best.0, probability: best.1 }
    }
}

/// Applies a trained network to a test part or to pictures.
///
/// # Errors
/// When the checkpoint or the data cannot be read, or do not fit together.
pub fn predict(request: &PredictRequest) -> Result<Predictions, TrainError> {
    let (kept, damaged) = match request.from.is_dir() {
        true => Kept::last_of(&request.from)?
            .ok_or_else(|| TrainError::NoCheckpoint { path: request.from.clone() })?,
        false => (Kept::open(&request.from)?, Vec::new()),
    };
    Ok(Predictions { damaged, ..apply_kept(&kept, request)? })
}

fn apply_kept(kept: &Kept, request: &PredictRequest) -> Result<Predictions, TrainError> {
    let mut job = kept.job()?;
    job.threads = request.threads.max(1);
    job.data_dir.clone_from(&request.data_dir);
    // Every weight is in the checkpoint.
    job.weights = None;
    let names = class_names(Path::new(&job.data));
    if let Some(data) = &request.data
        && job.network != NetworkName::Logistic
        && !is_data_set(data)
    {
        return apply_to_pictures(&job, kept, (data, request.max_pixels), &names);
    }
    if let Some(data) = &request.data {
        job.data.clone_from(data);
        job.test_data = None;
    }
    if request.test_data.is_some() {
        job.test_data.clone_from(&request.test_data);
    }
    match job.network {
        NetworkName::Mlp | NetworkName::Described(_) => {
            let pictures = Pictures::open(&job, Some(request.max_pixels))?;
            let mut learner = DenseLearner::new(&job, &pictures, 1)?;
            apply(&job, kept, &mut learner, &names)
        }
        NetworkName::Logistic => {
            let splits = SparseSplits::load(&job)?;
            let mut learner = SparseLearner::new(&job, &splits)?;
            apply(&job, kept, &mut learner, &[])
        }
    }
}

fn apply(
    job: &JobSpec,
    kept: &Kept,
    learner: &mut dyn Learner,
    names: &[String],
) -> Result<Predictions, TrainError> {
    learner.restore(&kept.file).map_err(|error| {
        kept.fault(&format!("its network does not fit data `{}`: {error}", job.data))
    })?;
    let evaluation = learner.evaluate(Part::Test)?;
    let each = learner.predictions()?;
    let examples = evaluation.score.examples;
    let confusion = confusion(&each, names.len());
    Ok(Predictions {
        data: job.data.clone(),
        examples,
        learned_from: false,
        accuracy: Some(evaluation.score.correct as f64 / examples as f64),
        loss: Some(evaluation.score.loss_sum / examples as f64),
        auc: evaluation.auc,
        classes: class_scores(&confusion, &each, names),
        confusion,
        each,
        damaged: Vec::new(),
        names: Vec::new(),
    })
}

/// Counts by class and by what was predicted, for at least so many classes.
fn confusion(each: &[Predicted], least: usize) -> Vec<Vec<u64>> {
    let largest = each.iter().map(|one| one.predicted.max(one.class.unwrap_or(0)) as usize + 1);
    let classes = largest.max().unwrap_or(0).max(least);
    let mut counts = vec![vec![0; classes]; classes];
    for one in each {
        if let Some(class) = one.class {
            counts[class as usize][one.predicted as usize] += 1;
        }
    }
    counts
}

fn class_scores(confusion: &[Vec<u64>], each: &[Predicted], names: &[String]) -> Vec<ClassScore> {
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let largest = each.iter().map(|one| one.predicted as usize + 1).max().unwrap_or(0);
    let score = |class: usize| {
        let row = confusion.get(class);
        let examples = row.map_or(0, |row| row.iter().sum());
        let found = row.map_or(0, |row| row[class]);
        let taken = each.iter().filter(|one| one.predicted as usize == class).count() as u64;
        ClassScore {
            class,
            name: names.get(class).cloned(),
            examples,
            taken,
            accuracy: share(found, examples),
            precision: row.and_then(|_| share(found, taken)),
        }
    };
    (0..confusion.len().max(largest)).map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_counted_by_row_and_column() {
        let each = [(0, 0), (0, 1), (0, 0), (2, 1), (2, 2)].map(|(class, predicted)| Predicted {
            class: Some(class),
            predicted,
            probability: 0.5,
        });
        let counts = confusion(&each, 0);
        assert_eq!(counts, [[2, 1, 0], [0, 0, 0], [0, 1, 1]]);
        let scores = class_scores(&counts, &each, &["a".to_owned()]);
        assert_eq!((scores[0].accuracy, scores[0].name.as_deref()), (Some(2.0 / 3.0), Some("a")));
        assert_eq!((scores[1].accuracy, scores[1].precision), (None, Some(0.0)));
        assert_eq!((scores[2].accuracy, scores[2].precision), (Some(0.5), Some(1.0)));
    }

    #[test]
    fn examples_without_a_class_are_only_counted_by_what_they_were_taken_for() {
        let each = [Predicted { class: None, predicted: 1, probability: 0.5 }; 3];
        let scores = class_scores(&[], &each, &[]);
        assert_eq!((scores.len(), scores[1].taken, scores[1].precision), (2, 3, None));
    }

    #[test]
    fn of_equal_probabilities_the_first_class_counts() {
        let taken = |row: &[f32]| {
            let own = Predicted::most_probable(row, None);
            (own.predicted, own.probability)
        };
        assert_eq!(taken(&[0.25, 0.5, 0.25]), (1, 0.5));
        assert_eq!(taken(&[0.4, 0.4, 0.2]), (0, 0.4));
    }

    #[test]
    fn one_number_is_the_probability_of_the_second_of_two() {
        let taken = |second: f32| {
            let own = Predicted::most_probable(&[second], Some(1));
            (own.class, own.predicted, own.probability)
        };
        assert_eq!(taken(0.75), (Some(1), 1, 0.75));
        assert_eq!(taken(0.25), (Some(1), 0, 0.75));
        assert_eq!(taken(0.5), (Some(1), 0, 0.5));
    }

    #[test]
    fn classes_that_never_came_have_rows_where_their_names_are_known() {
        let each = [Predicted { class: Some(0), predicted: 0, probability: 1.0 }];
        assert_eq!(confusion(&each, 3), [[1, 0, 0], [0, 0, 0], [0, 0, 0]]);
        assert!(confusion(&[], 0).is_empty());
    }

    #[test]
    fn what_is_not_there_is_told_apart_from_a_folder_without_checkpoints() {
        let folder = tempfile::tempdir().unwrap();
        let from = |from: PathBuf| {
            let request = PredictRequest {
                from,
                data: None,
                data_dir: None,
                test_data: None,
                threads: 1,
                max_pixels: PixelLimit::default(),
            };
            predict(&request).unwrap_err().to_string()
        };
        let gone = folder.path().join("gone");
        assert_eq!(
            from(gone.clone()),
            format!("cannot use checkpoint {}: there is no such file or folder", gone.display())
        );
        assert!(from(folder.path().to_owned()).contains("has no checkpoint; write some with"));
    }

    proptest::proptest! {
        /// Rows are the examples of a class, columns what they were taken for, and shares follow.
        #[test]
        fn scores_are_those_of_counting_one_by_one(
            pairs in proptest::collection::vec((proptest::option::of(0_u32..5), 0_u32..6), 0..60),
        ) {
            use proptest::prelude::*;
            let each: Vec<Predicted> = pairs
                .iter()
                .map(|(class, predicted)| Predicted { class: *class, predicted: *predicted, probability: 0.5 })
                .collect();
            let counts = confusion(&each, 0);
            let scores = class_scores(&counts, &each, &[]);
            for (class, row) in counts.iter().enumerate() {
                for (taken, count) in row.iter().enumerate() {
                    let pair = (Some(class as u32), taken as u32);
                    let found = pairs.iter().filter(|own| **own == pair).count();
                    prop_assert_eq!(*count, found as u64);
                }
            }
            for score in &scores {
                let class = score.class as u32;
                let of_it = pairs.iter().filter(|own| own.0 == Some(class));
                let (examples, right) = (of_it.clone().count(), of_it.filter(|own| own.1 == class).count());
                prop_assert_eq!(score.examples, examples as u64);
                prop_assert_eq!(score.accuracy, (examples > 0).then(|| right as f64 / examples as f64));
                prop_assert_eq!(score.taken, pairs.iter().filter(|own| own.1 == class).count() as u64);
            }
        }
    }
}
