//! Jobs that are kept and go on, with a learner that adds up.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::super::options::CheckpointEvery;
use super::*;
use crate::learners::fake::{Fake, fake_job};

fn options(folder: &Path, start: CheckpointStart) -> CheckpointOptions {
    CheckpointOptions { folder: folder.to_owned(), every: CheckpointEvery::Steps(1), start }
}

fn at_step(steps: u64) -> Progress {
    Progress { steps, ..Progress::start(None) }
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Keeps a job at these steps, with sums that tell them.
fn keep(folder: &Path, steps: &[u64]) {
    let (job, options) = (fake_job(json!({})), options(folder, CheckpointStart::Resume));
    let mut learner = Fake::new(10);
    let (mut keeper, _) = Keeper::open(&options, &job, &mut learner).unwrap();
    for &step in steps {
        learner.sums = vec![step as f32; 3];
        keeper.save(&mut learner, &at_step(step)).unwrap();
    }
}

fn resume(folder: &Path) -> Result<(Fake, Option<GoesOn>), TrainError> {
    let (job, options) = (fake_job(json!({})), options(folder, CheckpointStart::Resume));
    let mut learner = Fake::new(10);
    let (_, goes_on) = Keeper::open(&options, &job, &mut learner)?;
    Ok((learner, goes_on))
}

#[test]
fn the_last_two_are_kept_and_the_last_is_gone_on_from() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("not/yet/there");
    keep(&inner, &[1, 2, 3, 10]);
    let names = [3, 10].map(|step| format!("step-{step:012}-epoch-000001.safetensors"));
    assert_eq!(files(&inner), names);
    let (learner, goes_on) = resume(&inner).unwrap();
    assert_eq!(learner.sums, [10.0; 3]);
    let goes_on = goes_on.unwrap();
    assert_eq!((goes_on.progress, goes_on.damaged.len()), (at_step(10), 0));
}

#[test]
fn without_a_checkpoint_a_job_begins() {
    let folder = tempfile::tempdir().unwrap();
    let (learner, goes_on) = resume(folder.path()).unwrap();
    assert!(goes_on.is_none());
    assert_eq!(learner.sums, Fake::new(10).sums);
}

#[test]
fn a_new_job_does_not_write_over_an_old_one() {
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), &[4]);
    let fresh = options(folder.path(), CheckpointStart::Fresh);
    let error = Keeper::open(&fresh, &fake_job(json!({})), &mut Fake::new(10)).err().unwrap();
    assert!(error.to_string().contains("go on from it with --resume"), "{error}");
}

#[test]
fn another_job_does_not_go_on_from_it() {
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), &[4]);
    let options = options(folder.path(), CheckpointStart::Resume);
    let open = |keys| Keeper::open(&options, &fake_job(keys), &mut Fake::new(10)).map(drop);
    let error = open(json!({ "seed": 8 })).unwrap_err().to_string();
    assert!(error.contains("`seed` 7, now 8"), "{error}");
    assert!(open(json!({ "threads": 2, "time_limit_s": 5.0 })).is_ok());
}

#[test]
fn damage_is_passed_over_until_a_new_checkpoint_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), &[5, 6]);
    let newest = folder.path().join(&files(folder.path())[1]);
    fs::write(&newest, b"cut").unwrap();
    let (learner, goes_on) = resume(folder.path()).unwrap();
    let goes_on = goes_on.unwrap();
    assert_eq!((learner.sums[0], goes_on.progress.steps), (5.0, 5));
    assert_eq!(goes_on.damaged[0].checkpoint, newest);
    assert_eq!(files(folder.path()).len(), 2, "nothing is lost by looking");
    // The step that was damaged is made again: what stands there now is sound.
    keep(folder.path(), &[6]);
    assert_eq!(resume(folder.path()).unwrap().0.sums[0], 6.0);
    fs::write(&newest, b"cut").unwrap();
    // Another step: the damaged one goes, and two sound ones stay.
    keep(folder.path(), &[7]);
    let names = [5, 7].map(|step| format!("step-{step:012}-epoch-000001.safetensors"));
    assert_eq!(files(folder.path()), names);
}

#[test]
fn what_a_killed_writer_left_is_removed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), &[1]);
    let left = folder.path().join(".step-2-epoch-1.safetensors.trainwright-partial");
    fs::write(&left, vec![0; 1 << 20]).unwrap();
    resume(folder.path()).unwrap();
    assert!(!left.exists());
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn pretrained_weights_are_needed_only_where_a_job_begins() {
    let folder = tempfile::tempdir().unwrap();
    let [fresh, resumed] = [CheckpointStart::Fresh, CheckpointStart::Resume]
        .map(|start| options(folder.path(), start));
    assert!(!goes_on(None) && !goes_on(Some(&resumed)));
    keep(folder.path(), &[1]);
    assert!(goes_on(Some(&resumed)) && !goes_on(Some(&fresh)));
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), &[1]);
    // A folder in the place of the file: not even its owner can rename over it.
    fs::create_dir_all(folder.path().join("step-000000000002-epoch-000001.safetensors/x")).unwrap();
    let resumed = options(folder.path(), CheckpointStart::Resume);
    let mut learner = Fake::new(10);
    let (mut keeper, _) =
        Keeper::open(&resumed, &fake_job(json!({})), &mut learner).expect("step 1 is sound");
    let error = keeper.save(&mut learner, &at_step(2)).unwrap_err();
    assert!(matches!(error, TrainError::Write { .. }), "{error}");
    assert_eq!(resume(folder.path()).unwrap().0.sums[0], 1.0);
}
