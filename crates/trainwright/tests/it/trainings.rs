//! `train`, `job`, `predict` and `network`.

use std::fs;
use std::path::Path;

use serde_json::json;
use trainwright::records::PixelLimit;
use trainwright::training::{
    CheckpointEvery, CheckpointOptions, CheckpointStart, Flow, PredictRequest, TrainEvent,
    TrainOptions, TrainOutcome,
};
use trainwright::{
    JobChannels, NetworkRequest, Wish, describe_network, job, predict, predictions_csv,
    predictions_page, train,
};
use trainwright_study::JobSpec;

use crate::lab::{Lab, check_refusal, nowhere};

/// A grey PNG picture of two pixels, by the chunks of its specification.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0xd1, 0x49, 0x20,
    0x56, 0x00, 0x00, 0x00, 0x0b, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x10, 0xf8, 0x00, 0x00,
    0x01, 0x13, 0x01, 0x01, 0x75, 0x5b, 0x66, 0xfc, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44,
    0xae, 0x42, 0x60, 0x82,
];

/// A small job on examples of two features that a line tells apart.
fn job_text(lab: &Lab) -> String {
    let line = |row: u32| format!("{} 1:{} 2:{}\n", row % 2, row % 2, f64::from(row % 5) / 5.0);
    let rows: String = (0..40).map(line).collect();
    let data = lab.file("train.libsvm", &rows);
    let test = lab.file("test.libsvm", &rows);
    json!({
        "network": "logistic", "data": data, "test_data": test, "lr": 0.5, "batch": 4,
        "epochs": 3, "seed": 1, "optimizer": "sgd",
    })
    .to_string()
}

fn spec(lab: &Lab) -> JobSpec {
    serde_json::from_str(&job_text(lab)).unwrap()
}

fn kept_in(folder: &Path, start: CheckpointStart) -> TrainOptions {
    let checkpoint =
        CheckpointOptions { folder: folder.to_owned(), every: CheckpointEvery::Epochs(1), start };
    TrainOptions { checkpoint: Some(checkpoint), ..TrainOptions::default() }
}

#[test]
fn a_job_is_trained_kept_and_applied() {
    let lab = Lab::new();
    let folder = lab.path("kept");
    let mut epochs = 0;
    let options = kept_in(&folder, CheckpointStart::Fresh);
    let outcome = train(&spec(&lab), &options, &mut |event| {
        epochs += u32::from(matches!(event, TrainEvent::Epoch(_)));
        Flow::Continue
    });
    assert!(matches!(outcome.unwrap().outcome, TrainOutcome::Done(_)));
    assert_eq!(epochs, 3);
    let again = train(&spec(&lab), &options, &mut |_| Flow::Continue);
    check_refusal(again, 2, &["kept"]);
    let request = PredictRequest {
        from: folder,
        data: None,
        data_dir: None,
        test_data: None,
        threads: 1,
        max_pixels: PixelLimit::default(),
    };
    let predictions = predict(&request).unwrap();
    assert_eq!(predictions_csv(&predictions).lines().count(), 41);
    assert!(predictions_page(&predictions, "now").contains("<html"));
    check_refusal(
        predict(&PredictRequest { from: nowhere().to_owned(), ..request }),
        2,
        &["all.csv", "no such file"],
    );
}

#[test]
fn a_listener_stops_a_training() {
    let lab = Lab::new();
    let outcome = train(&spec(&lab), &TrainOptions::default(), &mut |_| Flow::Stop);
    assert!(matches!(outcome.unwrap().outcome, TrainOutcome::Stopped(_)));
}

#[test]
fn a_job_tells_its_metrics_to_a_file() {
    let lab = Lab::new();
    let file = lab.file("job.json", job_text(&lab));
    let metrics = lab.path("metrics.jsonl");
    let channels = JobChannels { metrics: Some(metrics.clone()), ..JobChannels::default() };
    let outcome = job(&file, &channels, &|| Wish::GoOn, &mut |_| {}).unwrap();
    assert!(matches!(outcome.outcome, TrainOutcome::Done(_)));
    let text = fs::read_to_string(&metrics).unwrap();
    assert!(text.lines().count() >= 3);
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn a_stop_file_ends_a_job() {
    let lab = Lab::new();
    let file = lab.file("job.json", job_text(&lab));
    let stop_file = Some(lab.file("stop", ""));
    let channels = JobChannels { stop_file, ..JobChannels::default() };
    let outcome = job(&file, &channels, &|| Wish::GoOn, &mut |_| {}).unwrap();
    assert!(matches!(outcome.outcome, TrainOutcome::Stopped(_)));
}

#[test]
fn a_faulty_job_is_refused_with_its_file() {
    let lab = Lab::new();
    let tell = |text: &str| {
        let file = lab.file("job.json", text);
        job(&file, &JobChannels::default(), &|| Wish::GoOn, &mut |_| {})
    };
    check_refusal(tell("{"), 2, &["job.json"]);
    check_refusal(tell(&job_text(&lab).replace("\"lr\"", "\"rate\"")), 2, &["job.json", "rate"]);
    check_refusal(tell(&job_text(&lab).replace("0.5", "-1")), 2, &["lr"]);
    let missing = job(nowhere(), &JobChannels::default(), &|| Wish::GoOn, &mut |_| {});
    check_refusal(missing, 2, &["all.csv"]);
}

#[test]
fn a_network_is_described_without_data() {
    let request = |description: &str| NetworkRequest {
        description: description.to_owned(),
        input: Some(vec![28, 28, 1]),
        classes: Some(10),
    };
    let summary = describe_network(&request("mlp:784-32-10")).unwrap();
    assert_eq!((summary.classes, summary.input.as_slice()), (10, &[784][..]));
    // 784 inputs and a constant into 32, those and a constant into 10.
    assert_eq!(summary.parameters, 785 * 32 + 33 * 10);
    check_refusal(describe_network(&request("mlp:784-many-10")), 2, &["many"]);
    check_refusal(describe_network(&request("no-such-layer")), 2, &["no-such-layer"]);
}

#[test]
fn pictures_above_the_limit_are_refused_by_train() {
    let lab = Lab::new();
    for (class, number) in ["a", "b"].into_iter().flat_map(|class| (0..20).map(move |n| (class, n)))
    {
        lab.file(&format!("photos/{class}/{number}.png"), PNG);
    }
    let text = json!({ "network": "mlp", "data": lab.path("photos"), "batch": 2, "seed": 1 });
    let job: JobSpec = serde_json::from_value(text).unwrap();
    let limited = |pixels: &str| TrainOptions {
        max_pixels: Some(pixels.parse().unwrap()),
        ..TrainOptions::default()
    };
    check_refusal(
        train(&job, &limited("1"), &mut |_| Flow::Continue),
        3,
        &[".png", "--max-pixels"],
    );
    let outcome = train(&job, &limited("2"), &mut |_| Flow::Continue);
    assert!(matches!(outcome.unwrap().outcome, TrainOutcome::Done(_)));
}
