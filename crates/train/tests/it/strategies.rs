//! Jobs that are spread over replicas learn what one device learns.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use trainwright_study::{JobSpec, Seed};
use trainwright_train::{
    CheckpointEvery, CheckpointOptions, CheckpointStart, Done, Flow, TrainEvent, TrainOptions,
    TrainOutcome, train_with,
};

/// A convolution with batch norm, dropout after it.
const NETWORK: &str = r#"
name = "small"
input = [SIDE, SIDE, 1]
[[layer]]
kind = "convolution"
filters = 6
kernel = 3
batch_norm = true
activation = "relu"
[[layer]]
kind = "max-pool"
size = 2
[[layer]]
kind = "dropout"
rate = 0.3
[[layer]]
kind = "flatten"
[[layer]]
kind = "dense"
outputs = 3
"#;

/// A set of so many grey pictures with that side, in three classes that differ in brightness.
pub(crate) fn pictures(count: u32, side: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (prefix, count) in [("train", count), ("t10k", 9)] {
        let mut images = vec![0, 0, 8, 3];
        for number in [count, side as u32, side as u32] {
            images.extend(number.to_be_bytes());
        }
        let mut labels = [&[0, 0, 8, 1][..], &count.to_be_bytes()].concat();
        for picture in 0..u64::from(count) {
            labels.push((picture % 3) as u8);
            let noise = Seed::new(picture + 1);
            let pixel = |place: u64| (noise.derive(place).value() % 120 + 60 * (picture % 3)) as u8;
            images.extend((0..(side * side) as u64).map(pixel));
        }
        fs::write(folder.path().join(format!("{prefix}-images-idx3-ubyte")), images).unwrap();
        fs::write(folder.path().join(format!("{prefix}-labels-idx1-ubyte")), labels).unwrap();
    }
    let network = NETWORK.replace("SIDE", &side.to_string());
    fs::write(folder.path().join("small.toml"), network).unwrap();
    folder
}

