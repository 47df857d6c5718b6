//! A study, a preparation and a gang on a cluster give what one machine gives.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{on, shared};
use crate::program::Lab;

const STUDY: &str = r#"
schema = 1
[study]
name = "smoke"
seed = 3
[factors.lr]
levels = [0.001, 0.01]
[factors.neurons]
levels = [8, 16]
[design]
type = "full"
[job]
network = "mlp"
data = "fashion-mnist-sample"
epochs = 1
[metrics.accuracy]
objective = "maximize"
range = [0, 1]
[metrics.time]
from = "wall"
unit = "s"
[analysis]
response = "accuracy"
"#;

/// All that does not depend on time: the trials and what they measured.
fn trials(lab: &Lab, store: &str) -> Vec<Value> {
    let table = lab.json(&["export", "study.toml", "--store", store, "--format", "json"]);
    let mut rows = table["rows"].as_array().unwrap().clone();
    rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("time")));
    rows
}

#[test]
fn a_study_on_a_cluster_has_the_trials_and_results_of_one_machine() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::with_study(STUDY);
    lab.expect(0, &["run", "study.toml", "--store", "here.db"]);
    lab.expect(0, &on(master, &["run", "study.toml", "--store", "there.db", "--slots", "2"]));
    assert_eq!(trials(&lab, "there.db"), trials(&lab, "here.db"));
    let page = lab.path("report.html");
    lab.expect(0, &["report", "study.toml", "--store", "there.db", "-o", page.to_str().unwrap()]);
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains("id=\"cluster\"") && text.contains("127.0.0."), "no cluster in the page");
}

#[test]
fn a_preparation_on_a_cluster_makes_the_same_bytes_and_is_found_finished() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    let rows: String =
        (0..500).map(|row| format!("{row},{},{}\n", row * 7 % 13, row % 3)).collect();
    lab.write("t.csv", format!("x,y,label\n{rows}"));
    lab.expect(0, &["data", "prepare", "t.csv", "--out", "here", "--shards", "9"]);
    let words = ["data", "prepare", "t.csv", "--out", "there", "--shards", "9", "--json"];
    let reply = lab.json(&on(master, &words));
    assert_eq!(reply["records"], 500);
    assert_eq!(files(&lab.path("there")), files(&lab.path("here")));
    let tasks = reply["cluster"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len() as u64, reply["cluster"]["partitions"].as_u64().unwrap());
    assert!(tasks.iter().all(|task| task["usage"]["wall_s"].as_f64() > Some(0.0)), "{tasks:?}");
    let again = lab.json(&on(master, &words));
    assert_eq!((&again["records"], &again["cluster"]["partitions"]), (&500.into(), &0.into()));
}

/// Names and bytes of a folder's files.
pub(super) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}
