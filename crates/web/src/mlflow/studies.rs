//! Studies that are kept, shown by MLflow's calls and to read only: a study is an experiment, a
//! trial a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, Request, State};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use trainwright::store::{TrackedMetric, TrackedRun};
use trainwright::{Curves, Results, find_stores, tracked_runs, tracked_studies};
use trainwright_study::Study;

use super::calls::{VERSION, read};
use super::fault::Fault;
use super::filter::{Part, Searched, filter, order};
use super::wire::{LoggedMetric, list, pairs_json, text, whole_number};

/// Runs that one answer holds at most.
const MOST_RUNS: usize = 50_000;

/// The calls by which `mlflow.search_runs` and the like read the studies in these stores, and in
/// those below these folders.
///
/// Nothing here asks who calls: whoever mounts the routes does.
pub(crate) fn routes(paths: Vec<PathBuf>) -> Router {
    let calls = Router::new()
        .route("/experiments/get", asked(get_experiment))
        .route("/experiments/get-by-name", asked(by_name))
        .route("/experiments/search", asked(experiments).merge(told(experiments)))
        .route("/runs/get", asked(get_run))
        .route("/runs/search", told(search))
        .route("/metrics/get-history", asked(history))
        .fallback(async |request: Request| match request.method().as_str() {
            "GET" => Fault::no_such_call(request.uri().path()),
            _ => Fault::forbidden("kept studies are to read only"),
        });
    Router::new()
        .nest("/api/2.0/mlflow", calls)
        .route("/health", get(async || "OK"))
        .route("/version", get(async || VERSION))
        .with_state(Arc::new(paths))
}

type Stores = Arc<Vec<PathBuf>>;
type Call = fn(&[PathBuf], &Value) -> Result<Value, Fault>;
type Answer = Result<Json<Value>, Fault>;

fn told(call: Call) -> MethodRouter<Stores> {
    post(async move |State(stores): State<Stores>, body: Bytes| -> Answer {
        let fields = read(&body)?;
        away(move || call(&found(&stores)?, &fields)).await
    })
}

fn asked(call: Call) -> MethodRouter<Stores> {
    type Fields = Query<BTreeMap<String, String>>;
    get(async move |State(stores): State<Stores>, Query(fields): Fields| -> Answer {
        let fields = fields.into_iter().map(|(name, value)| (name, value.into())).collect();
        away(move || call(&found(&stores)?, &Value::Object(fields))).await
    })
}

/// Reads stores where that holds nobody up.
async fn away(work: impl FnOnce() -> Result<Value, Fault> + Send + 'static) -> Answer {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Fault::unwritten("the call ended by a fault of this program")))
        .map(Json)
}

/// The stores that are there now.
fn found(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    find_stores(paths).map_err(|error| Fault::invalid(error.to_string()))
}

/// A study that is kept, and its number from 1.
struct Kept {
    id: String,
    study: Study,
    store: PathBuf,
    /// Its number among studies of its name, which lie in different stores.
    namesake: u32,
}

impl Kept {
    /// What it is called: as in the addresses of pages, where several have its name.
    fn name(&self) -> String {
        match self.namesake {
            1 => self.study.name.clone(),
            number => format!("{}~{number}", self.study.name),
        }
    }

    fn json(&self) -> Value {
        let (id, name) = (&self.id, self.name());
        json!({ "experiment_id": id, "name": name, "lifecycle_stage": "active", "tags": [] })
    }

    fn runs(&self, curves: Curves) -> Result<Vec<TrackedRun>, Fault> {
        let results = Results::read(&self.study, Some(&self.store));
        let results = results.map_err(|error| Fault::invalid(error.to_string()))?;
        let runs = tracked_runs(&self.study, &results, curves);
        let mut runs = runs.map_err(|error| Fault::invalid(error.to_string()))?;
        if self.namesake > 1 {
            // Runs are called after the study's name, and must not be taken for those of another.
            runs.iter_mut().for_each(|run| run.id = format!("{}-{}", run.id, self.namesake));
        }
        Ok(runs)
    }
}