pub(crate) fn job(data: &Path, keys: &Value) -> JobSpec {
    let mut all = json!({ "data": data, "seed": 5, "batch": 16, "lr": 0.01, "epochs": 2 });
    all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

fn mirrored(job: &JobSpec, replicas: u32) -> JobSpec {
    let strategy = trainwright_study::Strategy::Mirrored;
    JobSpec { strategy, replicas, ..job.clone() }
}

fn done(job: &JobSpec, options: &TrainOptions) -> Done {
    match train_with(job, options, &mut |_| Flow::Continue).unwrap() {
        TrainOutcome::Done(done) => done,
        other => panic!("the job should have finished: {other:?}"),
    }
}

#[track_caller]
fn check_bits(data: &Path, keys: &Value, replicas: &[u32]) {
    let job = job(data, keys);
    let alone = done(&job, &TrainOptions::default());
    for &count in replicas {
        let spread = done(&mirrored(&job, count), &TrainOptions::default());
        assert_eq!(spread.parameters_hash, alone.parameters_hash, "{count} replicas of {keys}");
        let scores = |done: &Done| [done.train_loss, done.test_loss, done.test_accuracy];
        assert_eq!(scores(&spread), scores(&alone), "{count} replicas of {keys}");
        assert_eq!(spread.bytes_sent > 0, count > 1);
    }
}

#[test]
fn replicas_learn_the_same_bits_as_one_device_with_their_micro_batch() {
    // 40 pictures in batches of 16 leave a step of 8; four by micro-batch, three in the odd case.
    let set = pictures(40, 12);
    for (optimizer, micro_batch) in [("momentum", 4), ("adam", 3), ("adamw", 4)] {
        let keys = json!({
            "network": "mlp", "optimizer": optimizer, "micro_batch": micro_batch, "clip_norm": 0.5,
        });
        check_bits(set.path(), &keys, &[1, 2, 3, 4]);
    }
}

#[test]
fn batch_norm_dropout_and_augmentation_do_not_know_the_number_of_replicas() {
    let set = pictures(40, 12);
    let network = set.path().join("small.toml");
    let keys = json!({
        "network": network, "optimizer": "momentum", "micro_batch": 4, "clip_norm": 1.0,
        "augment": "flip", "label_smoothing": 0.1,
    });
    check_bits(set.path(), &keys, &[2, 3, 4]);
}

#[test]
fn large_networks_learn_the_same_bits_on_replicas() {
    let set = pictures(20, 32);
    for network in ["mobilenet-v2:0.35", "bilstm:8"] {
        let keys = json!({
            "network": network, "optimizer": "adam", "micro_batch": 2, "batch": 8, "epochs": 1,
            "clip_norm": 1.0,
        });
        check_bits(set.path(), &keys, &[2, 3]);
    }
}

#[test]
fn the_noise_scale_is_measured_alike_on_replicas() {
    let set = pictures(200, 6);
    let keys = json!({
        "network": "mlp", "optimizer": "sgd", "micro_batch": 2, "batch": 8, "epochs": 6,
        "schedule": "noise-scale",
    });
    let measured = |job: &JobSpec| {
        let mut scales = Vec::new();
        train_with(job, &TrainOptions::default(), &mut |event| {
            if let TrainEvent::Epoch(end) = event {
                scales.push(end.noise_scale);
            }
            Flow::Continue
        })
        .unwrap();
        scales
    };
    let job = job(set.path(), &keys);
    let alone = measured(&job);
    assert!(alone.iter().any(Option::is_some), "{alone:?}");
    assert_eq!(measured(&mirrored(&job, 3)), alone);
}

#[test]
fn without_a_micro_batch_replicas_differ_from_one_device_by_rounding_alone() {
    let set = pictures(40, 12);
    let job = job(set.path(), &json!({ "network": "mlp", "optimizer": "momentum" }));
    let alone = done(&job, &TrainOptions::default());
    for count in [2, 3, 4] {
        let spread = done(&mirrored(&job, count), &TrainOptions::default());
        let gap = (spread.test_loss - alone.test_loss).abs();
        assert!(gap < 1e-4 * alone.test_loss, "{count} replicas: {gap}");
    }
}

#[test]
fn a_checkpoint_of_some_replicas_goes_on_with_another_number() {
    let set = pictures(40, 12);
    let keys = json!({ "network": "mlp", "optimizer": "adam", "micro_batch": 4, "epochs": 3 });
    let job = job(set.path(), &keys);
    let whole = done(&job, &TrainOptions::default());
    let kept = tempfile::tempdir().unwrap();
    let options = |start| TrainOptions {
        checkpoint: Some(CheckpointOptions {
            folder: kept.path().to_owned(),
            every: CheckpointEvery::Steps(1),
            start,
        }),
        ..TrainOptions::default()
    };
    let mut steps = 0;
    let stopped = train_with(&mirrored(&job, 2), &options(CheckpointStart::Fresh), &mut |event| {
        steps += u32::from(matches!(event, TrainEvent::Step(_)));
        if steps == 4 { Flow::Stop } else { Flow::Continue }
    });
    assert!(matches!(stopped.unwrap(), TrainOutcome::Stopped(_)));
    let resumed = done(&mirrored(&job, 3), &options(CheckpointStart::Resume));
    assert_eq!(resumed.parameters_hash, whole.parameters_hash);
}

#[test]
fn ranks_account_for_their_time_and_what_one_sends_others_receive() {
    let set = pictures(120, 28);
    let keys = json!({ "network": "mlp", "optimizer": "adam", "clip_norm": 1.0, "epochs": 20 });
    let job = job(set.path(), &keys);
    for replicas in [1, 3] {
        let done = done(&mirrored(&job, replicas), &TrainOptions::default());
        assert_eq!(
            done.ranks.iter().map(|own| own.rank).collect::<Vec<_>>(),
            (0..replicas as usize).collect::<Vec<_>>()
        );
        let sent: u64 = done.ranks.iter().map(|own| own.bytes_sent).sum();
        let received: u64 = done.ranks.iter().map(|own| own.bytes_received).sum();
        assert_eq!((sent, sent > 0), (received, replicas > 1));
        assert_eq!(done.bytes_sent, sent);
        let first = done.ranks[0];
        let covered = first.compute_s
            + first.input_wait_s
            + first.barrier_wait_s
            + first.communication_s
            + first.update_s;
        assert!(covered > 0.5 * done.time_s && covered <= done.time_s, "{first:?} {}", done.time_s);
    }
}

#[test]
fn more_replicas_than_examples_of_a_step_are_no_trouble() {
    let set = pictures(5, 6);
    let keys = json!({ "network": "mlp", "optimizer": "sgd", "batch": 2, "micro_batch": 1 });
    check_bits(set.path(), &keys, &[4]);
}
