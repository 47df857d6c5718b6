//! Trainings that are killed and go on.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::program::{Lab, until};

/// A job with everything that a checkpoint must keep: moments, a rate that changes with every
/// step, a batch that follows the noise in one of them, a held-out part and changed pictures in
/// the other.
const JOBS: [&[&str]; 2] = [
    &[
        "train",
        "--neurons",
        "16",
        "--batch",
        "100",
        "--epochs",
        "6",
        "--seed",
        "5",
        "--optimizer",
        "momentum",
        "--lr",
        "0.02",
        "--schedule",
        "noise-scale",
        "--warmup",
        "1",
        "--clip-norm",
        "5",
        "--json",
    ],
    &[
        "train",
        "--neurons",
        "16",
        "--batch",
        "100",
        "--epochs",
        "6",
        "--seed",
        "6",
        "--optimizer",
        "adamw",
        "--schedule",
        "cosine",
        "--early-stopping",
        "3",
        "--augment",
        "flip,crop:20,zoom:0.5",
        "--json",
    ],
];

fn last_event(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or(Value::Null)
}

#[test]
fn a_training_killed_at_any_moment_ends_with_the_same_bits() {
    for (index, job) in JOBS.into_iter().enumerate() {
        let lab = Lab::new();
        let whole = last_event(&lab.expect(0, job).stdout);
        assert_eq!(whole["event"], "done", "{whole}");
        let keeping = ["--checkpoint", "kept", "--checkpoint-every", "7 steps", "--resume"];
        let words = [job, &keeping].concat();
        let mut kills = 0;
        // Whatever a process had told by then, some moment between two events.
        for lines in [20, 43, 1, 90, 7, 61, 33].into_iter().map(|lines| lines + index) {
            let mut training = lab.start(&words);
            let told = || lab.read("running.stdout").lines().count();
            let ended = || last_event(&lab.read("running.stdout"))["event"] == "done";
            until("some steps are told", || told() >= lines || ended());
            training.signal(Signal::SIGKILL);
            kills += usize::from(training.end().code().is_none());
        }
        assert!(kills >= 4, "{kills} of 7 were killed before their end");
        let resumed = last_event(&lab.expect(0, &words).stdout);
        for field in ["parameters_hash", "steps", "train_loss", "test_loss", "epochs", "ended"] {
            assert_eq!(resumed[field], whole[field], "{field}");
        }
        let again = last_event(&lab.expect(0, &words).stdout);
        assert_eq!(again["time_s"], resumed["time_s"], "a finished job is told again");
        assert_eq!(again["parameters_hash"], whole["parameters_hash"]);
        let kept = fs::read_dir(lab.path("kept")).unwrap().count();
        // A process that is killed while it writes may leave its private file.
        assert!((2..=2 + kills).contains(&kept), "{kept} files are kept");
    }
}

#[test]
fn ctrl_c_keeps_the_job() {
    let lab = Lab::new();
    let words = ["train", "--epochs", "100000", "--neurons", "4", "--checkpoint", "kept"];
    let mut training = lab.start(&words);
    until("an epoch is told", || lab.read("running.stdout").contains("epoch 1"));
    training.signal(Signal::SIGINT);
    assert_eq!(training.end().code(), Some(130));
    assert!(fs::read_dir(lab.path("kept")).unwrap().count() > 0);
}

#[test]
fn checkpoints_of_another_job_are_refused_by_name() {
    let lab = Lab::new();
    let job = ["train", "--neurons", "2", "--batch", "3000", "--checkpoint", "kept"];
    lab.expect(0, &job);
    lab.expect(2, &job).says(&["--resume", "kept"]);
    let other = [&job[..], &["--resume", "--lr", "0.5"]].concat();
    lab.expect(2, &other).says(&["`lr` 0.001, now 0.5"]);
    lab.expect(0, &[&job[..], &["--resume", "--threads", "2"]].concat());
    lab.expect(2, &["train", "--resume"]).says(&["--checkpoint"]);
    lab.expect(2, &["train", "--checkpoint", "a", "--checkpoint-every", "0 steps"])
        .says(&["at least 1"]);
    fs::write(lab.path("kept").join("step-999999999999-epoch-000009.safetensors"), b"cut").unwrap();
    lab.expect(3, &[&job[..], &["--resume"]].concat()).says(&["step-999999999999", "ends inside"]);
}

#[test]
fn a_kept_network_is_applied_and_its_mistakes_are_counted() {
    let lab = Lab::new();
    let words = ["train", "--neurons", "16", "--batch", "100", "--checkpoint", "kept", "--json"];
    let done = last_event(&lab.expect(0, &words).stdout);
    let found = lab.json(&["predict", "kept", "--output", "each.csv", "--json"]);
    assert_eq!(found["schema"], "trainwright/predict/1");
    assert_eq!((&found["accuracy"], &found["examples"]), (&done["test_accuracy"], &1000.into()));
    let confusion = found["confusion"].as_array().unwrap();
    let count = |row: usize, column: usize| confusion[row][column].as_u64().unwrap();
    let right: u64 = (0..10).map(|class| count(class, class)).sum();
    assert_eq!(right as f64 / 1000.0, done["test_accuracy"].as_f64().unwrap());
    let table = lab.read("each.csv");
    let matching = table.lines().skip(1).filter(|line| {
        let words: Vec<&str> = line.split(',').collect();
        words[1] == words[2]
    });
    assert_eq!(matching.count() as u64, right);
    let text = lab.expect(0, &["predict", "kept"]).stdout;
    assert!(text.contains("class (rows) taken for (columns)"), "{text}");
    fs::create_dir(lab.path("empty")).unwrap();
    lab.expect(2, &["predict", "empty"]).says(&["empty has no checkpoint"]);
}
