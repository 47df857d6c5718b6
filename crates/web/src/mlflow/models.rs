//! Logged models: MLflow 3 notes each model that a run makes; its files go into the trial's folder.

use serde_json::{Value, json};

use super::fault::Fault;
use super::trial_runs::{EXPERIMENT, TrialRuns, now_ms};
use super::wire::{list, text};

/// Models that a trial may log.
const MOST_MODELS: usize = 1000;

/// Notes a new model, whose files are still to come.
pub(super) fn create(runs: &mut TrialRuns, call: &Value) -> Result<Value, Fault> {
    if runs.models.len() >= MOST_MODELS {
        return Err(Fault::invalid(format!("a trial logs at most {MOST_MODELS} models")));
    }
    let id = format!("m-{}-{}", runs.trial.run_id(), runs.models.len() + 1);
    let name = text(call, "name").unwrap_or(&id).to_owned();
    let now = now_ms();
    let model = json!({
        "info": {
            "model_id": id, "experiment_id": EXPERIMENT, "name": name,
            "creation_timestamp_ms": now, "last_updated_timestamp_ms": now,
            "artifact_uri": runs.model_address(&id), "status": "LOGGED_MODEL_PENDING",
            "model_type": call.get("model_type").cloned().unwrap_or(Value::Null),
            "source_run_id": call.get("source_run_id").cloned().unwrap_or(Value::Null),
            "tags": list(call, "tags"),
        },
        "data": { "params": list(call, "params"), "metrics": [] },
    });
    runs.note(&[json!({ "model": id, "name": name })])?;
    runs.models.insert(id, model.clone());
    Ok(json!({ "model": model }))
}

/// A model as it is known.
pub(super) fn get(runs: &TrialRuns, id: &str) -> Result<Value, Fault> {
    Ok(json!({ "model": runs.models.get(id).ok_or_else(|| unknown(id))? }))
}

/// All models of the trial.
pub(super) fn all(runs: &TrialRuns) -> Value {
    json!({ "models": runs.models.values().collect::<Vec<_>>() })
}

/// Notes that a model's files are there, or that they will not come.
pub(super) fn finish(runs: &mut TrialRuns, id: &str, call: &Value) -> Result<Value, Fault> {
    let status = text(call, "status")?;
    let model = runs.models.get_mut(id).ok_or_else(|| unknown(id))?;
    model["info"]["status"] = status.into();
    model["info"]["last_updated_timestamp_ms"] = now_ms().into();
    let model = model.clone();
    runs.note(&[json!({ "model": id, "status": status })])?;
    Ok(json!({ "model": model }))
}

/// Adds tags (a field of `info`) or parameters (one of `data`) to a model.
pub(super) fn add(
    runs: &mut TrialRuns,
    id: &str,
    [part, field]: [&str; 2],
    call: &Value,
) -> Result<Value, Fault> {
    let model = runs.models.get_mut(id).ok_or_else(|| unknown(id))?;
    if let Some(known) = model[part][field].as_array_mut() {
        let added = list(call, field);
        known.retain(|old| added.iter().all(|new| new["key"] != old["key"]));
        known.extend_from_slice(added);
    }
    let model = model.clone();
    runs.note(&[json!({ "model": id, field: list(call, field) })])?;
    Ok(json!({ "model": model }))
}

fn unknown(id: &str) -> Fault {
    Fault::unknown(format!("this trial has logged no model `{id}`"))
}
