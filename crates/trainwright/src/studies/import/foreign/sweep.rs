//! A sweep of W&B: what may be set, what is measured and what runs, before any run.

use serde_json::Value;
use trainwright_study::Level;

use super::{ForeignFactor, ForeignMetric, ForeignRuns, ForeignSearch, ForeignValues, yaml};
use crate::studies::init::identifier;

/// Keys of a sweep that say nothing about what runs.
const NAMES: [&str; 4] = ["name", "description", "project", "entity"];

/// Reads the text of a sweep.
pub(super) fn runs(text: &str) -> Result<ForeignRuns, String> {
    let sweep = yaml::parse(text)?;
    let Some(keys) = sweep.as_object() else { return Err("it is no table of keys".to_owned()) };
    let Some(parameters) = sweep["parameters"].as_object() else {
        return Err("it has no `parameters`, so it is no sweep of W&B".to_owned());
    };
    let mut found = ForeignRuns::default();
    let mut fixed = Vec::new();
    for (name, parameter) in parameters {
        match values(name, parameter, &mut found.notes)? {
            Set::Values(values) => found.factors.push(ForeignFactor { name: name.clone(), values }),
            Set::Fixed(value) => fixed.push((name.clone(), value)),
            Set::Unknown => {}
        }
    }
    let metric = &sweep["metric"];
    let name = metric["name"].as_str().unwrap_or("loss").to_owned();
    if metric.is_null() {
        found.notes.push("it names no metric; `loss` is a guess".to_owned());
    }
    let maximize = Some(metric["goal"] == "maximize");
    let keys_of = vec![format!("key = {}", Value::from(name.as_str()))];
    found.metrics.push(ForeignMetric { name, maximize, keys: keys_of });
    if !metric["target"].is_null() {
        found.notes.push(format!("`target: {}` of the metric", metric["target"]));
    }
    found.command = command(&sweep, &found.factors, &fixed, &mut found.notes);
    found.search = Some(search(&sweep, &mut found.notes));
    let known =
        ["parameters", "metric", "method", "program", "command", "early_terminate", "run_cap"];
    for key in
        keys.keys().filter(|key| !known.contains(&key.as_str()) && !NAMES.contains(&key.as_str()))
    {
        found.notes.push(format!("`{key}`"));
    }
    found.notes.push(
        "metrics logged by `wandb.log` go to W&B; let the program print lines such as \
         ::metric {\"loss\": 0.3, \"step\": 1}, or append them to $TRAINWRIGHT_METRICS"
            .to_owned(),
    );
    Ok(found)
}

/// What a parameter may be set to.
enum Set {
    Values(ForeignValues),
    Fixed(String),
    Unknown,
}

fn values(name: &str, parameter: &Value, notes: &mut Vec<String>) -> Result<Set, String> {
    if let Some(values) = parameter["values"].as_array() {
        let levels: Option<Vec<Level>> = values.iter().map(level).collect();
        let Some(levels) = levels else {
            notes.push(format!("`{name}` has values that are lists or tables"));
            return Ok(Set::Unknown);
        };
        if !parameter["probabilities"].is_null() {
            notes.push(format!("`probabilities` of `{name}`"));
        }
        return Ok(match levels.as_slice() {
            [] => return Err(format!("`{name}` has no values")),
            [only] => Set::Fixed(only.to_string()),
            _ => Set::Values(ForeignValues::Levels(levels)),
        });
    }
    if let Some(only) = parameter.get("value") {
        return Ok(level(only).map_or(Set::Unknown, |level| Set::Fixed(level.to_string())));
    }
    if parameter["parameters"].is_object() {
        notes.push(format!(
            "`{name}` is a group of parameters: move those in it one level up, under names of \
             their own"
        ));
        return Ok(Set::Unknown);
    }
    let distribution = parameter["distribution"].as_str().unwrap_or("uniform");
    let (Some(min), Some(max)) = (parameter["min"].as_f64(), parameter["max"].as_f64()) else {
        notes.push(format!("`{name}`: its distribution `{distribution}` has no ends"));
        return Ok(Set::Unknown);
    };
    let whole = parameter["min"].is_i64()
        && parameter["max"].is_i64()
        && matches!(distribution, "uniform" | "int_uniform" | "q_uniform");
    // Without `_values` the ends of the older log distributions are exponents of e.
    let exponents = matches!(distribution, "log_uniform" | "q_log_uniform" | "inv_log_uniform");
    let log = distribution.contains("log_uniform");
    if distribution.starts_with("q_") {
        notes.push(format!("`{name}` went by steps (`{distribution}`); a range has no steps"));
    } else if distribution.starts_with("inv_")
        || distribution.contains("normal")
        || distribution == "beta"
    {
        notes.push(format!(
            "`{name}` was drawn by `{distribution}`; here by `{}`",
            if log { "log" } else { "linear" }
        ));
    }
    let end = |value: f64| match (exponents, whole) {
        (true, _) => Level::Number(value.exp()),
        (false, true) => Level::of(value),
        (false, false) => Level::Number(value),
    };
    if min >= max || (log && !exponents && min <= 0.0) {
        return Err(format!("`{name}` has no range from {min} to {max}"));
    }
    Ok(Set::Values(ForeignValues::Range { from: end(min), to: end(max), log }))
}

