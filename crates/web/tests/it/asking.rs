//! A search that programs drive over the network: what is refused, and in which words.

use serde_json::{Value, json};

use crate::served::{Options, STUDY, Served};

const SEARCH: &str = r#"schema = 1
[study]
name = "demo"
[factors.x]
range = { from = 0.0, to = 1.0 }
[run]
command = ["true", "{x}"]
[metrics.y]
from = "jsonl"
objective = "minimize"
[metrics.seconds]
from = "wall"
unit = "s"
[search]
method = "random"
budget = { trials = 4 }
"#;

fn searched() -> Served {
    let options = Options { actions: true, study: Some(SEARCH.to_owned()), ..Options::default() };
    Served::with(&options)
}

#[track_caller]
fn refused(served: &Served, call: &str, body: &Value, status: u16, words: &str) {
    let answer = served.post_json(&format!("/api/v1/studies/demo/{call}"), &body.to_string());
    assert_eq!(answer.status, status, "{body}: {}", answer.body);
    let told = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(told.contains(words), "{body}: {told}");
}

#[test]
fn numbers_that_cannot_be_asked_for_are_named() {
    let served = searched();
    refused(&served, "ask", &json!({"count": 0}), 400, "`count` is 0");
    refused(&served, "ask", &json!({"count": 1001}), 400, "`count` is 1001");
    refused(&served, "ask", &json!({"count": -1}), 422, "count");
    refused(&served, "ask", &json!({"cuont": 1}), 422, "cuont");
    refused(&served, "ask", &json!({"count": "two"}), 422, "two");
}

#[test]
fn a_result_that_does_not_fit_the_study_is_refused_and_the_trial_stays_open() {
    let served = searched();
    // The store was made by asking for the first trial.
    let tell = |body: Value, status, words: &str| refused(&served, "tell", &body, status, words);
    tell(json!({"trial": 1, "values": {"y": 1.0, "z": 2.0}, "seconds": 1.0}), 400, "`z`");
    tell(json!({"trial": 1, "values": {}, "seconds": 1.0}), 400, "`y`");
    tell(json!({"trial": 9, "values": {"y": 1.0}}), 404, "9");
    tell(json!({"trial": 1, "values": {"y": 1.0}, "seconds": -3.0}), 400, "-3");
    tell(json!({"values": {"y": 1.0}}), 422, "trial");
    tell(json!({"trial": 1, "value": {"y": 1.0}}), 422, "value");
    let good = json!({"trial": 1, "values": {"y": 1.5}, "seconds": 2.5});
    let told = served.post_json("/api/v1/studies/demo/tell", &good.to_string());
    assert_eq!(told.status, 200, "{}", told.body);
    assert_eq!(told.json()["best_value"], 1.5);
    tell(good, 409, "trial 1");
}

#[test]
fn a_search_ends_with_its_budget_and_says_so() {
    let served = searched();
    let asked = served.post_json("/api/v1/studies/demo/ask", r#"{"count":10}"#).json();
    let trials = asked["trials"].as_array().unwrap();
    // One of the four was asked for when the store was made.
    assert_eq!(trials.len(), 3, "{asked}");
    let mut best = f64::INFINITY;
    for (number, value) in [(1, 0.5), (2, 0.75), (3, 0.25), (4, 9.0)] {
        let body = json!({"trial": number, "values": {"y": value}, "seconds": 1.0}).to_string();
        let told = served.post_json("/api/v1/studies/demo/tell", &body).json();
        best = best.min(value);
        assert_eq!((&told["state"], &told["best_value"]), (&json!("finished"), &json!(best)));
    }
    let over = served.post_json("/api/v1/studies/demo/ask", "{}").json();
    assert_eq!(over["trials"], json!([]), "{over}");
    assert!(over["stopped"].is_string() && over["wait"] == false, "{over}");
}

#[test]
fn a_failed_trial_is_told_with_its_reason_and_is_never_the_best() {
    let served = searched();
    let body = json!({"trial": 1, "failed": "out of <memory>"}).to_string();
    let told = served.post_json("/api/v1/studies/demo/tell", &body).json();
    assert_eq!((&told["state"], &told["best"]), (&json!("failed"), &Value::Null), "{told}");
    let begun = std::time::Instant::now();
    let trial = loop {
        let trial = served.get("/api/v1/studies/demo/trials/1").json();
        if trial["state"] == "failed" {
            break trial;
        }
        assert!(begun.elapsed().as_secs() < 20, "the failure is never seen: {trial}");
        std::thread::yield_now();
    };
    assert_eq!(trial["reason"], "out of <memory>");
    assert!(served.get("/s/demo/trials/1").body.contains("out of &lt;memory&gt;"));
    assert!(served.get("/s/demo").body.contains("Run failed trials again"));
}

#[test]
fn a_study_without_a_search_cannot_be_asked() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    refused(&served, "ask", &json!({}), 400, "demo");
    refused(&served, "tell", &json!({"trial": 1, "values": {"loss": 1.0}}), 400, "demo");
}

