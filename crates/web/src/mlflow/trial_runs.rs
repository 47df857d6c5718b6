//! What a trial has logged: its own run, the runs below it, and the files that keep them.
//!
//! Metrics of the trial's own run are appended to its metrics file, as any program's are. All that
//! was logged is appended to `mlflow.jsonl` beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::fault::Fault;
use super::token::TrialStarted;
use super::wire::{LoggedMetric, Pair, metric_lines, pairs_json, text, whole_number};

/// The only experiment that a trial sees: its study.
pub(super) const EXPERIMENT: &str = "1";

/// Names the file, in a trial's folder, of all that was logged.
const JOURNAL: &str = "mlflow.jsonl";
/// Names the metrics file of the trial protocol in a trial's folder.
const METRICS: &str = "metrics.jsonl";
/// Runs that a trial may have below its own.
const MOST_RUNS: usize = 10_000;
/// Different parameters, tags and metrics that a run may have.
const MOST_KEYS: usize = 10_000;

/// The runs of one start of a trial.
#[derive(Debug)]
pub(super) struct TrialRuns {
    pub(super) trial: TrialStarted,
    folder: PathBuf,
    runs: BTreeMap<String, Run>,
    /// Logged models, by their name.
    pub(super) models: BTreeMap<String, Value>,
}

/// A run as MLflow has it.
#[derive(Debug, Default)]
pub(super) struct Run {
    name: String,
    status: String,
    begun_ms: i64,
    ended_ms: Option<i64>,
    params: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
    latest: BTreeMap<String, LoggedMetric>,
}

/// What a call adds to a run.
#[derive(Debug, Default)]
pub(super) struct Logged {
    pub(super) metrics: Vec<LoggedMetric>,
    pub(super) params: Vec<Pair>,
    pub(super) tags: Vec<Pair>,
}

impl TrialRuns {
    /// A trial that starts, whose files lie in `folder`.
    pub(super) fn new(trial: TrialStarted, folder: PathBuf) -> Self {
        let name = format!("trial {}", trial.number);
        let runs = BTreeMap::from([(trial.run_id(), Run::begun(name))]);
        Self { trial, folder, runs, models: BTreeMap::new() }
    }

    /// Begins a run: the trial's own, or one below it where the tags name its parent.
    pub(super) fn create(&mut self, call: &Value, tags: Vec<Pair>) -> Result<Value, Fault> {
        let own = self.trial.run_id();
        let parent = tags.iter().find(|(key, _)| key == "mlflow.parentRunId");
        let id = if let Some((_, parent)) = parent {
            self.run(parent)?;
            if self.runs.len() > MOST_RUNS {
                return Err(Fault::invalid(format!(
                    "a trial has at most {MOST_RUNS} runs below it"
                )));
            }
            format!("{own}-{}", self.runs.len())
        } else {
            own
        };
        let run = self.runs.entry(id.clone()).or_insert_with(|| Run::begun(id.clone()));
        if let Some(name) = call.get("run_name").and_then(Value::as_str) {
            run.name = name.to_owned();
        }
        run.status = "RUNNING".to_owned();
        self.log(&id, Logged { tags, ..Logged::default() })?;
        self.json(&id)
    }

    /// Changes how a run is called or how it stands.
    pub(super) fn update(&mut self, id: &str, call: &Value) -> Result<Value, Fault> {
        let run = self.run_mut(id)?;
        if let Ok(name) = text(call, "run_name") {
            run.name = name.to_owned();
        }
        if let Ok(status) = text(call, "status") {
            run.status = status.to_owned();
        }
        run.ended_ms = call.get("end_time").and_then(whole_number).or(run.ended_ms);
        let (status, name) = (run.status.clone(), run.name.clone());
        self.note(&[json!({ "run": id, "status": status, "name": name })])?;
        Ok(self.json(id)?["info"].take())
    }

    /// Keeps what a program logs, in memory and in the trial's folder.
    pub(super) fn log(&mut self, id: &str, logged: Logged) -> Result<(), Fault> {
        let Logged { metrics, params, tags } = logged;
        self.run(id)?.check_room(&metrics, &params, &tags)?;
        if id == self.trial.run_id() {
            self.append(METRICS, &metric_lines(&metrics))?;
        }
        let mut lines: Vec<Value> = metrics.iter().map(|own| journal_line(id, own)).collect();
        let line =
            |kind: &str, (key, value): &Pair| json!({ "run": id, kind: key, "value": value });
        lines.extend(params.iter().map(|pair| line("param", pair)));
        lines.extend(tags.iter().map(|pair| line("tag", pair)));
        self.note(&lines)?;
        let run = self.run_mut(id)?;
        run.params.extend(params);
        run.tags.extend(tags);
        run.latest.extend(metrics.into_iter().map(|own| (own.key.clone(), own)));
        Ok(())
    }

