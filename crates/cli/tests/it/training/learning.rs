//! Schedules, limits and sparse models of the built-in trainer.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::Lab;

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[test]
fn a_growing_batch_makes_fewer_steps_at_the_same_noise() {
    let lab = Lab::new();
    let job = |schedule: &'static str| {
        let words = [
            "train",
            "--neurons",
            "8",
            "--batch",
            "60",
            "--epochs",
            "3",
            "--optimizer",
            "momentum",
            "--lr",
            "0.02",
            "--schedule",
            schedule,
            "--json",
        ];
        events(&lab.expect(0, &words).stdout)
    };
    let (grown, decayed) = (job("grow-batch:4@1,2"), job("step:0.25@1,2"));
    let sizes = |events: &[Value]| -> Vec<(f64, f64)> {
        let ends = of_kind(events, "epoch").into_iter();
        ends.map(|end| (end["lr"].as_f64().unwrap(), end["batch"].as_f64().unwrap())).collect()
    };
    // 6000 pictures: 60 and 240 fit into a tenth, 960 does not.
    assert_eq!(sizes(&grown), [(0.02, 60.0), (0.02, 240.0), (0.005, 240.0)]);
    assert_eq!(sizes(&decayed), [(0.02, 60.0), (0.005, 60.0), (0.00125, 60.0)]);
    let steps = |events: &[Value]| events.last().unwrap()["steps"].as_u64().unwrap();
    assert_eq!((steps(&grown), steps(&decayed)), (100 + 25 + 25, 300));
}

#[test]
fn a_schedule_may_be_a_factor() {
    let lab = Lab::with_study(
        r#"
schema = 1
[study]
name = "schedules"
[factors.schedule]
levels = ["cosine", "grow-batch:2@1"]
[design]
type = "full"
[job]
network = "mlp"
data = "fashion-mnist-sample"
neurons = 4
batch = 500
epochs = 2
[metrics.accuracy]
from = "jsonl"
unit = "fraction"
"#,
    );
    lab.expect(0, &["run", "study.toml"]);
    let table = lab.expect(0, &["export", "study.toml"]).stdout;
    assert!(table.contains("cosine,") && table.contains("grow-batch:2@1,"), "{table}");
    assert_eq!(table.matches("finished").count(), 2, "{table}");
}

#[test]
fn a_time_limit_ends_a_training_with_a_result() {
    let lab = Lab::new();
    let words =
        ["train", "--epochs", "100000", "--neurons", "4", "--time-limit", "200ms", "--json"];
    let events = events(&lab.expect(0, &words).stdout);
    let done = events.last().unwrap();
    assert_eq!((&done["event"], &done["ended"]), (&"done".into(), &"time-limit".into()));
    assert!(done["time_s"].as_f64().unwrap() >= 0.2 && done["test_accuracy"].is_number());
    lab.expect(2, &["train", "--time-limit", "5"]).says(&["--time-limit", "ms, s, m or h"]);
}

#[test]
fn early_stopping_watches_a_part_that_is_not_trained_on() {
    let lab = Lab::new();
    // So large a rate that the loss soon gets no lower.
    let words = [
        "train",
        "--neurons",
        "8",
        "--epochs",
        "60",
        "--batch",
        "100",
        "--lr",
        "0.05",
        "--early-stopping",
        "2",
        "--json",
    ];
    let events = events(&lab.expect(0, &words).stdout);
    let done = events.last().unwrap();
    assert_eq!(done["ended"], "early-stopping", "{done}");
    let losses: Vec<f64> = of_kind(&events, "epoch")
        .into_iter()
        .map(|end| end["validation_loss"].as_f64().unwrap())
        .collect();
    let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(losses[losses.len() - 3], best, "{losses:?}");
    // A tenth of 6000 is held out.
    let steps = of_kind(&events, "step").into_iter().filter(|step| step["epoch"] == 1).count();
    assert_eq!(steps, 54);
}

#[test]
fn an_exploding_loss_is_told_with_step_and_rate() {
    let lab = Lab::new();
    let words = ["train", "--optimizer", "sgd", "--lr", "300", "--epochs", "3", "--json"];
    let events = events(&lab.expect(0, &words).stdout);
    let end = events.last().unwrap();
    assert_eq!((&end["event"], &end["lr"]), (&"diverged".into(), &300.0.into()), "{end}");
    assert!(end["step"].is_number() && end["by"].is_string());
}

