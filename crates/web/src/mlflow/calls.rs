//! The calls of MLflow's clients, and what each is answered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, patch, post};
use axum::{Extension, Json, Router};
use serde_json::{Value, json};

use super::fault::Fault;
use super::models;
use super::token::{Secret, TrialStarted};
use super::trial_runs::{EXPERIMENT, Logged, TrialRuns};
use super::wire::{LoggedMetric, list, pair, pairs, text};

/// The version of MLflow whose calls these are; clients ask for it.
pub(super) const VERSION: &str = "3.17.2";

/// The trials under way and what they have logged.
pub(super) struct Tracking {
    pub(super) study: String,
    pub(super) secret: Secret,
    /// By number; a trial that starts again begins anew, and its old token opens nothing.
    pub(super) trials: Mutex<BTreeMap<u32, TrialRuns>>,
}

impl Tracking {
    /// Notes that a trial starts, and says which start of it this is.
    pub(super) fn begin(&self, number: u32, folder: PathBuf) -> TrialStarted {
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        let start = trials.get(&number).map_or(1, |runs| runs.trial.start + 1);
        let trial = TrialStarted { number, start };
        trials.insert(number, TrialRuns::new(trial, folder));
        trial
    }

    /// Does something with what a trial has logged.
    fn with<T>(
        &self,
        trial: TrialStarted,
        work: impl FnOnce(&mut TrialRuns) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = trials.get_mut(&trial.number).filter(|runs| runs.trial == trial);
        work(runs.ok_or_else(Fault::nobody)?)
    }

    fn experiment(&self, name: &str) -> Value {
        json!({
            "experiment_id": EXPERIMENT, "name": name, "lifecycle_stage": "active", "tags": [],
        })
    }
}

/// All routes, each for trials with their token only.
pub(super) fn router(tracking: Arc<Tracking>) -> Router {
    let calls = Router::new()
        .route(
            "/experiments/get",
            asked(|all, _, _| Ok(json!({ "experiment": all.experiment(&all.study) }))),
        )
        .route("/experiments/get-by-name", asked(by_name))
        .route("/experiments/create", told(|_, _, _| Ok(json!({ "experiment_id": EXPERIMENT }))))
        .route("/experiments/search", told(experiments).merge(asked(experiments)))
        .route("/experiments/set-experiment-tag", told(note))
        .route("/runs/create", told(create))
        .route("/runs/update", told(update))
        .route("/runs/get", asked(get_run))
        .route("/runs/search", told(search))
        .route("/runs/log-metric", told(log_metric))
        .route("/runs/log-batch", told(log_batch))
        .route("/runs/log-parameter", told(log_parameter))
        .route("/runs/set-tag", told(set_tag))
        .route("/runs/delete-tag", told(delete_tag))
        .route("/runs/log-inputs", told(note))
        .route("/runs/log-model", told(note))
        .route("/runs/outputs", told(note))
        .route("/metrics/get-history", asked(history))
        .route(
            "/logged-models",
            told(|all, trial, call| all.with(trial, |runs| models::create(runs, call))),
        )
        .route(
            "/logged-models/search",
            told(|all, trial, _| all.with(trial, |runs| Ok(models::all(runs)))),
        )
        .route("/logged-models/{id}", get(get_model).patch(finish_model))
        .route("/logged-models/{id}/tags", patch(model_tags))
        .route("/logged-models/{id}/params", post(model_params));
    Router::new()
        .nest("/api/2.0/mlflow", calls)
        .route("/health", get(async || "OK"))
        .route("/version", get(async || VERSION))
        .fallback(async |request: Request| Fault::no_such_call(request.uri().path()))
        .layer(from_fn_with_state(Arc::clone(&tracking), check_token))
        .with_state(tracking)
}

/// Lets a call in that shows the token of a trial, and notes which trial it is.
async fn check_token(
    State(tracking): State<Arc<Tracking>>,
    mut request: Request,
    next: Next,
) -> Response {
    let header = request.headers().get(AUTHORIZATION).and_then(|own| own.to_str().ok());
    let token = header.and_then(|own| own.strip_prefix("Bearer "));
    let trial = token.and_then(|token| tracking.secret.trial(token));
    let known = trial.ok_or_else(Fault::nobody).and_then(|trial| {
        tracking.with(trial, |_| Ok(()))?;
        Ok(trial)
    });
    match known {
        Ok(trial) => {
            request.extensions_mut().insert(trial);
            next.run(request).await
        }
        Err(fault) => fault.into_response(),
    }
}

type Call = fn(&Tracking, TrialStarted, &Value) -> Result<Value, Fault>;
type Answer = Result<Json<Value>, Fault>;
type Shared = State<Arc<Tracking>>;

/// A call that brings its fields as a JSON body.
fn told(call: Call) -> MethodRouter<Arc<Tracking>> {
    post(async move |State(all): Shared, Extension(trial): Extension<TrialStarted>, body: Bytes| {
        Answer::Ok(Json(call(&all, trial, &read(&body)?)?))
    })
}