    /// Takes a tag away.
    pub(super) fn delete_tag(&mut self, id: &str, key: &str) -> Result<(), Fault> {
        self.run_mut(id)?.tags.remove(key);
        self.note(&[json!({ "run": id, "tag": key, "value": null })])
    }

    /// Every value that a run logged of a metric, as its file has them.
    pub(super) fn history(&self, id: &str, key: &str) -> Result<Vec<LoggedMetric>, Fault> {
        self.run(id)?;
        let path = self.folder.join(JOURNAL);
        let lines = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| unwritten(&path, &error))?,
        };
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let own = lines.filter(|line| line["run"] == id && line["metric"] == key);
        let metric = |mut line: Value| {
            line["key"] = line["metric"].take();
            LoggedMetric::read(&line).ok()
        };
        Ok(own.filter_map(metric).collect())
    }

    /// A run with all that it logged last.
    pub(super) fn json(&self, id: &str) -> Result<Value, Fault> {
        let Run { name, status, begun_ms, ended_ms, params, tags, latest } = self.run(id)?;
        let folder = self.folder.join("artifacts");
        let folder = if id == self.trial.run_id() { folder } else { folder.join(id) };
        Ok(json!({
            "info": {
                "run_id": id, "run_uuid": id, "run_name": name, "experiment_id": EXPERIMENT,
                "status": status, "start_time": begun_ms, "end_time": ended_ms,
                "artifact_uri": file_address(&folder), "lifecycle_stage": "active",
            },
            "data": {
                "metrics": latest.values().map(LoggedMetric::json).collect::<Vec<_>>(),
                "params": pairs_json(params),
                "tags": pairs_json(tags),
            },
            "inputs": {},
        }))
    }

    /// All runs, the trial's own first.
    pub(super) fn all(&self) -> Vec<Value> {
        self.runs.keys().filter_map(|id| self.json(id).ok()).collect()
    }

    /// Where files of a logged model lie.
    pub(super) fn model_address(&self, id: &str) -> String {
        file_address(&self.folder.join("models").join(id))
    }

    /// Adds lines to the file of all that was logged.
    pub(super) fn note(&self, lines: &[Value]) -> Result<(), Fault> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.append(JOURNAL, &text)
    }

    fn append(&self, name: &str, text: &str) -> Result<(), Fault> {
        if text.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(name);
        let file = OpenOptions::new().append(true).create(true).open(&path);
        // One write, so that lines stay whole where the program writes the file too.
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unwritten(&path, &error))
    }

    fn run(&self, id: &str) -> Result<&Run, Fault> {
        self.runs.get(id).ok_or_else(|| self.not_own(id))
    }

    fn run_mut(&mut self, id: &str) -> Result<&mut Run, Fault> {
        let refused = self.not_own(id);
        self.runs.get_mut(id).ok_or(refused)
    }

    fn not_own(&self, id: &str) -> Fault {
        let own = self.trial.run_id();
        Fault::forbidden(format!("this trial's run is `{own}`; it has no run `{id}`"))
    }
}

impl Run {
    fn begun(name: String) -> Self {
        Self { name, status: "RUNNING".to_owned(), begun_ms: now_ms(), ..Self::default() }
    }

    fn check_room(
        &self,
        metrics: &[LoggedMetric],
        params: &[Pair],
        tags: &[Pair],
    ) -> Result<(), Fault> {
        let metrics = metrics.iter().map(|own| &own.key);
        let full = is_full(&self.latest, metrics)
            || is_full(&self.params, params.iter().map(|own| &own.0))
            || is_full(&self.tags, tags.iter().map(|own| &own.0));
        match full {
            true => Err(Fault::invalid(format!("a run has at most {MOST_KEYS} keys of a kind"))),
            false => Ok(()),
        }
    }
}

/// Whether there would be too many keys with these; one that is known needs no room.
fn is_full<'a, T>(known: &BTreeMap<String, T>, keys: impl Iterator<Item = &'a String>) -> bool {
    let new: BTreeSet<&String> = keys.filter(|key| !known.contains_key(*key)).collect();
    known.len() + new.len() > MOST_KEYS
}

fn journal_line(run: &str, metric: &LoggedMetric) -> Value {
    let mut line = metric.json();
    let key = line["key"].take();
    let (value, step, timestamp) = (line["value"].take(), metric.step, metric.timestamp);
    json!({ "run": run, "metric": key, "value": value, "step": step, "timestamp": timestamp })
}

fn unwritten(path: &Path, error: &io::Error) -> Fault {
    Fault::unwritten(format!("{}: {error}", path.display()))
}

