//! What programs get.

use crate::served::{Options, Served};

#[test]
fn studies_trials_series_and_analysis_are_json() {
    let served = Served::plain();
    let studies = served.get("/api/v1/studies").json();
    assert_eq!(studies["studies"][0]["name"], "demo");
    assert_eq!(studies["studies"][0]["trials"]["finished"], 12);
    let trials = served.get("/api/v1/studies/demo/trials?filter=size==4&count=3").json();
    assert_eq!((&trials["matching"], trials["trials"].as_array().unwrap().len()), (&4.into(), 3));
    let trial = served.get("/api/v1/studies/demo/trials/2").json();
    assert_eq!(trial["trial"], 2);
    assert!(trial["metrics"]["loss"].is_number());
    assert_eq!(
        served.get("/api/v1/studies/demo/trials/2/series").json()["series"],
        serde_json::json!([])
    );
    let analysis = served.get("/api/v1/studies/demo/analysis").json();
    assert_eq!(analysis["analysis"]["n"], 12);
}

#[test]
fn faults_are_json_too() {
    let served = Served::plain();
    for (path, status) in [
        ("/api/v1/studies/none", 404),
        ("/api/v1/studies/demo/trials/77", 404),
        ("/api/v1/studies/demo/trials?filter=(", 400),
        ("/api/v1/studies/demo/trials?sort=none", 400),
        ("/api/v1/studies/demo/trials?count=-1", 400),
        ("/api/v1/none", 404),
        ("/api/v1/studies/demo/tell", 405),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.json()["error"].is_string(), "{path}");
    }
    let claimed = format!(
        "POST /api/v1/studies/demo/tell HTTP/1.1\r\nHost: {}\r\nContent-Length: 9999999\r\n\
         Connection: close\r\n\r\nx",
        served.address
    );
    let answer = served.send(&claimed);
    assert_eq!(answer.status, 413);
    assert!(answer.json()["error"].is_string());
}

#[test]
fn clients_of_mlflow_read_kept_studies_and_change_nothing() {
    let served = Served::plain();
    let calls = "/api/2.0/mlflow";
    let experiment = served.get(&format!("{calls}/experiments/get-by-name?experiment_name=demo"));
    let id = experiment.json()["experiment"]["experiment_id"].clone();
    let wanted = serde_json::json!({"experiment_ids": [id], "max_results": 100}).to_string();
    let found = served.post_json(&format!("{calls}/runs/search"), &wanted).json();
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 12);
    let run = runs[0]["info"]["run_id"].as_str().unwrap();
    let history = served.get(&format!("{calls}/metrics/get-history?run_id={run}&metric_key=loss"));
    assert!(history.json()["metrics"][0]["value"].is_number());
    assert_eq!(served.post_json(&format!("{calls}/runs/create"), "{}").status, 403);
    let guarded = served.get_with(&format!("{calls}/experiments/search"), "Host: evil.example\r\n");
    assert_eq!(guarded.status, 421);
}

#[test]
fn the_description_is_served_and_names_every_call() {
    let served = Served::plain();
    let description = served.get("/api/v1/openapi.json").json();
    assert_eq!(description["openapi"], "3.0.3");
    assert_eq!(description, trainwright_web::openapi());
}

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
[search]
method = "random"
budget = { trials = 5 }
"#;

#[test]
fn a_search_is_asked_and_told_and_a_trial_reports_with_its_own_token_only() {
    let options = Options { actions: true, study: Some(SEARCH.to_owned()), ..Options::default() };
    let served = Served::with(&options);
    let asked = served.post_json("/api/v1/studies/demo/ask", r#"{"count":2}"#).json();
    let of = |own: &serde_json::Value| {
        (own["trial"].as_u64().unwrap(), own["token"].as_str().unwrap().to_owned())
    };
    let (first, token) = of(&asked["trials"][0]);
    let (second, other) = of(&asked["trials"][1]);
    let report = |trial: u64, token: &str, body: &str| {
        let path = format!("/api/v1/studies/demo/trials/{trial}/metrics");
        let lines = format!("Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n");
        served.post_with(&path, &lines, body).status
    };
    let body = r#"{"values":{"y":0.5},"step":1}"#;
    // The view of the store is renewed a few times a second.
    let begun = std::time::Instant::now();
    while report(first, &token, body) != 200 {
        assert!(begun.elapsed().as_secs() < 20, "the trial is never seen to run");
        std::thread::yield_now();
    }
    assert_eq!(report(first, &other, body), 401, "another trial's token");
    assert_eq!(report(second, &token, body), 401, "another trial");
    assert_eq!(report(first, "", body), 401);
    for wrong in [
        "",
        "{",
        "[]",
        r#"{"values":{"y":"x"}}"#,
        r#"{"values":{"step":1}}"#,
        r#"{"values":{},"more":1}"#,
    ] {
        let status = report(first, &token, wrong);
        assert!((400..500).contains(&status), "{wrong}: {status}");
    }
    let folder = trainwright::Place::of(&served.study(), None).trial(first as u32);
    let text = std::fs::read_to_string(folder.join("metrics.jsonl")).unwrap();
    assert_eq!(text, "{\"y\":0.5,\"step\":1.0}\n");
    let told = format!(r#"{{"trial":{first},"values":{{"y":0.25}}}}"#);
    let told = served.post_json("/api/v1/studies/demo/tell", &told).json();
    assert_eq!((&told["state"], &told["best_value"]), (&"finished".into(), &0.25.into()));
}
