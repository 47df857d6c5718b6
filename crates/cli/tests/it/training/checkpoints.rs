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
        assert_eq!(kept, 2, "what killed processes were writing is gone");
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
}

#[test]
fn a_damaged_last_checkpoint_is_passed_over_and_told() {
    let lab = Lab::new();
    let job =
        ["train", "--neurons", "4", "--batch", "500", "--epochs", "3", "--checkpoint", "kept"];
    let whole = last_event(&lab.expect(0, &[&job[..], &["--json"]].concat()).stdout);
    let mut paths: Vec<_> =
        fs::read_dir(lab.path("kept")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let [older, newest] = &paths[..] else { panic!("two are kept: {paths:?}") };
    let mut bytes = fs::read(newest).unwrap();
    let place = bytes.len() - 5;
    bytes[place] ^= 4;
    fs::write(newest, &bytes).unwrap();
    let names = [older, newest].map(|path| path.file_name().unwrap().to_str().unwrap());
    let words = ["warning", names[0], names[1], "tensor `optimizer.steps` has changed"];
    let found = lab.expect(0, &["predict", "kept", "--json"]);
    found.says(&words);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert!(found["damaged"][0]["checkpoint"].as_str().unwrap().ends_with(names[1]), "{found}");
    lab.expect(3, &["predict", newest.to_str().unwrap()]).says(&["is damaged"]);
    let resumed = lab.expect(0, &[&job[..], &["--resume", "--json"]].concat());
    resumed.says(&words);
    let first: Value = serde_json::from_str(resumed.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["event"], "damaged-checkpoint", "{first}");
    assert_eq!(last_event(&resumed.stdout)["parameters_hash"], whole["parameters_hash"]);
    lab.expect(0, &["predict", "kept"]);
    for path in &paths {
        fs::write(path, b"cut").unwrap();
    }
    lab.expect(3, &[&job[..], &["--resume"]].concat()).says(&["no older one is sound", names[1]]);
}

#[test]
fn pretrained_weights_are_not_needed_once_there_is_a_checkpoint() {
    let lab = Lab::new();
    let export = ["train", "--neurons", "4", "--batch", "500", "--export", "weights.safetensors"];
    lab.expect(0, &export);
    let job = ["train", "--neurons", "4", "--batch", "500", "--weights", "weights.safetensors"];
    let job = [&job[..], &["--epochs", "2", "--checkpoint", "kept"]].concat();
    lab.expect(0, &job);
    fs::remove_file(lab.path("weights.safetensors")).unwrap();
    lab.expect(0, &["predict", "kept"]);
    lab.expect(0, &[&job[..], &["--resume"]].concat());
}

#[test]
fn sizes_that_no_machine_holds_are_refused_with_the_estimate_and_the_limit() {
    let lab = Lab::new();
    let words = ["of memory", "the limit is"];
    lab.expect(2, &["train", "--neurons", "4294967295"]).says(&words);
    lab.expect(2, &["train", "--network", "lstm:1000000"]).says(&words);
    lab.expect(2, &["train", "--network", "bilstm:100000"]).says(&words);
    let layers = ["train", "--neurons", "1", "--hidden-layers", "4294967295"];
    lab.expect(2, &layers).says(&["4294967296 layers"]);
    lab.expect(2, &["train", "--network", "lstm:18446744073709551615"]).says(&["2^38"]);
    let huge = "18446744073709551615x18446744073709551615x3";
    lab.expect(2, &["network", "mobilenet-v2", "--input", huge]).says(&["dimensions"]);
    lab.expect(2, &["network", "mobilenet-v2", "--input", "100000x100000x3"])
        .says(&["bytes of places, more than the limit"]);
    lab.expect(0, &["network", "lstm:100000"]);
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