/// A sparse set whose class is that of one of two features, and a test part.
fn sparse_set(lab: &Lab) {
    let row = |example: u32| {
        let positive = example.is_multiple_of(3);
        let told = if positive { 7 } else { 9 };
        format!("{} {told}:1 {}:0.5\n", if positive { "+1" } else { "-1" }, 20 + example % 11)
    };
    let rows = |range: std::ops::Range<u32>| range.map(row).collect::<String>();
    lab.write("clicks", rows(0..600));
    lab.write("clicks.t", rows(600..900));
}

#[test]
fn sparse_models_learn_in_every_mode() {
    let lab = Lab::new();
    sparse_set(&lab);
    for (optimizer, rate) in [("sgd", "1"), ("adagrad", "0.5"), ("ftrl", "1")] {
        for update in ["sync", "hogwild"] {
            for threads in ["1", "2"] {
                let words = [
                    "train",
                    "--network",
                    "logistic",
                    "--data",
                    "clicks",
                    "--optimizer",
                    optimizer,
                    "--lr",
                    rate,
                    "--update",
                    update,
                    "--threads",
                    threads,
                    "--epochs",
                    "3",
                    "--hash-bits",
                    "20",
                    "--json",
                ];
                let events = events(&lab.expect(0, &words).stdout);
                let done = events.last().unwrap();
                assert_eq!(done["test_accuracy"], 1.0, "{words:?}: {done}");
                assert_eq!(done["test_auc"], 1.0, "{words:?}: {done}");
            }
        }
    }
}

#[test]
fn faulty_sparse_jobs_exit_2_and_say_why() {
    let lab = Lab::new();
    sparse_set(&lab);
    let job = |more: &[&'static str]| {
        let words = ["train", "--network", "logistic", "--data", "clicks", "--optimizer", "sgd"];
        [&words[..], more].concat()
    };
    lab.expect(2, &["train", "--network", "logistic", "--data", "clicks"])
        .says(&["--optimizer", "sgd, adagrad or ftrl"]);
    lab.expect(2, &job(&["--l1", "1"])).says(&["--l1", "ftrl"]);
    lab.write("lonely", "1 2:1\n0 3:1\n");
    let lonely = ["train", "--network", "logistic", "--data", "lonely", "--optimizer", "sgd"];
    lab.expect(2, &lonely).says(&["lonely.t", "--test-data"]);
    for file in ["wide", "wide.t"] {
        lab.write(file, "1 4294967294:1\n0 3:1\n");
    }
    let wide = ["train", "--network", "logistic", "--data", "wide", "--optimizer", "sgd"];
    lab.expect(3, &wide).says(&["wide: ", "4294967294", "68719476720 bytes", "hash_bits"]);
    lab.write("three", "1 2:1\n0 3:1\n2 3:1\n");
    let three = [
        "train",
        "--network",
        "logistic",
        "--data",
        "three",
        "--optimizer",
        "sgd",
        "--test-data",
        "clicks.t",
    ];
    lab.expect(2, &three).says(&["three", "3 different labels"]);
    lab.write("bad.t", "1 2:1\n0 x:1\n");
    lab.expect(3, &job(&["--test-data", "bad.t"])).says(&["bad.t: line 2: `x:1`"]);
}

#[test]
fn a9a_is_learned_as_well_as_it_can_be() {
    let data = std::env::var_os("TRAINWRIGHT_TEST_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let a9a = data.join("sparse/a9a");
    if !a9a.is_file() {
        eprintln!("SKIPPED: no {}, so a9a was not trained on", a9a.display());
        return;
    }
    let lab = Lab::new();
    let mut told = String::new();
    // Plain SGD at a constant rate ends wherever the last examples pushed it, and with threads that
    // wait for one another in no fixed order that is a matter of luck: its rate falls to nothing.
    for (optimizer, rate, schedule, update) in [
        ("adagrad", "0.1", "constant", "sync"),
        ("ftrl", "0.3", "constant", "sync"),
        ("sgd", "0.02", "cosine", "hogwild"),
        ("adagrad", "0.1", "constant", "hogwild"),
    ] {
        let words = [
            "train",
            "--network",
            "logistic",
            "--data",
            a9a.to_str().unwrap(),
            "--optimizer",
            optimizer,
            "--lr",
            rate,
            "--schedule",
            schedule,
            "--update",
            update,
            "--threads",
            "2",
            "--epochs",
            "10",
            "--batch",
            "100",
            "--json",
        ];
        let events = events(&lab.expect(0, &words).stdout);
        let done = events.last().unwrap();
        let number = |key: &str| done[key].as_f64().unwrap();
        writeln!(told, "{optimizer} {schedule} {update}: {done}").unwrap();
        assert!(number("test_accuracy") >= 0.845 && number("test_auc") >= 0.90, "{told}");
    }
}
