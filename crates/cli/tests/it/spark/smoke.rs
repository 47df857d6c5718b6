//! A study, a preparation and a gang on a cluster give what one machine gives.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{on, shared};
use crate::program::{Lab, shell_study};

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
    lab.expect(0, &["report", "study.toml", "--store", "there.db", "-o", "report.html"]);
    check_page(&lab, "report.html");
}

/// A page tells what ran on which executor.
#[track_caller]
pub(super) fn check_page(lab: &Lab, name: &str) {
    let text = lab.read(name);
    assert!(text.contains("id=\"cluster\"") && text.contains("id=\"executors\""), "no cluster");
    let named = ["0", "1"].map(|own| text.contains(&format!("executor {own} on 127.0.0.")));
    assert!(named.contains(&true), "no timeline of an executor");
}

#[test]
#[ignore = "an application takes half a minute"]
fn a_study_on_a_cluster_has_the_parameters_of_one_machine() {
    let Some((master, _in_use)) = shared() else { return };
    let program = env!("CARGO_BIN_EXE_trainwright");
    let script = format!(
        "\"{program}\" train --neurons $x --seed $TRAINWRIGHT_SEED --json > $TRAINWRIGHT_DIR/events"
    );
    let lab = Lab::with_study(&shell_study("[4, 8, 16]", &script, ""));
    lab.expect(0, &["run", "study.toml", "--store", "here.db"]);
    lab.expect(0, &on(master, &["run", "study.toml", "--store", "there.db", "--slots", "2"]));
    let hash = |place: &str, trial: u32| {
        let events = lab.read(&format!("{place}.trials/demo/{trial:05}/events"));
        let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
        last["parameters_hash"].as_str().unwrap().to_owned()
    };
    for trial in 1..=3 {
        assert_eq!(hash("there", trial), hash("here", trial), "trial {trial}");
    }
    assert_ne!(hash("here", 1), hash("here", 2));
}

#[test]
fn a_preparation_on_a_cluster_makes_the_same_bytes_and_is_found_finished() {
    let Some((master, _in_use)) = shared() else { return };
    let lab = Lab::new();
    let rows: String =
        (0..500).map(|row| format!("{row},{},{}\n", row * 7 % 13, row % 3)).collect();
    lab.write("t.csv", format!("x,y,label\n{rows}"));
    lab.expect(0, &["data", "prepare", "t.csv", "--out", "here", "--shards", "20"]);
    let words = ["data", "prepare", "t.csv", "--out", "there", "--shards", "20", "--json"];
    let reply = lab.json(&on(master, &[&words[..], &["--report", "page.html"]].concat()));
    assert_eq!(reply["records"], 500);
    assert_eq!(files(&lab.path("there")), files(&lab.path("here")));
    let [slots, partitions] = ["slots", "partitions"].map(|key| reply["cluster"][key].as_u64());
    let (slots, partitions) = (slots.unwrap(), partitions.unwrap());
    assert!((2 * slots..=4 * slots).contains(&partitions), "{partitions} for {slots} cores");
    let tasks = reply["cluster"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len() as u64, partitions);
    check_page(&lab, "page.html");
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