/// Every study of every store that reads; one that does not is none.
fn kept(stores: &[PathBuf]) -> Vec<Kept> {
    let studies = stores.iter().flat_map(|store| {
        let studies = tracked_studies(store).unwrap_or_default();
        studies.into_iter().map(|study| (study, store.clone()))
    });
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let numbered = (1..).zip(studies);
    numbered
        .map(|(id, (study, store)): (u32, _)| {
            let namesake = seen.entry(study.name.clone()).or_insert(0);
            *namesake += 1;
            Kept { id: id.to_string(), study, store, namesake: *namesake }
        })
        .collect()
}

fn experiments(stores: &[PathBuf], _: &Value) -> Result<Value, Fault> {
    Ok(json!({ "experiments": kept(stores).iter().map(Kept::json).collect::<Vec<_>>() }))
}

fn get_experiment(stores: &[PathBuf], call: &Value) -> Result<Value, Fault> {
    let id = text(call, "experiment_id")?;
    let own = kept(stores).into_iter().find(|own| own.id == id);
    let own = own.ok_or_else(|| Fault::unknown(format!("there is no experiment `{id}`")))?;
    Ok(json!({ "experiment": own.json() }))
}

fn by_name(stores: &[PathBuf], call: &Value) -> Result<Value, Fault> {
    let name = text(call, "experiment_name")?;
    let own = kept(stores).into_iter().find(|own| own.name() == name);
    let own = own.ok_or_else(|| Fault::unknown(format!("there is no study `{name}`")))?;
    Ok(json!({ "experiment": own.json() }))
}

fn get_run(stores: &[PathBuf], call: &Value) -> Result<Value, Fault> {
    let (own, run) = find(stores, text(call, "run_id")?, Curves::LeftOut)?;
    Ok(json!({ "run": run_json(&own.id, &run) }))
}

fn history(stores: &[PathBuf], call: &Value) -> Result<Value, Fault> {
    let key = text(call, "metric_key")?;
    let (_, run) = find(stores, text(call, "run_id")?, Curves::Added)?;
    let values = run.metrics.iter().filter(|own| own.key == key).map(metric_json);
    Ok(json!({ "metrics": values.collect::<Vec<_>>() }))
}

fn find(stores: &[PathBuf], id: &str, curves: Curves) -> Result<(Kept, TrackedRun), Fault> {
    for own in kept(stores) {
        let run = own.runs(Curves::LeftOut)?.into_iter().find(|run| run.id == id);
        if let Some(run) = run {
            let run = match curves {
                Curves::LeftOut => Some(run),
                Curves::Added => own.runs(curves)?.into_iter().find(|run| run.id == id),
            };
            return Ok((
                own,
                run.ok_or_else(|| Fault::unknown(format!("there is no run `{id}`")))?,
            ));
        }
    }
    Err(Fault::unknown(format!("there is no run `{id}`")))
}

fn search(stores: &[PathBuf], call: &Value) -> Result<Value, Fault> {
    let mut wanted: Vec<&str> =
        list(call, "experiment_ids").iter().filter_map(Value::as_str).collect();
    // Nothing is ever deleted here.
    if text(call, "run_view_type") == Ok("DELETED_ONLY") {
        wanted.clear();
    }
    let clauses = filter(text(call, "filter").unwrap_or_default())?;
    let mut found: Vec<(String, TrackedRun)> = Vec::new();
    for own in kept(stores).iter().filter(|own| wanted.contains(&own.id.as_str())) {
        let runs = own.runs(Curves::LeftOut)?.into_iter();
        let fits = runs.filter(|run| clauses.iter().all(|clause| clause.holds(run)));
        found.extend(fits.map(|run| (own.id.clone(), run)));
    }
    found.sort_by_key(|(_, run)| (std::cmp::Reverse(run.begun_ms), run.id.clone()));
    for by in list(call, "order_by").iter().rev().filter_map(Value::as_str) {
        let (part, key, descends) = order(by)?;
        found.sort_by(|(_, a), (_, b)| compare(a, b, part, &key, descends));
    }
    let (begin, most) = window(call)?;
    let page = found.iter().skip(begin).take(most).map(|(id, run)| run_json(id, run));
    let mut answer = json!({ "runs": page.collect::<Vec<_>>() });
    if begin.saturating_add(most) < found.len() {
        answer["next_page_token"] = (begin + most).to_string().into();
    }
    Ok(answer)
}

