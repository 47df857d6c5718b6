//! `trainwright metrics test`.

use serde_json::{Value, json};
use trainwright::Error;
use trainwright_engine::{EngineError, RuleTrial, try_rules};

use super::load;
use crate::arguments::MetricsTestArguments;
use crate::output::{print, print_json};

pub(crate) fn test(arguments: &MetricsTestArguments) -> anyhow::Result<u8> {
    let study = load(&arguments.study)?;
    let tried = try_rules(&study, &arguments.log).map_err(|error| match error {
        // Here the log is the user's input and no part of a trial.
        EngineError::File { path, source, .. } => Error::Input { path, source },
        other => other.into(),
    })?;
    if arguments.json {
        let rules: Vec<Value> = tried.iter().map(as_json).collect();
        print_json("metrics-test", &json!({ "rules": rules }))?;
    } else {
        for rule in &tried {
            print(&as_text(rule))?;
        }
    }
    Ok(0)
}

/// JSON has no NaN, so a value that is not finite becomes its name.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

fn as_json(rule: &RuleTrial) -> Value {
    let found: Vec<Value> = rule
        .found
        .iter()
        .map(|at| {
            json!({ "line": at.line, "text": at.text, "value": number(at.value), "step": at.step })
        })
        .collect();
    let near: Vec<Value> = rule
        .near_misses
        .iter()
        .map(|near| json!({ "file": near.file, "line": near.line, "text": near.text }))
        .collect();
    json!({
        "metric": rule.metric,
        "rule": rule.rule,
        "found": found,
        "picked": rule.picked,
        "near_misses": near,
        "complaints": rule.complaints,
    })
}

/// Most finds of one rule that are listed.
const MOST_SHOWN: usize = 10;

fn as_text(rule: &RuleTrial) -> String {
    let mut text = format!("{} ({})\n", rule.metric, rule.rule);
    let mut put = |line: String| {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    };
    for at in rule.found.iter().take(MOST_SHOWN) {
        let step = at.step.map(|step| format!(" at step {step}")).unwrap_or_default();
        put(format!("line {}: {}{step}   {}", at.line, at.value, at.text.trim()));
    }
    if rule.found.len() > MOST_SHOWN {
        put(format!("... {} more", rule.found.len() - MOST_SHOWN));
    }
    for complaint in &rule.complaints {
        put(format!("not a value: {complaint}"));
    }
    match (rule.picked, rule.found.is_empty()) {
        (Some(value), _) => put(format!("-> {value}")),
        (None, true) => put("-> nothing found: the trial would fail".to_owned()),
        (None, false) => put("-> not finite: the trial would count as diverged".to_owned()),
    }
    for near in &rule.near_misses {
        put(format!("near: {} line {}: {}", near.file, near.line, near.text.trim()));
    }
    text
}
