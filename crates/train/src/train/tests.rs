//! The loop, driven with a learner that adds up and losses that the tests decide.

use std::fs;
use std::path::Path;

use serde_json::json;
use trainwright_networks::SafeTensors;

use super::*;
use crate::checkpoints::{CheckpointEvery, CheckpointStart};
use crate::learners::fake::{Fake, fake_job};

/// Trains to the end, and gives what was told.
fn told(job: &JobSpec, options: &TrainOptions, learner: &mut Fake) -> Vec<TrainEvent> {
    told_until(job, options, learner, usize::MAX)
}

/// Trains until so many events were told, then asks to stop with every one.
fn told_until(
    job: &JobSpec,
    options: &TrainOptions,
    learner: &mut Fake,
    most: usize,
) -> Vec<TrainEvent> {
    let mut events = Vec::new();
    let outcome = run(job, options, learner, 0.25, &mut |event| {
        events.push(event.clone());
        if events.len() >= most { Flow::Stop } else { Flow::Continue }
    });
    assert_eq!(events.last(), Some(&outcome.unwrap().into()), "the outcome is the last event");
    events
}

fn done(events: &[TrainEvent]) -> &Done {
    match events.last() {
        Some(TrainEvent::Done(done)) => done,
        other => panic!("the job should have finished: {other:?}"),
    }
}

fn keeping(folder: &Path, every: CheckpointEvery) -> TrainOptions {
    let (folder, start) = (folder.to_owned(), CheckpointStart::Resume);
    let checkpoint = CheckpointOptions { folder, every, start };
    TrainOptions { checkpoint: Some(checkpoint), ..TrainOptions::default() }
}

fn kinds(events: &[TrainEvent]) -> String {
    let kind = |event: &TrainEvent| match event {
        TrainEvent::Step(_) => 's',
        TrainEvent::Epoch(_) => 'E',
        TrainEvent::Done(_) => 'D',
        TrainEvent::Diverged(_) => '!',
        TrainEvent::Stopped(_) => '.',
        TrainEvent::DamagedCheckpoint(_) => 'x',
        TrainEvent::RankLost(_) | TrainEvent::Restarted(_) => '-',
    };
    events.iter().map(kind).collect()
}

#[test]
fn an_epoch_shows_every_example_once_in_an_order_of_its_own() {
    let mut learner = Fake::new(10);
    let events = told(&fake_job(json!({ "epochs": 2 })), &TrainOptions::default(), &mut learner);
    assert_eq!(kinds(&events), "sssEsssED");
    let sizes: Vec<usize> = learner.steps.iter().map(|step| step.1.len()).collect();
    assert_eq!(sizes, [4, 4, 2, 4, 4, 2], "the last batch of an epoch may be smaller");
    let shown = learner.shown();
    let (mut first, mut second) = (shown[..10].to_vec(), shown[10..].to_vec());
    assert_ne!(first, second);
    first.sort_unstable();
    second.sort_unstable();
    assert_eq!((&first, &second), (&(0..10).collect(), &(0..10).collect()));
    let numbers: Vec<u64> = learner.steps.iter().map(|step| step.0).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_stretch_of_several_steps_is_told_step_by_step_and_stops_at_its_end() {
    let mut single = Fake::new(10);
    let job = fake_job(json!({ "epochs": 2, "schedule": "cosine" }));
    let told_single = told(&job, &TrainOptions::default(), &mut single);
    let mut learner = Fake { at_once: 2, ..Fake::new(10) };
    let told_two = told(&job, &TrainOptions::default(), &mut learner);
    assert_eq!((kinds(&told_two), &learner.steps), (kinds(&told_single), &single.steps));
    assert_eq!(epochs(&told_two), epochs(&told_single));
    let mut learner = Fake { at_once: 2, ..Fake::new(10) };
    let events = told_until(&job, &TrainOptions::default(), &mut learner, 1);
    assert_eq!(kinds(&events), "ss.", "what was begun is made to its end");
    let folder = tempfile::tempdir().unwrap();
    let options = keeping(folder.path(), CheckpointEvery::Steps(1));
    let mut before = Fake { at_once: 2, ..Fake::new(10) };
    told_until(&job, &options, &mut before, 4);
    let mut after = Fake { at_once: 2, ..Fake::new(10) };
    told(&job, &options, &mut after);
    assert_eq!([before.steps, after.steps].concat(), single.steps);
}

#[test]
fn a_stretch_ends_with_a_step_whose_loss_is_not_finite() {
    let mut learner = Fake { at_once: 3, ..Fake::new(40) };
    learner.loss = |step| if step == 2 { f64::NAN } else { 1.0 };
    let events = told(&fake_job(json!({})), &TrainOptions::default(), &mut learner);
    assert_eq!(kinds(&events), "s!");
    let Some(TrainEvent::Diverged(at)) = events.last() else { panic!("{events:?}") };
    assert_eq!(at.step, 2);
}

#[test]
fn what_the_loop_spends_beside_steps_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let options = keeping(folder.path(), CheckpointEvery::Epochs(1));
    let mut learner = Fake::new(4);
    told(&fake_job(json!({})), &options, &mut learner);
    use Activity::{Checkpoint, Evaluation, InputWait, Telling};
    let expected = [Checkpoint, InputWait, Telling, Evaluation, Telling, Checkpoint];
    assert_eq!(learner.spent, expected);
}

