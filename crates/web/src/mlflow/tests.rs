//! Calls of a client over a socket, as MLflow's makes them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use trainwright_study::{Configuration, PlannedTrial, Study};

use super::TrackingServer;

struct Lab {
    folder: tempfile::TempDir,
    server: TrackingServer,
}

/// A trial that runs, with the variables that the engine would set.
struct Client {
    variables: BTreeMap<String, String>,
    folder: PathBuf,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = "schema = 1\n[study]\nname = \"s\"\n[factors.a]\nlevels = [1, 2]\n[metrics.y]\n";
        let study = Study::from_text(text).unwrap();
        let server = TrackingServer::start(&study, Some(&folder.path().join("t.db"))).unwrap();
        Self { folder, server }
    }

    fn trial(&self, number: u32) -> Client {
        let trial = PlannedTrial {
            number,
            row: None,
            replicate: 1,
            seed: 1,
            block: None,
            whole_plot: None,
            configuration: Configuration::new(Vec::new()),
        };
        let folder = self.folder.path().join(format!("t.trials/s/{number:05}"));
        fs::create_dir_all(&folder).unwrap();
        Client { variables: self.server.variables().of(&trial), folder }
    }
}

impl Client {
    fn run(&self) -> &str {
        &self.variables["MLFLOW_RUN_ID"]
    }

    fn token(&self) -> &str {
        &self.variables["MLFLOW_TRACKING_TOKEN"]
    }

    fn send(&self, request: &str) -> (u16, String) {
        let address = self.variables["MLFLOW_TRACKING_URI"].strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        (status, body)
    }

