//! Steps of a network against the slow obvious version: softmax regression in double precision.

use std::fs;

use serde_json::json;
use trainwright_networks::write_safetensors;

use super::*;
use crate::learners::fake::fake_job;
use crate::train::stretch::{PlannedStep, StepResult};

/// Pictures of two pixels and three classes, as bytes and labels.
const PICTURES: [([u8; 2], usize); 6] =
    [([0, 255], 0), ([51, 204], 1), ([102, 0], 2), ([255, 255], 1), ([153, 25], 0), ([10, 128], 2)];

/// A data set of these pictures, which are its test part too.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let count = (PICTURES.len() as u32).to_be_bytes();
    let mut images = [&[0, 0, 8, 3][..], &count, &[0, 0, 0, 1, 0, 0, 0, 2]].concat();
    let mut labels = [&[0, 0, 8, 1][..], &count].concat();
    for (pixels, label) in PICTURES {
        images.extend(pixels);
        labels.push(label as u8);
    }
    for prefix in ["train", "t10k"] {
        fs::write(folder.path().join(format!("{prefix}-images-idx3-ubyte")), &images).unwrap();
        fs::write(folder.path().join(format!("{prefix}-labels-idx1-ubyte")), &labels).unwrap();
    }
    folder
}

fn job(folder: &tempfile::TempDir, keys: serde_json::Value) -> JobSpec {
    let mut all = json!({ "data": folder.path(), "hidden_layers": 0, "optimizer": "sgd" });
    all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    fake_job(all)
}

/// Makes one step of these examples.
fn step(
    learner: &mut DenseLearner<'_>,
    step: u64,
    now: &[u32],
    (rate, look): (f64, Look),
) -> StepResult {
    let steps = [PlannedStep { step, examples: now.len(), rate, look }];
    let stretch = Stretch { epoch: 1, at: 0, steps: &steps, rest: now };
    learner.stretch(stretch).unwrap().steps[0]
}

/// Weights by pixel and class, then biases: their gradients and the sum of the losses.
fn slow_gradients(parameters: &[f64], chosen: &[u32]) -> (Vec<f64>, f64) {
    let (mut gradients, mut loss) = (vec![0.0; 9], 0.0);
    for &index in chosen {
        let (pixels, label) = PICTURES[index as usize];
        let inputs = pixels.map(|pixel| f64::from(pixel) / 255.0);
        let logit = |class: usize| {
            parameters[6 + class]
                + inputs[0] * parameters[class]
                + inputs[1] * parameters[3 + class]
        };
        let total: f64 = (0..3).map(|class| logit(class).exp()).sum();
        loss -= (logit(label).exp() / total).ln();
        for class in 0..3 {
            let wrong = logit(class).exp() / total - f64::from(u8::from(class == label));
            let wrong = wrong / chosen.len() as f64;
            gradients[class] += wrong * inputs[0];
            gradients[3 + class] += wrong * inputs[1];
            gradients[6 + class] += wrong;
        }
    }
    (gradients, loss)
}

fn double(parameters: &[f32]) -> Vec<f64> {
    parameters.iter().map(|&it| f64::from(it)).collect()
}

#[track_caller]
fn close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        // Single precision over a handful of operations.
        assert!((f64::from(found) - expected).abs() < 1e-5, "{index}: {found} for {expected}");
    }
}

#[test]
fn steps_are_those_of_softmax_regression() {
    let folder = data();
    let job = job(&folder, json!({}));
    let pictures = Pictures::open(&job, None).unwrap();
    let mut learner = DenseLearner::new(&job, &pictures, 4).unwrap();
    let mut slow = double(&learner.parameters());
    for (number, now) in [(1, &[0_u32, 1, 2, 3][..]), (2, &[4, 5]), (3, &[5, 0, 3])] {
        let result = step(&mut learner, number, now, (0.5, Look::No));
        let (gradients, loss) = slow_gradients(&slow, now);
        slow.iter_mut().zip(&gradients).for_each(|(it, gradient)| *it -= 0.5 * gradient);
        close(&learner.parameters(), &slow);
        assert!((result.score.loss_sum - loss).abs() < 1e-5, "step {number}");
        assert_eq!((result.score.examples, result.norms.is_none()), (now.len(), true));
    }
}

#[test]
fn the_test_part_is_scored_without_learning() {
    let folder = data();
    let job = job(&folder, json!({}));
    let pictures = Pictures::open(&job, None).unwrap();
    let mut learner = DenseLearner::new(&job, &pictures, 4).unwrap();
    let before = learner.parameters();
    let all: Vec<u32> = (0..6).collect();
    let expected = slow_gradients(&double(&before), &all).1;
    let test = learner.evaluate(Part::Test).unwrap().score;
    assert!((test.loss_sum - expected).abs() < 1e-5 && test.examples == 6);
    let some = learner.evaluate(Part::Training(&[2, 4])).unwrap().score;
    let expected = slow_gradients(&double(&before), &[2, 4]).1;
    assert!((some.loss_sum - expected).abs() < 1e-5 && some.examples == 2);
    let predictions = learner.predictions().unwrap();
    let right = predictions.iter().filter(|it| it.class == Some(it.predicted)).count();
    assert_eq!((predictions.len(), right), (6, test.correct));
    assert_eq!(learner.parameters(), before);
}

