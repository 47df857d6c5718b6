//! Steps of sparse logistic regression against the slow obvious version in double precision.

use std::fs;

use serde_json::json;

use super::*;
use crate::learners::fake::fake_job;
use crate::learners::learner::Look;
use crate::train::pace::Pace;

/// Four examples of up to three features, and their classes.
const TEXT: &str = "+1 1:1 3:0.5\n-1 2:2\n+1 1:0.25 2:1\n-1 3:1\n";

/// The same: features from 0, of which none has the id 0, and the class.
const EXAMPLES: [([f64; 4], bool); 4] = [
    ([0.0, 1.0, 0.0, 0.5], true),
    ([0.0, 0.0, 2.0, 0.0], false),
    ([0.0, 0.25, 1.0, 0.0], true),
    ([0.0, 0.0, 0.0, 1.0], false),
];

fn files(train: &str, test: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all"), train).unwrap();
    fs::write(folder.path().join("all.t"), test).unwrap();
    folder
}

fn job(folder: &tempfile::TempDir, keys: serde_json::Value) -> JobSpec {
    let data = folder.path().join("all");
    let mut all = json!({ "data": data, "network": "logistic", "optimizer": "sgd" });
    all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    fake_job(all)
}

fn refused(job: &JobSpec) -> TrainError {
    match SparseSplits::load(job) {
        Ok(_) => panic!("it should be refused"),
        Err(error) => error,
    }
}

#[test]
fn steps_are_those_of_logistic_regression() {
    let folder = files(TEXT, TEXT);
    let job = job(&folder, json!({}));
    let splits = SparseSplits::load(&job).unwrap();
    let mut learner = SparseLearner::new(&job, &splits).unwrap();
    let mut slow = [0.0_f64; 5];
    for (step, now) in [(1, &[0_u32, 1, 2, 3][..]), (2, &[3, 0]), (3, &[2])] {
        let steps = [PlannedStep { step, examples: now.len(), rate: 0.5, look: Look::No }];
        let stretch = Stretch { epoch: 1, at: 0, steps: &steps, rest: now };
        let result = learner.stretch(stretch).unwrap().steps[0];
        let (mut gradients, mut loss) = ([0.0; 5], 0.0);
        for &index in now {
            let (features, positive) = EXAMPLES[index as usize];
            let margin: f64 = slow[4]
                + features.iter().zip(&slow).map(|(value, weight)| value * weight).sum::<f64>();
            let probability = 1.0 / (1.0 + (-margin).exp());
            loss -= if positive { probability.ln() } else { (1.0 - probability).ln() };
            let wrong = (probability - f64::from(u8::from(positive))) / now.len() as f64;
            for (gradient, value) in gradients.iter_mut().zip(features.iter().chain(&[1.0])) {
                *gradient += wrong * value;
            }
        }
        slow.iter_mut().zip(gradients).for_each(|(weight, by)| *weight -= 0.5 * by);
        assert!((result.score.loss_sum - loss).abs() < 1e-5, "step {step}");
        for (found, expected) in learner.parameters().into_iter().zip(slow) {
            assert!((f64::from(found) - expected).abs() < 1e-5, "{found} for {expected}");
        }
    }
    assert_eq!(learner.parameters().len(), 5, "ids from 0 to 3, and the bias");
}

#[test]
fn before_the_first_step_every_class_is_as_likely() {
    let folder = files(TEXT, "+1 1:1\n-1 2:1\n-1 9:1\n");
    let job = job(&folder, json!({}));
    let splits = SparseSplits::load(&job).unwrap();
    let mut learner = SparseLearner::new(&job, &splits).unwrap();
    let found = learner.evaluate(Part::Test).unwrap();
    assert_eq!(found.score.examples, 3);
    assert!((found.score.loss_sum - 3.0 * 2.0_f64.ln()).abs() < 1e-5);
    assert!(learner.predictions().unwrap().iter().all(|it| it.probability == 0.5));
    assert_eq!(learner.parameters().len(), 11, "features of the test part have a place too");
}

#[test]
fn an_asynchronous_step_makes_one_update_an_example() {
    let folder = files(TEXT, TEXT);
    let planned = |update: &str| {
        let job = job(&folder, json!({ "update": update }));
        let splits = SparseSplits::load(&job).unwrap();
        let learner = SparseLearner::new(&job, &splits).unwrap();
        let pace = Pace::new(&job, 100);
        let plan = Plan { pace: &pace, epoch: 1, made: 0, consumed: 0, left: 100 };
        let steps = learner.next_stretch(&plan).into_iter();
        steps.map(|own| (own.step, own.examples)).collect::<Vec<_>>()
    };
    assert_eq!(planned("sync"), [(1, 4)]);
    assert_eq!(planned("hogwild"), [(100, 100)]);
}

#[test]
fn an_export_is_a_linear_layer_of_one_output() {
    let folder = files(TEXT, TEXT);
    let job = job(&folder, json!({}));
    let splits = SparseSplits::load(&job).unwrap();
    let learner = SparseLearner::new(&job, &splits).unwrap();
    let exported = learner.export();
    let told: Vec<_> = exported.iter().map(|it| (it.name.as_str(), it.shape.clone())).collect();
    assert_eq!(told, [("weight", vec![1, 4]), ("bias", vec![1])]);
    assert!(matches!(learner.onnx(), Err(TrainError::SparseOnnx)));
}

#[test]
fn files_that_are_not_of_two_classes_are_refused() {
    let folder = files("+1 1:1\n-1 2:1\n3 3:1\n", TEXT);
    let error = refused(&job(&folder, json!({}))).to_string();
    assert!(error.contains("3 different labels"), "{error}");
    let folder = files(TEXT, "+1 1:1\n0 1:1\n");
    let error = refused(&job(&folder, json!({}))).to_string();
    assert!(error.contains("has label 0"), "{error}");
    let folder = files(TEXT, TEXT);
    fs::remove_file(folder.path().join("all.t")).unwrap();
    let error = refused(&job(&folder, json!({})));
    assert!(matches!(error, TrainError::NoTestFile { .. }), "{error}");
}

#[test]
fn a_feature_far_out_is_refused_with_the_way_to_fold_it() {
    let limit = MemoryLimit::Machine(8 << 30);
    assert!(check_features(Path::new("all"), (1 << 28) - 1, limit).is_ok());
    let error = check_features(Path::new("all"), u32::MAX - 1, limit).unwrap_err().to_string();
    assert!(error.contains("feature 4294967294") && error.contains("128.0 GiB"), "{error}");
    assert!(error.contains("--hash-bits"), "{error}");
    let folder = files("+1 4294967294:1\n-1 2:1\n", TEXT);
    let hashed = SparseSplits::load(&job(&folder, json!({ "hash_bits": 4 }))).unwrap();
    assert_eq!(hashed.order.features(), 16);
}
