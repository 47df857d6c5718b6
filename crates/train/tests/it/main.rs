//! Whole jobs on the embedded sample, and on the full set where it is installed.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod servers;
mod split;
mod strategies;
mod streamed;

use std::fs;
use std::path::Path;

use trainwright_records::{RecordsError, load};
use trainwright_study::{JobSpec, Optimizer};
use trainwright_train::{Done, Flow, TrainError, TrainEvent, TrainOutcome, train};

fn job(data: &str) -> JobSpec {
    let text = serde_json::json!({ "network": "mlp", "data": data, "seed": 7 });
    serde_json::from_value(text).expect("the other keys have defaults")
}

fn sample() -> JobSpec {
    job("fashion-mnist-sample")
}

fn outcome(job: &JobSpec) -> TrainOutcome {
    train(job, &mut |_| Flow::Continue).expect("the job can be trained")
}

#[track_caller]
fn done(job: &JobSpec) -> Done {
    match outcome(job) {
        TrainOutcome::Done(done) => done,
        other => panic!("the job should have finished: {other:?}"),
    }
}

/// A data set of one-pixel pictures in a folder.
fn tiny_set(folder: &Path, train: &[(u8, u8)], test: &[(u8, u8)]) {
    let write = |prefix: &str, part: &[(u8, u8)]| {
        let count = (part.len() as u32).to_be_bytes();
        let mut images = [&[0, 0, 8, 3][..], &count, &[0, 0, 0, 1, 0, 0, 0, 1]].concat();
        let mut labels = [&[0, 0, 8, 1][..], &count].concat();
        images.extend(part.iter().map(|example| example.0));
        labels.extend(part.iter().map(|example| example.1));
        for (kind, bytes) in [("images-idx3", images), ("labels-idx1", labels)] {
            fs::write(folder.join(format!("{prefix}-{kind}-ubyte")), bytes).expect("it is ours");
        }
    };
    write("train", train);
    write("t10k", test);
}

#[test]
fn full_fashion_mnist_reaches_the_known_accuracy() {
    if let Err(error @ RecordsError::DataNotFound { .. }) = load("fashion-mnist", None) {
        eprintln!("SKIPPED: {error}");
        return;
    }
    let accuracies = [1, 2, 3].map(|seed| {
        let done = done(&JobSpec { epochs: 5, seed, ..job("fashion-mnist") });
        eprintln!(
            "seed {seed}: test {:.4}, train {:.4}, {:.2} s",
            done.test_accuracy, done.train_accuracy, done.time_s
        );
        assert_eq!(done.steps, 5 * 1875);
        (done.train_accuracy, done.test_accuracy)
    });
    // Keras and PyTorch reach 0.87 with this network, and so do we on average (0.8721 over eight
    // seeds). One seed scatters by 0.006, and other processors round otherwise, so the mean of
    // three is held to three standard errors below.
    let mean = |values: [f64; 3]| values.iter().sum::<f64>() / 3.0;
    assert!(mean(accuracies.map(|(_, test)| test)) >= 0.862, "{accuracies:?}");
    assert!(mean(accuracies.map(|(train, _)| train)) >= 0.885, "{accuracies:?}");
}

#[test]
fn two_epochs_of_the_sample_teach_most_classes() {
    let mut job = sample();
    job.epochs = 2;
    let done = done(&job);
    assert!(done.test_accuracy > 0.75, "{}", done.test_accuracy);
    assert_eq!((done.steps, done.replicas, done.bytes_sent), (376, 1, 0));
}

#[test]
fn thread_count_leaves_the_parameters_alone() {
    let hash = |threads, batch| {
        let job = JobSpec { threads, batch, ..sample() };
        done(&job).parameters_hash
    };
    for batch in [32, 256] {
        assert_eq!(hash(1, batch), hash(2, batch), "batch {batch}");
    }
}