#[test]
fn a_look_at_the_noise_learns_the_same_and_tells_the_norms() {
    let folder = data();
    let job = job(&folder, json!({}));
    let pictures = Pictures::open(&job, None).unwrap();
    let mut learner = DenseLearner::new(&job, &pictures, 4).unwrap();
    let start = double(&learner.parameters());
    let result = step(&mut learner, 1, &[0, 1, 2, 3], (0.5, Look::AtNoise));
    let squared = |gradients: &[f64]| gradients.iter().map(|it| it * it).sum::<f64>();
    let [whole, first, second] =
        [&[0, 1, 2, 3][..], &[0, 1], &[2, 3]].map(|part| slow_gradients(&start, part).0);
    let expected: Vec<f64> = start.iter().zip(&whole).map(|(it, by)| it - 0.5 * by).collect();
    close(&learner.parameters(), &expected);
    let norms = result.norms.unwrap();
    assert_eq!((norms.part, norms.whole), (2.0, 4.0));
    assert!((norms.of_whole - squared(&whole)).abs() < 1e-5, "{norms:?}");
    let of_halves = 0.5 * (squared(&first) + squared(&second));
    assert!((norms.of_parts - of_halves).abs() < 1e-5, "{norms:?}");
}

#[test]
fn a_long_gradient_is_cut_to_the_length_that_is_allowed() {
    let folder = data();
    let job = job(&folder, json!({ "clip_norm": 0.01 }));
    let pictures = Pictures::open(&job, None).unwrap();
    let mut learner = DenseLearner::new(&job, &pictures, 4).unwrap();
    let before = double(&learner.parameters());
    step(&mut learner, 1, &[0, 1, 2], (1.0, Look::No));
    let after = double(&learner.parameters());
    let moved: f64 = before.iter().zip(&after).map(|(a, b)| (a - b) * (a - b)).sum();
    assert!((moved.sqrt() - 0.01).abs() < 1e-5, "{}", moved.sqrt());
}

#[test]
fn what_is_kept_is_all_that_the_next_step_needs() {
    for optimizer in ["momentum", "adam", "adagrad"] {
        let folder = data();
        let keys = json!({ "optimizer": optimizer, "hidden_layers": 1, "neurons": 5 });
        let job = job(&folder, keys);
        let pictures = Pictures::open(&job, None).unwrap();
        let mut learner = DenseLearner::new(&job, &pictures, 4).unwrap();
        step(&mut learner, 1, &[0, 1, 2], (0.1, Look::No));
        let memory = learner.memory().unwrap();
        let tensors: Vec<_> = memory.iter().map(OwnedTensor::borrowed).collect();
        let path = folder.path().join("kept.safetensors");
        let mut bytes = Vec::new();
        write_safetensors(&mut bytes, &[].into(), &tensors).unwrap();
        fs::write(&path, bytes).unwrap();
        let other = JobSpec { seed: 8, ..job.clone() };
        let mut again = DenseLearner::new(&other, &pictures, 4).unwrap();
        assert_ne!(again.parameters(), learner.parameters());
        again.restore(&SafeTensors::open(&path).unwrap()).unwrap();
        for learner in [&mut learner, &mut again] {
            step(learner, 2, &[3, 4], (0.1, Look::No));
        }
        assert_eq!(again.parameters(), learner.parameters(), "{optimizer}");
    }
}

#[test]
fn what_is_frozen_stays_as_it_was() {
    let folder = data();
    let job = job(&folder, json!({ "hidden_layers": 1, "neurons": 5, "freeze": "0" }));
    let pictures = Pictures::open(&job, None).unwrap();
    let mut learner = DenseLearner::new(&job, &pictures, 4).unwrap();
    let before = learner.parameters();
    step(&mut learner, 1, &[0, 1, 2], (0.5, Look::No));
    let after = learner.parameters();
    let first_layer = 2 * 5 + 5;
    assert_eq!(after[..first_layer], before[..first_layer]);
    assert_ne!(after[first_layer..], before[first_layer..]);
}

#[test]
fn networks_that_no_machine_holds_are_refused() {
    let folder = data();
    let pictures = Pictures::open(&job(&folder, json!({})), None).unwrap();
    let refused = |keys| DenseLearner::new(&job(&folder, keys), &pictures, 4).err().unwrap();
    let error = refused(json!({ "hidden_layers": 2, "neurons": u32::MAX }));
    assert!(matches!(error, TrainError::Network(_) | TrainError::TooLarge { .. }), "{error}");
    let error = refused(json!({ "hidden_layers": 2, "neurons": 400_000 }));
    assert!(matches!(error, TrainError::TooLarge { .. }), "{error}");
    let error = refused(json!({ "hidden_layers": u32::MAX, "neurons": 1 }));
    assert!(error.to_string().contains("more than 10000"), "{error}");
}