#[test]
fn a_token_of_a_trial_is_made_where_none_ran_yet_and_a_wrong_one_learns_nothing() {
    let served = Served::with(&Options { actions: true, ..Options::default() });
    let metrics = |trial: u32, token: &str| {
        let lines = format!("Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n");
        let path = format!("/api/v1/studies/demo/trials/{trial}/metrics");
        served.post_with(&path, &lines, r#"{"values":{"loss":1.0}}"#)
    };
    // The study was imported, so that there is no folder of trials to keep a secret in.
    assert_eq!(metrics(1, "00").status, 401);
    let token =
        |trial: u32| served.post_json(&format!("/api/v1/studies/demo/trials/{trial}/token"), "");
    let own = token(1);
    assert_eq!(own.status, 200, "{}", own.body);
    let own = own.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(token(1).json()["token"], own.as_str(), "it stays the same");
    assert_ne!(token(2).json()["token"], own.as_str());
    assert_eq!(token(13).status, 404);
    assert_eq!(metrics(2, &own).status, 401);
    // It is let in, and told that the trial has ended long ago.
    let late = metrics(1, &own);
    assert_eq!(late.status, 409, "{}", late.body);
    assert!(late.body.contains("trial 1 is not running"), "{}", late.body);
}

#[test]
fn the_name_of_a_study_does_not_open_it_without_the_token() {
    // The call by which trials send metrics is open; a study of that name is not.
    let text = STUDY.replace("name = \"demo\"", "name = \"metrics\"");
    let options =
        Options { token: Some("a-token-of-many-letters"), study: Some(text), ..Options::default() };
    let served = Served::with(&options);
    for path in ["/api/v1/studies/metrics", "/api/v1/studies/metrics/trials/1/metrics"] {
        let answer = served.get(path);
        assert_eq!(answer.status, 401, "{path}: {}", answer.body);
        assert!(!answer.body.contains("finished"), "{path}: {}", answer.body);
    }
}

#[test]
fn a_study_is_summed_up_for_programs() {
    let served = Served::plain();
    let own = served.get("/api/v1/studies/demo").json();
    assert_eq!(own["factors"], json!(["kind", "size"]));
    assert_eq!(own["metrics"], json!(["loss"]));
    assert_eq!((&own["response"], &own["search"]), (&json!("loss"), &json!(false)));
    assert_eq!((&own["trials"]["total"], &own["runner"]), (&json!(12), &Value::Null));
    assert_eq!(served.get("/api/v1/studies").json()["studies"], json!([own]));
    let trial = served.get("/api/v1/studies/demo/trials/1").json();
    assert!(trial["configuration"]["size"].is_number(), "levels keep their kind: {trial}");
    assert!(trial["configuration"]["kind"].is_string(), "{trial}");
    assert_eq!(served.post_json("/api/v1/studies/demo", "{}").status, 405);
}
