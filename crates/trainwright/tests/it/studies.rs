//! Verbs before and after a run: `init`, `check`, `import`, `status`, `logs`, `export`, `analyze`,
//! `report`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use trainwright::analysis::StudyOptions;
use trainwright::{
    Error, ExportTable, LogName, Place, Results, UsageColumns, analyze, check, design_of,
    export_csv, import, init, init_from_csv, logs, metric_rules, report, safe_for_spreadsheets,
    status, to_json, write_file,
};
use trainwright_study::{Study, TrialState};

use crate::lab::{Lab, SUMS, check_refusal, nowhere};

#[test]
fn a_new_study_file_loads_and_is_never_overwritten() {
    let lab = Lab::new();
    let path = lab.path("new.toml");
    assert_eq!(init(&path).unwrap().study, path);
    assert!(Study::load(&path).is_ok());
    let before = fs::read_to_string(&path).unwrap();
    check_refusal(init(&path), 2, &["new.toml", "exists already"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    check_refusal(init(&lab.path("no/folder/new.toml")), 3, &["cannot write", "no/folder"]);
}

#[test]
fn a_table_of_results_becomes_a_study_that_takes_it_in() {
    let lab = Lab::new();
    let mut text = "lr,batch,accuracy\n".to_owned();
    for (row, (lr, batch)) in
        [(0.1, 32), (0.1, 64), (0.2, 32), (0.2, 64)].repeat(3).iter().enumerate()
    {
        text += &format!("{lr},{batch},0.{}\n", 500 + row);
    }
    let table = lab.file("runs.csv", text);
    init_from_csv(&lab.path("study.toml"), &table).unwrap();
    let study = Study::load(&lab.path("study.toml")).unwrap();
    let names: Vec<&str> = study.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["lr", "batch"]);
    assert_eq!(import(&study, &table, &BTreeMap::new(), None).unwrap().kept, 12);
}

#[test]
fn a_table_without_factors_becomes_no_study() {
    let lab = Lab::new();
    check_refusal(init_from_csv(&lab.path("s.toml"), nowhere()), 2, &["cannot read", "all.csv"]);
    let table = lab.file("t.csv", "word\na\nb\n");
    check_refusal(init_from_csv(&lab.path("s.toml"), &table), 2, &["cannot import", "t.csv"]);
    assert!(!lab.path("s.toml").exists());
}

#[test]
fn a_check_shows_the_plan_and_changes_nothing() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let preview = check(&study, None, Path::new("/bin/false")).unwrap();
    assert_eq!((preview.trials.len(), preview.replications, preview.runs), (8, 2, true));
    assert!(preview.changes.is_empty());
    let command = preview.first_command.unwrap();
    assert_eq!(&command[..2], ["sh", "-c"]);
    assert!(!Place::of(&study, None).store.exists());
    assert_eq!(design_of(&study).unwrap().rows().len(), 4);
}

#[test]
fn a_check_says_what_a_change_would_mean() {
    let lab = Lab::new();
    lab.run(&lab.study(SUMS));
    let grown = lab.study(&SUMS.replace("levels = [1, 2]", "levels = [1, 2, 3]"));
    let preview = check(&grown, None, Path::new("/bin/false")).unwrap();
    assert_eq!(preview.trials.len(), 12);
    assert!(!preview.changes.is_empty());
}

#[test]
fn results_are_taken_in_by_their_columns() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let table = lab.file("r.csv", "a,b,value\n1,10,11\n1,20,21\n2,10,12\n2,20,\n");
    let columns = BTreeMap::from([("y".to_owned(), "value".to_owned())]);
    let imported = import(&study, &table, &columns, None).unwrap();
    assert_eq!(imported.kept, 3);
    assert_eq!(imported.without_response, [5]);
    assert_eq!(imported.missing_rows.len(), 1);
    assert_eq!(imported.short_rows.len(), 3);
    assert!(imported.outside_design.is_empty());
    check_refusal(import(&study, &table, &columns, None), 2, &["already has results", "--store"]);
    let other = lab.path("other.db");
    assert_eq!(import(&study, &table, &columns, Some(&other)).unwrap().kept, 3);
}

#[test]
fn a_table_that_does_not_fit_is_not_taken_in() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let take = |text: &str| import(&study, &lab.file("r.csv", text), &BTreeMap::new(), None);
    check_refusal(take("a,b\n1,10\n"), 2, &["cannot import", "y"]);
    check_refusal(take("a,y\n1,10\n"), 2, &["cannot import", "b"]);
    check_refusal(take("a,b,y\n1,10,much\n"), 2, &["cannot import", "much"]);
    check_refusal(take("a,b,y\n9,10,1\n"), 2, &["line 2", "`9` is no level of `a`", "1, 2"]);
    check_refusal(import(&study, nowhere(), &BTreeMap::new(), None), 2, &["all.csv"]);
}

#[test]
fn nothing_is_read_of_a_study_that_never_ran() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    check_refusal(Results::read(&study, None), 2, &["`sums` has no results", "trainwright run"]);
    let foreign = lab.file("foreign.db", b"this is no store of ours, only bytes");
    check_refusal(Results::read(&study, Some(&foreign)), 3, &["foreign.db"]);
}