fn level(value: &Value) -> Option<Level> {
    match value {
        Value::String(text) => Some(Level::Text(text.clone())),
        Value::Bool(truth) => Some(Level::Truth(*truth)),
        Value::Number(number) => Some(Level::of(number.as_f64()?)),
        Value::Null => Some(Level::Text("null".to_owned())),
        _ => None,
    }
}

/// The command with placeholders: that of the sweep, or its program as W&B would run it.
fn command(
    sweep: &Value,
    factors: &[ForeignFactor],
    fixed: &[(String, String)],
    notes: &mut Vec<String>,
) -> Option<Vec<String>> {
    let program = sweep["program"].as_str();
    let usual = ["${env}", "${interpreter}", "${program}", "${args}"].map(Value::from).to_vec();
    let words = sweep["command"].as_array().cloned().unwrap_or(usual);
    let settings = |style: fn(&str, &str) -> String| -> Vec<String> {
        let varied =
            factors.iter().map(|own| style(&own.name, &format!("{{{}}}", identifier(&own.name))));
        varied.chain(fixed.iter().map(|(name, value)| style(name, value))).collect()
    };
    let mut filled = Vec::new();
    for word in &words {
        let word = word.as_str().map_or_else(|| word.to_string(), str::to_owned);
        match word.as_str() {
            "${env}" => filled.extend(["/usr/bin/env".to_owned()]),
            "${interpreter}" => filled.push("python".to_owned()),
            "${program}" => filled.push(program?.to_owned()),
            "${args}" => filled.extend(settings(|name, value| format!("--{name}={value}"))),
            "${args_no_hyphens}" => {
                filled.extend(settings(|name, value| format!("{name}={value}")))
            }
            word if word.starts_with("${") => {
                notes.push(format!("`{word}` of the command"));
                return None;
            }
            word => filled.push(word.to_owned()),
        }
    }
    Some(filled)
}

fn search(sweep: &Value, notes: &mut Vec<String>) -> ForeignSearch {
    let method = match sweep["method"].as_str() {
        Some("grid") => "grid",
        Some("random") => "random",
        Some("bayes") | None => "bayesian",
        Some(other) => {
            notes.push(format!("the method `{other}`; here `bayesian`"));
            "bayesian"
        }
    };
    let trials = sweep["run_cap"].as_u64().and_then(|cap| usize::try_from(cap).ok());
    if trials.is_none() {
        notes.push("it has no `run_cap`; the budget of [search] is a guess".to_owned());
    }
    let stop = &sweep["early_terminate"];
    let early_stop = (!stop.is_null()).then(|| {
        notes.push(format!(
            "`early_terminate: {stop}` becomes the rule `hyperband`; see its keys in docs/search.md"
        ));
        let from =
            stop["min_iter"].as_f64().map_or(String::new(), |least| format!(", from = {least}"));
        format!("early_stop = {{ rule = \"hyperband\"{from} }}")
    });
    ForeignSearch { method, trials: trials.unwrap_or(30), objectives: Vec::new(), early_stop }
}
