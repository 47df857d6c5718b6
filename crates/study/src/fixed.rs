//! The part of a study that may not change once trials exist.

use serde_json::{Value, json};

use crate::{Additions, Study};

impl Study {
    /// Factors, design without the number of replications, seed, constraints and task as JSON.
    ///
    /// Analysis, metrics, budget, timeouts and replications may change later; these may not,
    /// or trials before and after would not be of one experiment.
    pub fn fixed_part(&self) -> Value {
        let design = &self.design;
        let mut part = json!({ "kind": design.kind, "order": design.order });
        if design.additions != Additions::default() {
            part["additions"] = json!(design.additions);
        }
        json!({
            "study": { "name": self.name, "seed": self.seed },
            "factors": self.factors,
            "design": part,
            "constraints": self.constraints,
            "task": self.task,
        })
    }
}

/// What differs between two fixed parts: a line a place, `design.kind.runs: 16 -> 8`.
pub fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", old, new, &mut lines);
    lines
}

fn compare(path: &str, old: &Value, new: &Value, lines: &mut Vec<String>) {
    if let (Value::Object(a), Value::Object(b)) = (old, new) {
        let added = b.keys().filter(|key| !a.contains_key(*key));
        for key in a.keys().chain(added) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            compare(
                &path,
                a.get(key).unwrap_or(&Value::Null),
                b.get(key).unwrap_or(&Value::Null),
                lines,
            );
        }
    } else if let (Value::Array(a), Value::Array(b)) = (old, new)
        && a.len() == b.len()
    {
        for (index, (old, new)) in a.iter().zip(b).enumerate() {
            let name = old["name"].as_str().map_or(index.to_string(), str::to_owned);
            compare(&format!("{path}[{name}]"), old, new, lines);
        }
    } else if old != new {
        lines.push(format!("{path}: {old} -> {new}"));
    }
}