#[test]
fn timelines_are_told_on_the_clock_of_the_first_rank() {
    let of_rank = |rank, began| {
        let span = Span { step: 1, activity: Activity::Compute, start_s: 0.5, end_s: 1.0 };
        let times = RankTimes { rank, ..RankTimes::default() };
        Told { began, times, spans: vec![span] }
    };
    let (times, timelines): (Vec<_>, Vec<_>) =
        of_ranks(vec![of_rank(0, 100.0), of_rank(1, 102.5)]).unzip();
    assert_eq!((times[1].rank, timelines[1].rank), (1, 1));
    let ends = timelines.iter().map(|own| (own.spans[0].start_s, own.spans[0].end_s));
    assert_eq!(ends.collect::<Vec<_>>(), [(0.5, 1.0), (3.0, 3.5)]);
}

#[test]
fn the_end_tells_what_the_epochs_did() {
    let mut learner = Fake::new(10);
    learner.loss = |step| step as f64;
    let events = told(&fake_job(json!({ "epochs": 2 })), &TrainOptions::default(), &mut learner);
    let TrainEvent::Epoch(first) = &events[3] else { panic!("{events:?}") };
    // Steps of 4, 4 and 2 examples with the losses 1, 2 and 3.
    assert_eq!((first.epoch, first.step), (1, 3));
    assert!((first.train_loss - 1.8).abs() < 1e-12, "{first:?}");
    assert!((first.train_accuracy - 0.5).abs() < 1e-12, "{first:?}");
    let done = done(&events);
    assert_eq!((done.steps, done.epochs, done.ended), (6, 2, Ended::Epochs));
    assert!((done.train_loss - 4.8).abs() < 1e-12, "that of the last epoch: {done:?}");
    assert_eq!((done.load_s, done.parameters_hash.len()), (0.25, 64));
    assert_eq!(done.parameters_hash, parameters_hash(&learner.sums));
    let waited = done.input_wait_s.unwrap();
    assert!((waited - 0.06).abs() < 1e-9, "ten milliseconds a step: {waited}");
    let share = done.input_wait_share.unwrap();
    assert!((share - waited / done.time_s).abs() < 1e-12);
}

/// What a job told of its epochs, without the times.
fn epochs(events: &[TrainEvent]) -> Vec<EpochEnd> {
    let epoch = |event: &TrainEvent| match event {
        TrainEvent::Epoch(end) => Some(EpochEnd { seconds: 0.0, ..end.clone() }),
        _ => None,
    };
    events.iter().filter_map(epoch).collect()
}

#[test]
fn a_job_stopped_anywhere_goes_on_as_if_it_had_not_been() {
    let jobs = [
        json!({ "epochs": 3, "schedule": "cosine", "warmup": 1.0, "early_stopping": 5 }),
        // The tenth look, after which the batch grows, is in the fourth epoch.
        json!({ "epochs": 5, "schedule": "noise-scale", "batch": 2 }),
    ];
    for keys in jobs {
        let job = fake_job(keys);
        let fake = || Fake { noise: 50.0, loss: |step| 1.0 / step as f64, ..Fake::new(60) };
        let mut whole = fake();
        let events = told(&job, &TrainOptions::default(), &mut whole);
        for most in (1..events.len() - 1).step_by(5) {
            let folder = tempfile::tempdir().unwrap();
            let options = keeping(folder.path(), CheckpointEvery::Steps(1000));
            let mut before = fake();
            let told_before = told_until(&job, &options, &mut before, most);
            assert!(kinds(&told_before).ends_with('.'), "{}", kinds(&told_before));
            let mut after = fake();
            after.held_out.clone_from(&before.held_out);
            let told_after = told(&job, &options, &mut after);
            assert_eq!(after.sums, whole.sums, "after {most} events");
            let shown = [before.shown(), after.shown()].concat();
            assert_eq!(shown, whole.shown(), "after {most} events");
            let both = [epochs(&told_before), epochs(&told_after)].concat();
            assert_eq!(both, epochs(&events), "after {most} events");
            assert_eq!(done(&told_after).steps, done(&events).steps);
        }
    }
}