/// Where a page of runs begins, and how many it has at most.
fn window(call: &Value) -> Result<(usize, usize), Fault> {
    let begin = match text(call, "page_token") {
        Err(_) => 0,
        Ok(token) => token.parse().map_err(|_| {
            Fault::invalid(format!("`{token}` is no `page_token` that was given here"))
        })?,
    };
    let most = match call.get("max_results").filter(|own| !own.is_null()) {
        None => 1000,
        // A page without runs would be followed by the same one for ever.
        Some(given) => {
            let own = whole_number(given).and_then(|own| usize::try_from(own).ok());
            own.filter(|own| *own > 0).ok_or_else(|| {
                Fault::invalid(format!("`max_results` is {given}, where 1 to {MOST_RUNS} will do"))
            })?
        }
    };
    Ok((begin, most.min(MOST_RUNS)))
}

/// Runs by a value; those without one come last either way.
fn compare(
    a: &TrackedRun,
    b: &TrackedRun,
    part: Part,
    key: &str,
    descends: bool,
) -> std::cmp::Ordering {
    let number = |run: &TrackedRun| match part {
        Part::Metric => run.metric(key),
        _ => run.text(part, key).and_then(|text| text.parse().ok()),
    };
    let directed = |order: std::cmp::Ordering| if descends { order.reverse() } else { order };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => directed(a.total_cmp(&b)),
        (None, None) => {
            let (a, b) = (a.text(part, key), b.text(part, key));
            a.is_none().cmp(&b.is_none()).then(directed(a.cmp(&b)))
        }
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

impl Searched for TrackedRun {
    fn metric(&self, key: &str) -> Option<f64> {
        self.metrics.iter().rev().find(|own| own.key == key).map(|own| own.value)
    }

    fn text(&self, of: Part, key: &str) -> Option<String> {
        let find = |pairs: &[(String, String)]| {
            pairs.iter().find(|(own, _)| own == key).map(|(_, value)| value.clone())
        };
        match (of, key) {
            (Part::Param, _) => find(&self.params),
            (Part::Tag, _) => find(&self.tags),
            (Part::Metric, _) => None,
            (Part::Attribute, "status") => Some(self.status.to_owned()),
            (Part::Attribute, "run_id") => Some(self.id.clone()),
            (Part::Attribute, "run_name") => Some(self.name.clone()),
            (Part::Attribute, "start_time") => self.begun_ms.map(|own| own.to_string()),
            (Part::Attribute, "end_time") => self.ended_ms.map(|own| own.to_string()),
            (Part::Attribute, _) => None,
        }
    }
}

fn run_json(experiment: &str, run: &TrackedRun) -> Value {
    let latest: BTreeMap<&str, &TrackedMetric> =
        run.metrics.iter().map(|own| (own.key.as_str(), own)).collect();
    let pairs =
        |pairs: &[(String, String)]| pairs_json(pairs.iter().map(|(key, value)| (key, value)));
    json!({
        "info": {
            "run_id": run.id, "run_uuid": run.id, "run_name": run.name,
            "experiment_id": experiment, "status": run.status, "start_time": run.begun_ms,
            "end_time": run.ended_ms, "artifact_uri": super::trial_runs::file_address(&run.folder),
            "lifecycle_stage": "active",
        },
        "data": {
            "metrics": latest.into_values().map(metric_json).collect::<Vec<_>>(),
            "params": pairs(&run.params),
            "tags": pairs(&run.tags),
        },
        "inputs": {},
    })
}

fn metric_json(own: &TrackedMetric) -> Value {
    let TrackedMetric { key, value, timestamp_ms: timestamp, step } = own.clone();
    LoggedMetric { key, value, timestamp, step }.json()
}