#[test]
fn the_status_of_a_finished_study() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let reply = status(&study, &results).unwrap();
    assert_eq!((reply.counts.total, reply.counts.count(TrialState::Finished)), (8, 8));
    assert_eq!((reply.runner, reply.progress.len()), (None, 0));
    let numbers: Vec<u32> = reply.trials.iter().map(|trial| trial.trial).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    assert!(reply.trials.iter().all(|trial| trial.wall_s.is_some() && trial.attempts == 1));
    assert_eq!(reply.change, results.change());
    assert!(results.series(1).is_ok() && !results.machines().unwrap().is_empty());
}

#[test]
fn the_log_of_a_trial_is_what_it_wrote() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let reply = logs(&study, &results, 1, LogName::Stderr).unwrap();
    assert_eq!((reply.text.as_str(), reply.bytes.as_slice()), ("told\n", &b"told\n"[..]));
    assert!(logs(&study, &results, 1, LogName::Stdout).unwrap().text.starts_with("::metric"));
    check_refusal(logs(&study, &results, 9, LogName::Stdout), 2, &["no trial 9", "1 to 8"]);
    check_refusal(results.trial(&study, 0), 2, &["no trial 0"]);
}

#[test]
fn an_export_has_a_row_a_trial_in_every_format() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let table = ExportTable::new(&study, &results, UsageColumns::LeftOut);
    assert_eq!(table.columns, ["trial", "row", "replicate", "state", "attempts", "a", "b", "y"]);
    let mut bytes = Vec::new();
    export_csv(&table, &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let rows: Vec<Vec<String>> =
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    assert_eq!(rows.len(), 8);
    let json: serde_json::Value = serde_json::from_str(&to_json("export", &table)).unwrap();
    assert_eq!((&json["schema"], &json["study"]), (&"trainwright/export/1".into(), &"sums".into()));
    for (row, object) in rows.iter().zip(json["rows"].as_array().unwrap()) {
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        assert_eq!(number(&row[5]) + number(&row[6]), number(&row[7]));
        assert_eq!(object["y"].as_f64(), Some(number(&row[7])));
        assert_eq!(object["state"], row[3]);
    }
    assert_eq!(safe_for_spreadsheets(&bytes).unwrap(), bytes);
}

#[test]
fn trials_that_did_not_run_have_empty_cells() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let table = lab.file("r.csv", "a,b,y\n1,10,0.1\n2,20,1e-7\n");
    import(&study, &table, &BTreeMap::new(), None).unwrap();
    let results = Results::read(&study, None).unwrap();
    let mut bytes = Vec::new();
    export_csv(&ExportTable::new(&study, &results, UsageColumns::LeftOut), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.lines().filter(|line| line.ends_with(',')).count(), results.trials.len() - 2);
    assert!(text.contains(",1e-7\n") && text.contains(",0.1\n"), "{text}");
}

#[test]
fn effects_of_finished_trials_are_found() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let analysis = analyze(&study, &results, &StudyOptions::default()).unwrap();
    assert_eq!(analysis.response, "y");
    let json = serde_json::to_value(&analysis).unwrap();
    assert!(json.to_string().contains("\"a\""), "{json}");
}

#[test]
fn too_few_trials_are_not_analysed() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let table = lab.file("r.csv", "a,b,y\n1,10,11\n");
    import(&study, &table, &BTreeMap::new(), None).unwrap();
    let results = Results::read(&study, None).unwrap();
    check_refusal(analyze(&study, &results, &StudyOptions::default()), 2, &["cannot analyse"]);
}

#[test]
fn a_report_is_one_page_that_names_the_study() {
    let lab = Lab::new();
    let (study, results) = lab.sums();
    let page = report(&study, &results, "2026-01-02").unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(page.contains("sums") && page.contains("2026-01-02"));
    assert!(!page.contains("src=\"http"), "a report loads nothing from elsewhere");
    let path = lab.path("report.html");
    write_file(&path, page.as_bytes()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
    let refused: Result<(), Error> = write_file(&lab.path("no/r.html"), b"");
    check_refusal(refused, 3, &["no/r.html"]);
}

#[test]
fn rules_are_tried_on_a_log() {
    let lab = Lab::new();
    let study = lab.study(SUMS);
    let log = lab.file("log", "start\n::metric {\"y\": 3}\n::metric {\"y\": 4}\n");
    let reply = metric_rules(&study, &log).unwrap();
    assert_eq!(reply.rules.len(), 1);
    let rule = &reply.rules[0];
    assert_eq!((rule.metric.as_str(), rule.picked), ("y", Some(4.0)));
    let found: Vec<(usize, f64)> = rule.found.iter().map(|find| (find.line, find.value)).collect();
    assert_eq!(found, [(2, 3.0), (3, 4.0)]);
    let none = metric_rules(&study, &lab.file("log2", "y = 3\n")).unwrap();
    assert_eq!(none.rules[0].picked, None);
    check_refusal(metric_rules(&study, nowhere()), 2, &["all.csv"]);
}
