//! Jobs whose pictures are streamed, from shards and from files.

use std::fs;
use std::path::Path;

use trainwright_records::pictures::{Framing, Picture, PixelLimit, encode_png};
use trainwright_records::prepare::{OnCorrupt, PartShares, PrepareOptions, Storage, prepare};
use trainwright_records::sources::Source;
use trainwright_study::JobSpec;
use trainwright_train::{
    CheckpointEvery, CheckpointOptions, CheckpointStart, Done, Flow, TrainEvent, TrainOptions,
    TrainOutcome, train, train_with,
};

/// Pictures of two classes, told apart by where they are bright.
fn pictures(folder: &Path) {
    for number in 0..120_usize {
        let class = number % 2;
        let pixel = |at: usize| {
            let bright = (at / 3 % 12 < 6) == (class == 0);
            (at * (number + 7) % 60) as u8 + if bright { 150 } else { 20 }
        };
        let pixels = (0..10 * 12 * 3).map(pixel).collect();
        let picture = Picture { rows: 10, columns: 12, channels: 3, pixels };
        let path = folder.join(format!("{}/{number}.png", ["left", "right"][class]));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, encode_png(&picture).unwrap()).unwrap();
    }
}

fn shards(folder: &Path, out: &Path) {
    let options = PrepareOptions {
        size: Some(10),
        framing: Framing::Crop,
        storage: Storage::Pixels,
        shards: 3,
        seed: 1,
        split: Some(PartShares::new([0.8, 0.0, 0.2]).unwrap()),
        threads: 1,
        corrupt: OnCorrupt::Refuse,
        max_pixels: PixelLimit::default(),
    };
    prepare(Source::open(folder).unwrap(), out, &options, &mut |_| ()).unwrap();
}

fn job(data: &Path, more: serde_json::Value) -> JobSpec {
    let mut text = serde_json::json!({
        "network": "mlp", "data": data, "seed": 3, "neurons": 8, "batch": 9, "epochs": 4,
    });
    text.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(text).unwrap()
}

#[track_caller]
fn done(job: &JobSpec) -> Done {
    match train(job, &mut |_| Flow::Continue).unwrap() {
        TrainOutcome::Done(done) => done,
        other => panic!("the job should have finished: {other:?}"),
    }
}

#[test]
fn pictures_are_learned_from_files_as_from_shards() {
    let folder = tempfile::tempdir().unwrap();
    let (photos, parts) = (folder.path().join("photos"), folder.path().join("parts"));
    pictures(&photos);
    shards(&photos, &parts);
    for (data, size) in [(&photos, Some(10)), (&parts, None)] {
        let done = done(&job(data, serde_json::json!({ "size": size, "lr": 0.01, "epochs": 6 })));
        assert!(done.test_accuracy > 0.9, "{}: {}", data.display(), done.test_accuracy);
        let (waited, share) = (done.input_wait_s.unwrap(), done.input_wait_share.unwrap());
        assert!(waited > 0.0 && waited < done.time_s, "{waited} of {}", done.time_s);
        assert!((share * done.time_s - waited).abs() < 1e-9);
    }
}

#[test]
fn threads_leave_the_parameters_of_a_streamed_job_alone() {
    let folder = tempfile::tempdir().unwrap();
    pictures(folder.path());
    let hash = |threads, seed| {
        let more = serde_json::json!({
            "threads": threads, "seed": seed, "size": 9, "augment": "flip,crop:8",
            "early_stopping": 9,
        });
        done(&job(folder.path(), more)).parameters_hash
    };
    assert_eq!(hash(1, 3), hash(2, 3));
    assert_ne!(hash(1, 3), hash(1, 4));
}

#[test]
fn a_streamed_job_goes_on_in_the_middle_of_an_epoch_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (photos, parts) = (folder.path().join("photos"), folder.path().join("parts"));
    pictures(&photos);
    shards(&photos, &parts);
    let more = [
        serde_json::json!({ "augment": "flip,contrast:0.8-1.2", "optimizer": "momentum" }),
        serde_json::json!({ "schedule": "noise-scale", "early_stopping": 9 }),
    ];
    for (number, more) in more.into_iter().enumerate() {
        let job = job(&parts, more);
        let whole = done(&job);
        let checkpoint = Some(CheckpointOptions {
            folder: folder.path().join(format!("kept-{number}")),
            every: CheckpointEvery::Epochs(9),
            start: CheckpointStart::Resume,
        });
        let options = TrainOptions { checkpoint, ..TrainOptions::default() };
        for stop_at in [4, 15, 16] {
            let outcome = train_with(&job, &options, &mut |event| match event {
                TrainEvent::Step(step) if step.step == stop_at => Flow::Stop,
                _ => Flow::Continue,
            });
            assert!(matches!(outcome.unwrap(), TrainOutcome::Stopped(_)), "step {stop_at}");
        }
        let outcome = train_with(&job, &options, &mut |_| Flow::Continue).unwrap();
        let TrainOutcome::Done(resumed) = outcome else { panic!("{outcome:?}") };
        assert_eq!(resumed.parameters_hash, whole.parameters_hash);
        assert_eq!((resumed.steps, resumed.test_loss), (whole.steps, whole.test_loss));
        assert!(resumed.input_wait_s.unwrap() > 0.0);
    }
}

#[test]
fn a_damaged_record_ends_a_job_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (photos, parts) = (folder.path().join("photos"), folder.path().join("parts"));
    pictures(&photos);
    shards(&photos, &parts);
    let shard = parts.join("train/data-00001-of-00003.tfrecord");
    let mut bytes = fs::read(&shard).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&shard, bytes).unwrap();
    let error = train(&job(&parts, serde_json::json!({})), &mut |_| Flow::Continue).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("data-00001-of-00003.tfrecord: record "), "{message}");
}

#[test]
fn a_crop_beyond_the_pictures_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    pictures(folder.path());
    let job = job(folder.path(), serde_json::json!({ "size": 8, "augment": "crop:9" }));
    let error = train(&job, &mut |_| Flow::Continue).unwrap_err();
    assert_eq!(error.to_string(), "crop 9 of 8 x 8 pixels is not a side within the pictures");
}