/// A folder as a `file:` address.
pub(super) fn file_address(folder: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let mut address = "file://".to_owned();
    for &byte in folder.as_os_str().as_encoded_bytes() {
        match plain(byte) {
            true => address.push(char::from(byte)),
            false => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> (tempfile::TempDir, TrialRuns) {
        let folder = tempfile::tempdir().unwrap();
        let runs = TrialRuns::new(TrialStarted { number: 3, start: 1 }, folder.path().to_owned());
        (folder, runs)
    }

    fn metric(key: &str, value: f64, step: i64) -> LoggedMetric {
        LoggedMetric { key: key.to_owned(), value, timestamp: 9, step }
    }

    fn tags(keys: std::ops::Range<usize>) -> Logged {
        let tags = keys.map(|key| (key.to_string(), "x".to_owned())).collect();
        Logged { tags, ..Logged::default() }
    }

    #[test]
    fn a_full_run_takes_known_keys_and_no_new_ones() {
        let (_folder, mut runs) = runs();
        let own = runs.trial.run_id();
        runs.log(&own, tags(0..MOST_KEYS)).unwrap();
        runs.log(&own, tags(5..9)).unwrap();
        let refused = runs.log(&own, tags(MOST_KEYS..MOST_KEYS + 1)).unwrap_err();
        assert_eq!(refused, Fault::invalid("a run has at most 10000 keys of a kind"));
        // Many values of one metric are one key.
        let many = (0..12_000).map(|step| metric("loss", 1.0, step)).collect();
        runs.log(&own, Logged { metrics: many, ..Logged::default() }).unwrap();
        assert_eq!(runs.history(&own, "loss").unwrap().len(), 12_000);
    }

    #[test]
    fn history_is_of_one_run_and_one_metric_and_survives_a_line_that_was_cut() {
        let (folder, mut runs) = runs();
        let own = runs.trial.run_id();
        let parent = vec![("mlflow.parentRunId".to_owned(), own.clone())];
        let nested = runs.create(&json!({}), parent).unwrap();
        let nested = nested["info"]["run_id"].as_str().unwrap().to_owned();
        let all = [metric("loss", 1.0, 0), metric("acc", f64::NAN, 0), metric("loss", 0.5, 1)];
        runs.log(&own, Logged { metrics: all.to_vec(), ..Logged::default() }).unwrap();
        let below = vec![metric("loss", 7.0, 0)];
        runs.log(&nested, Logged { metrics: below, ..Logged::default() }).unwrap();
        let mut file = OpenOptions::new().append(true).open(folder.path().join(JOURNAL)).unwrap();
        file.write_all(b"{\"run\": \"tri").unwrap();
        let values = |runs: &TrialRuns, id: &str| -> Vec<f64> {
            runs.history(id, "loss").unwrap().iter().map(|own| own.value).collect()
        };
        assert_eq!((values(&runs, &own), values(&runs, &nested)), (vec![1.0, 0.5], vec![7.0]));
        assert!(runs.history(&own, "acc").unwrap()[0].value.is_nan());
        assert!(runs.history(&own, "other").unwrap().is_empty());
        assert!(runs.history("trial-4-1", "loss").is_err());
    }

    #[test]
    fn a_run_below_one_that_is_not_there_is_refused_by_name() {
        let (_folder, mut runs) = runs();
        let parent = vec![("mlflow.parentRunId".to_owned(), "trial-4-1".to_owned())];
        let words = "this trial's run is `trial-3-1`; it has no run `trial-4-1`";
        assert_eq!(runs.create(&json!({}), parent), Err(Fault::forbidden(words)));
    }

    #[test]
    fn an_update_changes_what_it_names_and_a_deleted_tag_is_gone() {
        let (_folder, mut runs) = runs();
        let own = runs.trial.run_id();
        runs.log(&own, tags(0..2)).unwrap();
        runs.delete_tag(&own, "0").unwrap();
        let known = runs.json(&own).unwrap();
        assert_eq!(known["data"]["tags"], json!([{"key": "1", "value": "x"}]));
        let info = runs.update(&own, &json!({"status": "FAILED", "end_time": "77"})).unwrap();
        assert_eq!((&info["status"], &info["end_time"]), (&json!("FAILED"), &json!(77)));
        assert_eq!(info["run_name"], "trial 3", "the name stays");
        let info = runs.update(&own, &json!({"run_name": "best"})).unwrap();
        assert_eq!((&info["run_name"], &info["end_time"]), (&json!("best"), &json!(77)));
    }

    #[test]
    fn what_cannot_be_written_is_told_with_its_file_and_not_kept() {
        let (folder, mut runs) = runs();
        let own = runs.trial.run_id();
        fs::create_dir(folder.path().join(METRICS)).unwrap();
        let metrics = vec![metric("loss", 1.0, 0)];
        let fault = runs.log(&own, Logged { metrics, ..Logged::default() }).unwrap_err();
        assert!(format!("{fault:?}").contains("metrics.jsonl"), "{fault:?}");
        assert_eq!(runs.json(&own).unwrap()["data"]["metrics"], json!([]));
    }

    #[test]
    fn a_folder_is_an_address_that_reads_back() {
        let folder = Path::new("/a b/\u{e9}%#?/x~1");
        assert_eq!(file_address(folder), "file:///a%20b/%C3%A9%25%23%3F/x~1");
    }
}
