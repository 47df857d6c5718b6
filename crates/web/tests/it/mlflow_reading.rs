//! Kept studies as MLflow's clients read them: choosing, ordering and paging of runs.

use std::fs;

use serde_json::{Value, json};

use crate::served::{Options, STUDY, Served, make_store};

const CALLS: &str = "/api/2.0/mlflow";

fn post(served: &Served, call: &str, body: &Value) -> (u16, Value) {
    let answer = served.post_json(&format!("{CALLS}/{call}"), &body.to_string());
    (answer.status, answer.json())
}

fn names(answer: &Value) -> Vec<&str> {
    let runs = answer["runs"].as_array().unwrap();
    runs.iter().map(|own| own["info"]["run_name"].as_str().unwrap()).collect()
}

fn metric(run: &Value, key: &str) -> f64 {
    let metrics = run["data"]["metrics"].as_array().unwrap();
    metrics.iter().find(|own| own["key"] == key).unwrap()["value"].as_f64().unwrap()
}

fn param<'a>(run: &'a Value, key: &str) -> &'a str {
    let params = run["data"]["params"].as_array().unwrap();
    params.iter().find(|own| own["key"] == key).unwrap()["value"].as_str().unwrap()
}

#[test]
fn runs_are_chosen_and_ordered_as_a_client_asks() {
    let served = Served::plain();
    let all = post(&served, "runs/search", &json!({"experiment_ids": ["1"]})).1;
    let all = all["runs"].as_array().unwrap().clone();
    let search = |filter: &str, order: &[&str]| {
        let call = json!({"experiment_ids": ["1"], "filter": filter, "order_by": order});
        let (status, found) = post(&served, "runs/search", &call);
        assert_eq!(status, 200, "{filter}: {found}");
        found["runs"].as_array().unwrap().clone()
    };
    let found = search("metrics.loss < 0.6 and params.kind = 'plain'", &[]);
    let by_hand = |own: &&Value| metric(own, "loss") < 0.6 && param(own, "kind") == "plain";
    assert_eq!(found.len(), all.iter().filter(by_hand).count());
    assert!(!found.is_empty() && found.iter().all(|own| by_hand(&own)));
    let falling = search("", &["metrics.loss DESC"]);
    assert_eq!(falling.len(), 12);
    assert!(falling.windows(2).all(|two| metric(&two[0], "loss") >= metric(&two[1], "loss")));
    let two_keys = search("", &["params.size ASC", "metrics.loss DESC"]);
    for two in two_keys.windows(2) {
        let key = |own: &Value| (param(own, "size").parse::<u32>().unwrap(), metric(own, "loss"));
        let (a, b) = (key(&two[0]), key(&two[1]));
        assert!(a.0 < b.0 || a.0 == b.0 && a.1 >= b.1, "{a:?} before {b:?}");
    }
    assert_eq!(search("status = 'FINISHED'", &[]).len(), 12);
    assert_eq!(search("attributes.status != 'FINISHED'", &[]).len(), 0);
    assert_eq!(search("run_name = 'trial 3'", &[]).len(), 1);
}

#[test]
fn pages_of_runs_put_together_are_all_runs() {
    let served = Served::plain();
    let call = json!({"experiment_ids": ["1"], "order_by": ["params.size"]});
    let (_, whole) = post(&served, "runs/search", &call);
    for most in [1, 5, 12, 13] {
        let (mut token, mut found) = (None::<String>, Vec::new());
        loop {
            let mut call =
                json!({"experiment_ids": ["1"], "order_by": ["params.size"], "max_results": most});
            if let Some(token) = &token {
                call["page_token"] = token.as_str().into();
            }
            let (_, page) = post(&served, "runs/search", &call);
            found.extend(names(&page).into_iter().map(str::to_owned));
            token = page["next_page_token"].as_str().map(str::to_owned);
            assert!(found.len() <= 12, "it goes on for ever at {most} a page");
            if token.is_none() {
                break;
            }
        }
        assert_eq!(found, names(&whole), "{most} at a time");
    }
}

#[test]
fn what_a_client_asks_for_wrongly_is_refused_instead_of_answered_with_something_else() {
    let served = Served::plain();
    for (field, value, words) in [
        ("max_results", json!(0), "max_results"),
        ("max_results", json!(-4), "max_results"),
        ("page_token", json!("next"), "`next`"),
        ("filter", json!("metrics.loss < 'low'"), "metrics.loss < 'low'"),
        ("filter", json!("metrics.loss LIKE '1%'"), "LIKE"),
        ("order_by", json!(["metrics.loss DESC please"]), "please"),
        ("order_by", json!(["other.loss"]), "other.loss"),
    ] {
        let mut call = json!({"experiment_ids": ["1"]});
        call[field] = value;
        let (status, answer) = post(&served, "runs/search", &call);
        assert_eq!(status, 400, "{call}: {answer}");
        assert_eq!(answer["error_code"], "INVALID_PARAMETER_VALUE");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(words), "{call}: {message}");
    }
    for (call, words) in [
        ("experiments/get?experiment_id=9", "`9`"),
        ("experiments/get-by-name?experiment_name=none", "`none`"),
        ("runs/get?run_id=none", "`none`"),
        ("metrics/get-history?run_id=none&metric_key=loss", "`none`"),
    ] {
        let answer = served.get(&format!("{CALLS}/{call}"));
        assert_eq!(answer.status, 404, "{call}");
        assert!(answer.json()["message"].as_str().unwrap().contains(words), "{call}");
    }
}

#[test]
fn nothing_is_deleted_so_no_deleted_run_is_found() {
    let served = Served::plain();
    for (view, expected) in [("DELETED_ONLY", 0), ("ACTIVE_ONLY", 12), ("ALL", 12)] {
        let call = json!({"experiment_ids": ["1"], "run_view_type": view});
        let (_, found) = post(&served, "runs/search", &call);
        assert_eq!(found["runs"].as_array().unwrap().len(), expected, "{view}");
    }
}

#[test]
fn studies_of_one_name_in_two_stores_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        make_store(&folder.path().join(name), STUDY);
    }
    let served = Served::over(folder, &Options::default());
    let listed = served.get(&format!("{CALLS}/experiments/search")).json();
    let ids: Vec<(&str, &str)> = listed["experiments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| (own["experiment_id"].as_str().unwrap(), own["name"].as_str().unwrap()))
        .collect();
    // Pages call the second one the same.
    assert_eq!(ids, [("1", "demo"), ("2", "demo~2")]);
    assert_eq!(served.get("/s/demo~2").status, 200);
    let mut seen = std::collections::BTreeSet::new();
    for (id, name) in ids {
        let by_name = format!("{CALLS}/experiments/get-by-name?experiment_name={name}");
        assert_eq!(served.get(&by_name).json()["experiment"]["experiment_id"], id);
        let (_, found) = post(&served, "runs/search", &json!({"experiment_ids": [id]}));
        for run in found["runs"].as_array().unwrap() {
            let run_id = run["info"]["run_id"].as_str().unwrap();
            assert!(seen.insert(run_id.to_owned()), "{run_id} is there twice");
            let one = served.get(&format!("{CALLS}/runs/get?run_id={run_id}")).json();
            assert_eq!(one["run"], *run, "its own run is found by its name");
        }
    }
    assert_eq!(seen.len(), 24);
}