    fn call(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let length = body.len();
        let (status, body) = self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.call("POST", &format!("/api/2.0/mlflow/{path}"), self.token(), &body.to_string())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        self.call("GET", &format!("/api/2.0/mlflow/{path}"), self.token(), "")
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn metrics_reach_the_trials_own_file_in_order() {
    let lab = Lab::new();
    let trial = lab.trial(1);
    let run = trial.run();
    let metric = json!({"run_id": run, "key": "loss", "value": 0.5, "timestamp": 5, "step": 1});
    assert_eq!(trial.post("runs/log-metric", &metric), (200, json!({})));
    let batch = json!({
        "run_id": run,
        "metrics": [
            {"key": "loss", "value": "NaN", "timestamp": 6, "step": 2},
            {"key": "acc", "value": 0.9, "timestamp": 6, "step": 2},
        ],
        "params": [{"key": "lr", "value": "0.1"}],
        "tags": [{"key": "who", "value": "me"}],
    });
    assert_eq!(trial.post("runs/log-batch", &batch).0, 200);
    assert_eq!(
        trial.lines("metrics.jsonl"),
        [json!({"loss": 0.5, "step": 1}), json!({"loss": "NaN", "acc": 0.9, "step": 2})]
    );
    let (_, answer) = trial.get(&format!("runs/get?run_id={run}"));
    let own = &answer["run"]["data"];
    assert_eq!(own["params"], json!([{"key": "lr", "value": "0.1"}]));
    assert_eq!(own["tags"], json!([{"key": "who", "value": "me"}]));
    assert_eq!(own["metrics"][1]["value"], "NaN");
    let (_, answer) = trial.get(&format!("metrics/get-history?run_id={run}&metric_key=loss"));
    assert_eq!(
        answer["metrics"][0],
        json!({"key": "loss", "value": 0.5, "timestamp": 5, "step": 1})
    );
    assert_eq!(answer["metrics"].as_array().unwrap().len(), 2);
}

#[test]
fn a_run_that_a_program_begins_is_the_trials_own_and_nested_ones_are_beside_it() {
    let lab = Lab::new();
    let trial = lab.trial(3);
    let (_, answer) = trial.post("experiments/create", &json!({"name": "mine"}));
    let experiment = answer["experiment_id"].clone();
    let (_, answer) =
        trial.post("runs/create", &json!({"experiment_id": experiment, "run_name": "hey"}));
    let info = &answer["run"]["info"];
    assert_eq!((&info["run_id"], &info["run_name"]), (&json!(trial.run()), &json!("hey")));
    let parent = json!({"tags": [{"key": "mlflow.parentRunId", "value": trial.run()}]});
    let (_, answer) = trial.post("runs/create", &parent);
    let nested = answer["run"]["info"]["run_id"].clone();
    assert_ne!(nested, json!(trial.run()));
    let metric = json!({"run_id": nested, "key": "loss", "value": 9, "timestamp": 5, "step": 1});
    assert_eq!(trial.post("runs/log-metric", &metric).0, 200);
    assert_eq!(trial.lines("metrics.jsonl"), Vec::<Value>::new());
    assert!(trial.lines("mlflow.jsonl").iter().any(|line| line["metric"] == "loss"));
    let (_, answer) = trial.post("runs/search", &json!({"experiment_ids": [experiment]}));
    assert_eq!(answer["runs"].as_array().unwrap().len(), 2);
    let (_, answer) =
        trial.post("runs/update", &json!({"run_id": trial.run(), "status": "FINISHED"}));
    assert_eq!(answer["run_info"]["status"], "FINISHED");
}

#[test]
fn a_token_opens_its_own_trial_only() {
    let lab = Lab::new();
    let (one, two) = (lab.trial(1), lab.trial(2));
    let metric = |run: &str| json!({"run_id": run, "key": "y", "value": 1});
    assert_eq!(one.post("runs/log-metric", &metric(two.run())).0, 403);
    assert_eq!(one.get(&format!("runs/get?run_id={}", two.run())).0, 403);
    assert_eq!(one.get(&format!("metrics/get-history?run_id={}&metric_key=y", two.run())).0, 403);
    let path = "/api/2.0/mlflow/runs/log-metric";
    let body = metric(one.run()).to_string();
    for token in ["", "1.1.00", &two.token().replacen('2', "1", 1)] {
        let (status, answer) = one.call("POST", path, token, &body);
        assert_eq!((status, &answer["error_code"]), (401, &json!("UNAUTHENTICATED")), "{token}");
    }
    assert_eq!(one.send("GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").0, 401);
    assert_eq!(one.call("GET", "/health", one.token(), ""), (200, json!("OK")));
    assert!(one.lines("metrics.jsonl").is_empty() && two.lines("metrics.jsonl").is_empty());
}

#[test]
fn a_trial_that_starts_again_begins_anew_and_its_old_token_opens_nothing() {
    let lab = Lab::new();
    let first = lab.trial(1);
    let param = |client: &Client, value: &str| {
        let call = json!({"run_id": client.run(), "key": "lr", "value": value});
        client.post("runs/log-parameter", &call).0
    };
    assert_eq!(param(&first, "1"), 200);
    let second = lab.trial(1);
    assert_eq!(param(&first, "2"), 401);
    let (_, answer) = second.get(&format!("runs/get?run_id={}", second.run()));
    assert_eq!(answer["run"]["data"]["params"], json!([]));
    assert_eq!(param(&second, "2"), 200);
}

#[test]
fn what_is_not_answered_or_not_understood_is_refused_by_name() {
    let lab = Lab::new();
    let trial = lab.trial(1);
    let (status, answer) = trial.get("registered-models/list");
    assert_eq!((status, answer["error_code"].as_str()), (404, Some("ENDPOINT_NOT_FOUND")));
    let (status, answer) = trial.post("runs/log-metric", &json!({"run_id": trial.run()}));
    assert_eq!(status, 400);
    assert!(answer["message"].as_str().unwrap().contains("`key`"), "{answer}");
    let path = "/api/2.0/mlflow/runs/log-metric";
    for body in ["", "{", "[]", "nul\u{0}l"] {
        assert_eq!(trial.call("POST", path, trial.token(), body).0, 400, "{body}");
    }
    let long = format!("{{\"run_id\": \"{}\"}}", "x".repeat(3 << 20));
    assert_eq!(trial.call("POST", path, trial.token(), &long).0, 413);
    let filter = json!({"experiment_ids": ["1"], "filter": "metrics.y < 1"});
    assert_eq!(trial.post("runs/search", &filter).0, 400);
}

#[test]
fn a_logged_model_has_a_folder_in_the_trials_own() {
    let lab = Lab::new();
    let trial = lab.trial(1);
    let (_, answer) = trial.post("logged-models", &json!({"experiment_id": "1", "name": "m"}));
    let info = &answer["model"]["info"];
    let id = info["model_id"].as_str().unwrap();
    let address = info["artifact_uri"].as_str().unwrap();
    assert!(address.starts_with("file:///") && address.contains("/00001/models/"), "{address}");
    let path = format!("/api/2.0/mlflow/logged-models/{id}");
    let ready = json!({"status": "LOGGED_MODEL_READY"}).to_string();
    let (_, answer) = trial.call("PATCH", &path, trial.token(), &ready);
    assert_eq!(answer["model"]["info"]["status"], "LOGGED_MODEL_READY");
    let tags = json!({"tags": [{"key": "a", "value": "b"}]}).to_string();
    assert_eq!(trial.call("PATCH", &format!("{path}/tags"), trial.token(), &tags).0, 200);
    let (_, answer) = trial.get(&format!("logged-models/{id}"));
    assert_eq!(answer["model"]["info"]["tags"][0]["value"], "b");
    assert_eq!(trial.get("logged-models/other").0, 404);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a trial sends, it is answered, and what stands in its files stays lines of JSON.
    #[test]
    fn no_body_ends_the_server(body in "[{}\\[\\]\":,a-z0-9. \\\\\n-]{0,80}", field in "key|value|metrics|tags|step") {
        thread_local! { static LAB: Lab = Lab::new(); }
        LAB.with(|lab| {
            let trial = lab.trial(1);
            for call in ["log-metric", "log-batch", "create", "update", "set-tag", "log-inputs"] {
                let path = format!("/api/2.0/mlflow/runs/{call}");
                let (status, answer) = trial.call("POST", &path, trial.token(), &body);
                // Some calls need no field, so that `{}` is one.
                let may_do = serde_json::from_str::<Value>(&body).is_ok_and(|own| own.is_object());
                assert!(matches!(status, 400..500) || may_do && status == 200, "{status} {answer}");
                let wrapped = json!({"run_id": trial.run(), "key": "k", field.as_str(): body}).to_string();
                let (status, answer) = trial.call("POST", &path, trial.token(), &wrapped);
                assert!(matches!(status, 200 | 400), "{status} {answer}");
            }
            trial.lines("metrics.jsonl");
            trial.lines("mlflow.jsonl");
        });
    }
}
