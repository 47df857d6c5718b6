//! What pages may do, and only with a form of theirs.

use std::fs;

use trainwright::analysis::StudyOptions;
use trainwright::{ExportTable, Results, UsageColumns, analyze};

use crate::served::{Options, Served};

fn form_code(page: &str) -> &str {
    let start = page.split("name=\"form\" value=\"").nth(1).unwrap();
    start.split('"').next().unwrap()
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

#[test]
fn a_trial_is_left_out_with_its_reason_and_taken_in_again() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    let page = served.get("/s/demo/trials/5").body;
    let body = format!("form={}&reason=the+disk+%3Cfull%3E", form_code(&page));
    assert_eq!(served.post_with("/s/demo/trials/5/exclude", FORM, &body).status, 303);
    let study = served.study();
    let results = Results::read(&study, None).unwrap();
    let analysis = analyze(&study, &results, &StudyOptions::default()).unwrap();
    assert_eq!(analysis.n, 11);
    let finding = analysis.findings.iter().find(|own| own.id == "excluded-trials").unwrap();
    assert!(finding.text.contains("trial 5 (the disk <full>)"), "{}", finding.text);
    let table = ExportTable::new(&study, &results, UsageColumns::LeftOut);
    assert_eq!(table.columns.last().unwrap(), "excluded");
    drop(results);
    let body = format!("form={}&undo=yes", form_code(&page));
    assert_eq!(served.post_with("/s/demo/trials/5/exclude", FORM, &body).status, 303);
    let results = Results::read(&study, None).unwrap();
    assert!(results.trials.iter().all(|own| own.excluded.is_none()));
}

#[test]
fn replications_are_added_to_the_study_file() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    let page = served.get("/s/demo").body;
    let body = format!("form={}&more=3", form_code(&page));
    assert_eq!(served.post_with("/s/demo/replicate", FORM, &body).status, 303);
    let text = fs::read_to_string(served.folder.path().join("study.toml")).unwrap();
    assert!(text.contains("replications = 5\n"), "{text}");
    for wrong in ["0", "-1", "x", "100000", ""] {
        let body = format!("form={}&more={wrong}", form_code(&page));
        assert_eq!(served.post_with("/s/demo/replicate", FORM, &body).status, 400, "{wrong}");
    }
}

#[test]
fn nothing_runs_so_nothing_is_stopped() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    let page = served.get("/s/demo").body;
    let body = format!("form={}", form_code(&page));
    assert_eq!(served.post_with("/s/demo/stop", FORM, &body).status, 409);
}

#[test]
fn a_server_that_only_shows_has_no_forms_and_takes_none() {
    let served = Served::plain();
    assert!(!served.get("/s/demo").body.contains("method=\"post\""));
    for path in ["stop", "retry", "replicate", "trials/1/exclude"] {
        let answer = served.post_with(&format!("/s/demo/{path}"), FORM, "form=x&reason=y");
        assert_eq!(answer.status, 403, "{path}");
    }
    assert_eq!(served.post_json("/api/v1/studies/demo/ask", "{}").status, 403);
}