#[test]
fn a_finished_job_is_told_again_without_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let options = keeping(folder.path(), CheckpointEvery::Epochs(1));
    let job = fake_job(json!({ "epochs": 2 }));
    let events = told(&job, &options, &mut Fake::new(10));
    let mut again = Fake::new(10);
    let told_again = told(&job, &options, &mut again);
    assert_eq!(kinds(&told_again), "D");
    assert!(again.steps.is_empty());
    assert_eq!(done(&told_again).parameters_hash, done(&events).parameters_hash);
    assert_eq!(done(&told_again).time_s, done(&events).time_s);
}

#[test]
fn checkpoints_are_written_when_they_are_due() {
    let count = |every: CheckpointEvery| {
        let folder = tempfile::tempdir().unwrap();
        let mut most = 0;
        let mut learner = Fake::new(20);
        let options = keeping(folder.path(), every);
        let mut newest = Vec::new();
        run(&fake_job(json!({ "epochs": 4 })), &options, &mut learner, 0.0, &mut |_| {
            let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = files.collect();
            files.sort();
            most = most.max(files.len());
            newest.extend(files.pop());
            newest.dedup();
            Flow::Continue
        })
        .unwrap();
        (newest.len(), most)
    };
    // Twenty steps in four epochs; the last is kept as the job ends.
    assert_eq!(count(CheckpointEvery::Epochs(1)), (4, 2));
    assert_eq!(count(CheckpointEvery::Epochs(3)), (2, 2));
    assert_eq!(count(CheckpointEvery::Steps(7)), (3, 2));
}

#[test]
fn a_damaged_checkpoint_is_told_before_the_first_step() {
    let folder = tempfile::tempdir().unwrap();
    let options = keeping(folder.path(), CheckpointEvery::Steps(2));
    let job = fake_job(json!({}));
    let mut whole = Fake::new(20);
    told(&job, &options, &mut whole);
    let mut files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    fs::write(&files[1], b"cut").unwrap();
    let mut learner = Fake::new(20);
    let events = told(&job, &options, &mut learner);
    assert_eq!(kinds(&events), "xsED");
    let TrainEvent::DamagedCheckpoint(damaged) = &events[0] else { panic!("{events:?}") };
    assert_eq!((&damaged.used, &damaged.checkpoint), (&files[0], &files[1]));
    assert_eq!(learner.sums, whole.sums);
}

#[test]
fn a_loss_that_is_not_finite_ends_the_job_at_its_step() {
    let mut learner = Fake::new(20);
    learner.loss = |step| if step == 3 { f64::NAN } else { 1.0 };
    let folder = tempfile::tempdir().unwrap();
    let export = vec![folder.path().join("sums.safetensors")];
    let options = TrainOptions { export, ..TrainOptions::default() };
    let events = told(&fake_job(json!({})), &options, &mut learner);
    assert_eq!(kinds(&events), "ss!");
    let Some(TrainEvent::Diverged(at)) = events.last() else { panic!("{events:?}") };
    assert_eq!((at.epoch, at.step, at.by), (1, 3, DivergedBy::NotFinite));
    assert!(!options.export[0].exists(), "a diverged job has no result");
}

#[test]
fn a_loss_that_stays_huge_ends_the_job() {
    let mut learner = Fake::new(200);
    learner.loss = |step| if step > 10 { 1e6 } else { 1.0 };
    let events = told(&fake_job(json!({})), &TrainOptions::default(), &mut learner);
    let Some(TrainEvent::Diverged(at)) = events.last() else { panic!("{events:?}") };
    assert_eq!((at.step, at.by), (30, DivergedBy::Exploded), "twenty steps in a row");
    let measured = at.measured.expect("losses were finite");
    assert!(measured.test_loss.is_finite() && (0.0..=1.0).contains(&measured.test_accuracy));
    assert!(at.time_s.is_finite() && at.examples_per_s.is_finite());
}