/// A call that brings its fields in the address.
fn asked(call: Call) -> MethodRouter<Arc<Tracking>> {
    type Fields = Query<BTreeMap<String, String>>;
    get(
        async move |State(all): Shared,
                    Extension(trial): Extension<TrialStarted>,
                    Query(fields): Fields| {
            let fields = fields.into_iter().map(|(name, value)| (name, value.into())).collect();
            Answer::Ok(Json(call(&all, trial, &Value::Object(fields))?))
        },
    )
}

pub(super) fn read(body: &[u8]) -> Result<Value, Fault> {
    let read: Result<Value, _> = serde_json::from_slice(body);
    let object = read.map_err(|error| Fault::invalid(format!("the body is no JSON: {error}")))?;
    match object {
        Value::Object(_) => Ok(object),
        _ => Err(Fault::invalid("the body is no JSON object")),
    }
}

/// The run that a call is about; older clients call the field `run_uuid`.
fn run_id(call: &Value) -> Result<&str, Fault> {
    text(call, "run_id").or_else(|_| text(call, "run_uuid"))
}

/// Whatever a program calls its experiment, it is the study.
fn by_name(all: &Tracking, _: TrialStarted, call: &Value) -> Result<Value, Fault> {
    Ok(json!({ "experiment": all.experiment(text(call, "experiment_name")?) }))
}

fn experiments(all: &Tracking, _: TrialStarted, _: &Value) -> Result<Value, Fault> {
    Ok(json!({ "experiments": [all.experiment(&all.study)] }))
}

fn create(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    let tags = pairs(call, "tags")?;
    all.with(trial, |runs| Ok(json!({ "run": runs.create(call, tags)? })))
}

fn update(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    all.with(trial, |runs| Ok(json!({ "run_info": runs.update(run_id(call)?, call)? })))
}

fn get_run(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    all.with(trial, |runs| Ok(json!({ "run": runs.json(run_id(call)?)? })))
}

/// The trial's runs; a filter is refused, as the other runs that it would choose among are not the
/// trial's to see.
fn search(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    if text(call, "filter").is_ok() {
        return Err(Fault::invalid("a trial that runs sees its own runs alone, without a filter"));
    }
    all.with(trial, |runs| Ok(json!({ "runs": runs.all() })))
}

fn log_metric(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    let metrics = vec![LoggedMetric::read(call)?];
    log(all, trial, call, Logged { metrics, ..Logged::default() })
}

fn log_batch(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    let metrics = list(call, "metrics").iter().map(LoggedMetric::read);
    let metrics = metrics.collect::<Result<_, _>>()?;
    let (params, tags) = (pairs(call, "params")?, pairs(call, "tags")?);
    log(all, trial, call, Logged { metrics, params, tags })
}

fn log_parameter(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    log(all, trial, call, Logged { params: vec![pair(call)?], ..Logged::default() })
}

fn set_tag(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    log(all, trial, call, Logged { tags: vec![pair(call)?], ..Logged::default() })
}

fn log(all: &Tracking, trial: TrialStarted, call: &Value, logged: Logged) -> Result<Value, Fault> {
    all.with(trial, |runs| runs.log(run_id(call)?, logged))?;
    Ok(json!({}))
}

fn delete_tag(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    all.with(trial, |runs| runs.delete_tag(run_id(call)?, text(call, "key")?))?;
    Ok(json!({}))
}

/// Data sets, models and tags of experiments: written down as they came.
fn note(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    all.with(trial, |runs| {
        if let Ok(id) = run_id(call) {
            runs.json(id)?;
        }
        runs.note(&[json!({ "noted": call })])
    })?;
    Ok(json!({}))
}

fn history(all: &Tracking, trial: TrialStarted, call: &Value) -> Result<Value, Fault> {
    let key = text(call, "metric_key")?;
    let metrics = all.with(trial, |runs| runs.history(run_id(call)?, key))?;
    Ok(json!({ "metrics": metrics.iter().map(LoggedMetric::json).collect::<Vec<_>>() }))
}

type OneModel = (Shared, Extension<TrialStarted>, Path<String>);

async fn get_model((State(all), Extension(trial), Path(id)): OneModel) -> Answer {
    all.with(trial, |runs| models::get(runs, &id)).map(Json)
}

async fn finish_model((State(all), Extension(trial), Path(id)): OneModel, body: Bytes) -> Answer {
    let call = read(&body)?;
    all.with(trial, |runs| models::finish(runs, &id, &call)).map(Json)
}

async fn model_tags((State(all), Extension(trial), Path(id)): OneModel, body: Bytes) -> Answer {
    let call = read(&body)?;
    all.with(trial, |runs| models::add(runs, &id, ["info", "tags"], &call)).map(Json)
}

async fn model_params((State(all), Extension(trial), Path(id)): OneModel, body: Bytes) -> Answer {
    let call = read(&body)?;
    all.with(trial, |runs| models::add(runs, &id, ["data", "params"], &call)).map(Json)
}
