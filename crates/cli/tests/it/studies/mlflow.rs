//! Trials that log by MLflow's calls: without any client, and with the real one.

use std::process::{Command, Stdio};

use crate::program::{Lab, shell_study};

/// Logs `y`, ten times the level at step 3, by the calls that the client makes.
const CALLS: &str = r#"
call() {
  address=${MLFLOW_TRACKING_URI#http://}
  exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
  printf 'POST /api/2.0/mlflow/%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n' "$1" >&3
  printf 'Authorization: Bearer %s\r\nContent-Length: %s\r\n\r\n%s' "$MLFLOW_TRACKING_TOKEN" "${#2}" "$2" >&3
  cat <&3
}
call runs/log-metric "{\"run_id\": \"$MLFLOW_RUN_ID\", \"key\": \"y\", \"value\": ${x}0, \"step\": 3}"
"#;

fn study(words: &str, more: &str) -> String {
    let more = format!("[metrics.y]\nobjective = \"minimize\"\n{more}");
    let text = shell_study("[1, 2]", "true", &more);
    let command = text.lines().find(|line| line.starts_with("command")).unwrap();
    text.replace(command, &format!("command = {words}\nmlflow = true"))
}

#[track_caller]
fn check_tenfold(lab: &Lab) {
    lab.expect(0, &["run", "study.toml"]);
    let rows = lab.rows();
    assert!(!rows.is_empty());
    for row in rows {
        let expected = 10.0 * row["x"].as_f64().unwrap();
        assert_eq!(row["y"].as_f64(), Some(expected), "{row}");
    }
}

#[test]
fn what_a_trial_logs_by_the_calls_is_its_own_metric_and_its_token_is_not_kept() {
    let lab = Lab::with_study(&study("[\"bash\", \"calls.sh\", \"{x}\"]", ""));
    lab.write("calls.sh", format!("x=$1\necho \"$MLFLOW_TRACKING_TOKEN\" > token\n{CALLS}"));
    check_tenfold(&lab);
    let token = std::fs::read_to_string(lab.path("token")).unwrap();
    let store = std::fs::read(lab.path("trainwright.db")).unwrap();
    let proof = token.trim().rsplit('.').next().unwrap().as_bytes().to_vec();
    assert_eq!(proof.len(), 64);
    assert!(!store.windows(proof.len()).any(|part| part == proof));
}

#[test]
fn a_search_takes_what_trials_log() {
    let more = "[search]\nmethod = \"random\"\nbudget = { trials = 3 }\n";
    let text = study("[\"bash\", \"calls.sh\", \"{x}\"]", more);
    let lab = Lab::with_study(&text.replace("[design]\ntype = \"full\"\n", ""));
    lab.write("calls.sh", format!("x=$1\n{CALLS}"));
    let end = lab.run(&["search", "study.toml"]);
    assert_eq!(end.code, Some(0), "{end:#?}");
}

#[test]
fn on_a_cluster_the_study_is_refused() {
    let lab = Lab::with_study(&study("[\"true\", \"{x}\"]", ""));
    let end = lab.run(&["run", "study.toml", "--engine", "spark", "--master", "local[1]"]);
    assert_eq!(end.code, Some(2), "{end:#?}");
    assert!(end.stderr.contains("`[run] mlflow`"), "{end:#?}");
}

/// A Python that has MLflow: the one that `MLFLOW_PYTHON` names, or the usual one.
fn python_with_mlflow() -> Option<String> {
    let python = std::env::var("MLFLOW_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(&python);
    command.args(["-c", "import mlflow"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success()).then_some(python)
}

#[test]
fn the_real_client_logs_into_its_own_trial() {
    let Some(python) = python_with_mlflow() else {
        return println!(
            "SKIPPED: the package mlflow-skinny is not there (MLFLOW_PYTHON names a Python that has it)"
        );
    };
    let lab = Lab::with_study(&study(&format!("[{python:?}, \"train.py\", \"{{x}}\"]"), ""));
    lab.write("train.py", include_str!("mlflow/train.py"));
    check_tenfold(&lab);
}