#[test]
fn early_stopping_holds_out_a_tenth_and_stops_when_it_gets_no_better() {
    let mut learner = Fake::new(50);
    learner.held_out_loss = |before| [3.0, 2.0, 2.5, 2.0, 1.0][before];
    let job = fake_job(json!({ "epochs": 5, "early_stopping": 2 }));
    let events = told(&job, &TrainOptions::default(), &mut learner);
    let done = done(&events);
    assert_eq!((done.epochs, done.ended), (4, Ended::EarlyStopping));
    assert_eq!(learner.held_out[0].len(), 5);
    assert!(learner.held_out.iter().all(|held_out| *held_out == learner.held_out[0]));
    let shown = learner.shown();
    assert!(!shown.iter().any(|example| learner.held_out[0].contains(example)));
    assert_eq!(shown.len(), 4 * 45);
    let losses: Vec<f64> = epochs(&events).iter().filter_map(|end| end.validation_loss).collect();
    assert_eq!(losses, [3.0, 2.0, 2.5, 2.0]);
}

#[test]
fn a_job_whose_time_is_up_scores_what_it_has() {
    let mut learner = Fake::new(20);
    let job = fake_job(json!({ "epochs": 3, "time_limit_s": 1e-9 }));
    let events = told(&job, &TrainOptions::default(), &mut learner);
    assert_eq!(kinds(&events), "sED");
    let done = done(&events);
    assert_eq!((done.steps, done.epochs, done.ended), (1, 1, Ended::TimeLimit));
}

#[test]
fn a_wish_to_stop_after_the_last_step_changes_nothing() {
    let mut learner = Fake::new(4);
    let events = told_until(&fake_job(json!({})), &TrainOptions::default(), &mut learner, 1);
    assert_eq!(kinds(&events), "sED");
    let mut learner = Fake::new(8);
    let events = told_until(&fake_job(json!({})), &TrainOptions::default(), &mut learner, 1);
    assert_eq!(kinds(&events), "s.");
    let Some(TrainEvent::Stopped(at)) = events.last() else { panic!("{events:?}") };
    assert_eq!((at.epochs, at.steps), (0, 1));
}

#[test]
fn a_finished_network_is_exported_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sums.safetensors");
    fs::write(&path, b"what was there before").unwrap();
    let options = TrainOptions { export: vec![path.clone()], ..TrainOptions::default() };
    let mut learner = Fake::new(10);
    told_until(&fake_job(json!({})), &options, &mut learner, 1);
    assert_eq!(fs::read(&path).unwrap(), b"what was there before", "a stopped job has no result");
    told(&fake_job(json!({})), &options, &mut learner);
    let file = SafeTensors::open(&path).unwrap();
    assert_eq!(file.values("sums").unwrap(), learner.sums);
    assert_eq!(file.metadata()["format"], "pt");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no private file is left");
}

#[test]
fn an_export_that_is_not_possible_is_refused_before_the_first_step() {
    let options = TrainOptions { export: vec!["net.onnx".into()], ..TrainOptions::default() };
    let mut learner = Fake::new(10);
    let error = run(&fake_job(json!({})), &options, &mut learner, 0.0, &mut |_| Flow::Continue);
    assert!(matches!(error, Err(TrainError::SparseOnnx)));
    assert!(learner.steps.is_empty());
}

#[test]
fn the_batch_follows_the_noise_and_the_rate_the_schedule() {
    let mut learner = Fake { noise: 1000.0, ..Fake::new(400) };
    let job = fake_job(json!({ "epochs": 4, "batch": 4, "schedule": "noise-scale", "lr": 0.5 }));
    let events = told(&job, &TrainOptions::default(), &mut learner);
    let batches: Vec<usize> = epochs(&events).iter().map(|end| end.batch).collect();
    assert_eq!(batches, [4, 8, 16, 32], "up to a tenth of the data");
    assert!(learner.steps.iter().all(|step| step.2 == 0.5));
    let noise = epochs(&events)[0].noise_scale.unwrap();
    assert!((noise - 1000.0).abs() < 1e-6, "{noise}");
}
