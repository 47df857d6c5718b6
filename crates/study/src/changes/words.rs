//! Changes in words.

use serde::Serialize;

use super::{CommandPart, StudyChange};
use crate::{BlockSpec, Level};

impl StudyChange {
    /// What has changed, as a sentence without a full stop.
    pub fn words(&self) -> String {
        match self {
            Self::FactorAdded { name, before: Some(before) } => {
                format!("the factor `{name}` has joined; trials before had {before}")
            }
            Self::FactorAdded { name, before: None } => format!("the factor `{name}` has joined"),
            Self::FactorRemoved { name } => format!("the factor `{name}` is gone"),
            Self::FactorsReordered => "the factors are in another order".to_owned(),
            Self::FactorRescaled { name } => {
                format!("the factor `{name}` has another scale, or a range for levels")
            }
            Self::FactorRuleChanged { name } => {
                format!("the factor `{name}` has another `when` or `hard_to_change`")
            }
            Self::FactorKindChanged { name } => format!("the factor `{name}` is of another kind"),
            Self::LevelsAdded { factor, levels } => {
                format!("the factor `{factor}` has the new {}", listed(levels))
            }
            Self::LevelsRemoved { factor, levels } => {
                format!("the factor `{factor}` no longer has the {}", listed(levels))
            }
            Self::LevelsReordered { factor } => {
                format!("the levels of `{factor}` are in another order")
            }
            Self::DesignChanged { old, new } => design_words(&json(old), &json(new)),
            Self::AdditionsChanged => "the centre points or the foldover are others".to_owned(),
            Self::BlocksChanged { old, new } => now_and_before(
                "`blocks`",
                Some(&block_words(old.as_ref())),
                Some(&block_words(new.as_ref())),
            ),
            Self::OrderChanged { old, new } => {
                now_and_before("the order of the trials", Some(&word(old)), Some(&word(new)))
            }
            Self::SeedChanged { old, new } => format!("the seed is now {new}; it was {old}"),
            Self::ConstraintsChanged { old, new } => {
                let text = |all: &[String]| match all {
                    [] => "none".to_owned(),
                    all => all.join(" and "),
                };
                now_and_before("the constraint", Some(&text(old)), Some(&text(new)))
            }
            Self::CommandChanged { parts } => {
                parts.iter().map(CommandPart::words).collect::<Vec<_>>().join("; ")
            }
            Self::MetricAdded { name, .. } => format!("the metric `{name}` has joined"),
            Self::MetricRemoved { name } => format!("the metric `{name}` is gone"),
            Self::MetricRuleChanged { name } => format!("the metric `{name}` is read otherwise"),
            Self::FormulaChanged { name, old, new } => {
                now_and_before(&format!("the formula of `{name}`"), Some(old), Some(new))
            }
        }
    }

    /// What to do about a change that is not taken as it is.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::FactorAdded { name, before: None } => Some(format!(
                "say with `before` in [factors.{name}] which of its levels the trials so far had"
            )),
            Self::CommandChanged { .. } => {
                Some("if it measures the same, accept it with --accept command".to_owned())
            }
            _ => None,
        }
    }
}

impl CommandPart {
    /// What has changed, as a sentence without a full stop.
    pub fn words(&self) -> String {
        match (&self.old, &self.new) {
            (None, None) => format!("{} is no longer the same", self.what),
            (old, new) => now_and_before(&self.what, old.as_deref(), new.as_deref()),
        }
    }
}

fn now_and_before(what: &str, old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!("{what} is now `{new}`; it was `{old}`"),
        (None, Some(new)) => format!("{what} is now `{new}`"),
        (_, None) => format!("{what} is gone"),
    }
}

/// Kinds of designs that differ are named; of one kind, the keys that differ are.
fn design_words(old: &serde_json::Value, new: &serde_json::Value) -> String {
    if old["type"] != new["type"] {
        let text = |design: &serde_json::Value| design["type"].as_str().map(str::to_owned);
        return now_and_before("the design", text(old).as_deref(), text(new).as_deref());
    }
    let keys = new.as_object().into_iter().flatten().filter(|(key, value)| old[*key] != **value);
    let keys: Vec<String> = keys
        .map(|(key, value)| match (old[key].as_array(), value.as_array()) {
            (Some(old), Some(new)) if old.len() != new.len() => {
                format!("`{key}` of the design are now {}; they were {}", new.len(), old.len())
            }
            (Some(_), Some(_)) => format!("`{key}` of the design are others"),
            _ => {
                let old = old[key].to_string();
                now_and_before(
                    &format!("`{key}` of the design"),
                    Some(&old),
                    Some(&value.to_string()),
                )
            }
        })
        .collect();
    keys.join("; ")
}

fn listed(levels: &[Level]) -> String {
    let texts: Vec<String> = levels.iter().map(Level::to_string).collect();
    format!("{} {}", if levels.len() == 1 { "level" } else { "levels" }, texts.join(", "))
}

fn block_words(blocks: Option<&BlockSpec>) -> String {
    match blocks {
        None => "none".to_owned(),
        Some(BlockSpec::Count(count)) => count.to_string(),
        Some(BlockSpec::Generators(words)) => words.join(", "),
    }
}

fn json(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("a part of a study is plain data")
}

/// The word that the study file has for a value.
fn word(value: &impl Serialize) -> String {
    json(value).as_str().unwrap_or_default().to_owned()
}