#[test]
fn the_seed_decides_the_parameters() {
    let hash = |seed| done(&JobSpec { seed, batch: 600, ..sample() }).parameters_hash;
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn events_count_every_step_and_example_once() {
    let folder = tempfile::tempdir().unwrap();
    let examples: Vec<(u8, u8)> = (0..7).map(|index| (index * 30, index % 3)).collect();
    tiny_set(folder.path(), &examples, &examples[..2]);
    let mut job = job(folder.path().to_str().unwrap());
    (job.batch, job.epochs) = (3, 2);
    let mut names = Vec::new();
    train(&job, &mut |event| {
        names.push(match event {
            TrainEvent::Step(step) => format!("step {} of epoch {}", step.step, step.epoch),
            TrainEvent::Epoch(end) => format!("epoch {} after {}", end.epoch, end.step),
            TrainEvent::Done(done) => format!("done after {}", done.steps),
            other => format!("{other:?}"),
        });
        Flow::Continue
    })
    .unwrap();
    let expected = [
        "step 1 of epoch 1",
        "step 2 of epoch 1",
        "step 3 of epoch 1",
        "epoch 1 after 3",
        "step 4 of epoch 2",
        "step 5 of epoch 2",
        "step 6 of epoch 2",
        "epoch 2 after 6",
        "done after 6",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_batch_beyond_the_data_is_the_whole_data() {
    let folder = tempfile::tempdir().unwrap();
    tiny_set(folder.path(), &[(0, 0), (255, 1)], &[(0, 0)]);
    let job = JobSpec { batch: 1000, epochs: 3, ..job(folder.path().to_str().unwrap()) };
    assert_eq!(done(&job).steps, 3);
}

#[test]
fn an_absurd_learning_rate_diverges_as_an_outcome() {
    let job = JobSpec { lr: 1e30, optimizer: Optimizer::Sgd, epochs: 3, ..sample() };
    let mut last = None;
    let outcome = train(&job, &mut |event| {
        last = Some(event.clone());
        Flow::Continue
    });
    let outcome = outcome.unwrap();
    let TrainOutcome::Diverged(diverged) = &outcome else { panic!("{outcome:?}") };
    assert_eq!((diverged.epoch, diverged.lr), (1, 1e30));
    assert!((2..=188).contains(&diverged.step), "{}", diverged.step);
    assert_eq!(last, Some(outcome.into()));
}

#[test]
fn divergence_in_the_very_last_step_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    tiny_set(folder.path(), &[(255, 0), (128, 1)], &[(255, 1)]);
    let job = JobSpec {
        lr: 1e300,
        optimizer: Optimizer::Sgd,
        batch: 2,
        ..job(folder.path().to_str().unwrap())
    };
    assert!(matches!(outcome(&job), TrainOutcome::Diverged(diverged) if diverged.step == 1));
}

#[test]
fn a_listener_stops_the_job_in_the_middle_or_between_epochs() {
    let stop_at = |wanted: fn(&TrainEvent) -> bool| {
        let job = JobSpec { epochs: 2, batch: 600, ..sample() };
        train(&job, &mut |event| if wanted(event) { Flow::Stop } else { Flow::Continue }).unwrap()
    };
    let counts = |outcome| match outcome {
        TrainOutcome::Stopped(stopped) => Some((stopped.epochs, stopped.steps)),
        _ => None,
    };
    let middle = stop_at(|event| matches!(event, TrainEvent::Step(step) if step.step == 13));
    assert_eq!(counts(middle), Some((1, 13)));
    let between = stop_at(|event| matches!(event, TrainEvent::Epoch(_)));
    assert_eq!(counts(between), Some((1, 10)));
    let at_the_end = stop_at(|event| matches!(event, TrainEvent::Step(step) if step.step == 20));
    assert!(matches!(at_the_end, TrainOutcome::Done(_)));
}

#[test]
fn a_job_without_data_says_what_is_missing() {
    let error = train(&job("no-such-set"), &mut |_| Flow::Continue).unwrap_err();
    assert!(matches!(error, TrainError::Data(RecordsError::UnknownData { .. })), "{error}");
}

#[test]
fn a_job_that_cannot_be_is_refused() {
    let error = train(&JobSpec { batch: 0, ..sample() }, &mut |_| Flow::Continue).unwrap_err();
    assert_eq!(error.to_string(), "`batch`: must be at least 1");
}

#[test]
fn a_network_without_hidden_layers_is_a_linear_classifier() {
    let done = done(&JobSpec { hidden_layers: 0, epochs: 2, ..sample() });
    assert!(done.test_accuracy > 0.7, "{}", done.test_accuracy);
}

#[test]
fn done_has_the_fields_of_the_contract() {
    let done = TrainEvent::from(outcome(&JobSpec { batch: 600, ..sample() }));
    let json = serde_json::to_value(done).unwrap();
    let fields: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "event",
        "time_s",
        "train_accuracy",
        "train_loss",
        "test_accuracy",
        "test_loss",
        "examples_per_s",
        "steps",
        "strategy",
        "replicas",
        "bytes_sent",
        "scaling",
        "ranks",
        "parameters_hash",
        "input_wait_s",
        "input_wait_share",
        "evaluation_s",
        "load_s",
        "checkpoint_s",
        "epochs",
        "ended",
    ];
    assert_eq!(fields, expected);
    assert_eq!((&json["event"], &json["strategy"]), (&"done".into(), &"one-device".into()));
}
