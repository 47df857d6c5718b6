//! The verb `metrics test`: what a study's metric rules find in a log.

use std::path::Path;

use serde::{Serialize, Serializer};
use trainwright_engine::{EngineError, RuleTrial, try_rules};
use trainwright_study::Study;

use crate::Error;

/// What every rule found.
#[derive(Debug, Clone, Serialize)]
pub struct MetricRulesReply {
    /// One entry a metric whose rule reads a text.
    pub rules: Vec<RuleReply>,
}

/// What one rule found.
#[derive(Debug, Clone, Serialize)]
pub struct RuleReply {
    /// The metric.
    pub metric: String,
    /// Its rule in words.
    pub rule: String,
    /// What it finds, in the order of the text.
    pub found: Vec<RuleFind>,
    /// The value that would count; absent without values or where one is not finite.
    pub picked: Option<f64>,
    /// Lines that come near, where nothing is found.
    pub near_misses: Vec<NearMiss>,
    /// What would have been a value but does not read as one.
    pub complaints: Vec<String>,
}

/// A value in a log.
#[derive(Debug, Clone, Serialize)]
pub struct RuleFind {
    /// Its line from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The value, which may be NaN or infinite as the program printed it.
    #[serde(serialize_with = "number_or_name")]
    pub value: f64,
    /// Where in the training it belongs.
    pub step: Option<f64>,
}

/// A line that comes near to what a rule looks for.
#[derive(Debug, Clone, Serialize)]
pub struct NearMiss {
    /// Name of the text it stands in.
    pub file: String,
    /// Its line from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
}

/// Tries a study's metric rules on a log.
///
/// # Errors
/// The log cannot be read.
pub fn metric_rules(study: &Study, log: &Path) -> Result<MetricRulesReply, Error> {
    let tried = try_rules(study, log).map_err(|error| match error {
        // Here the log is the user's input and no part of a trial.
        EngineError::File { path, source, .. } => Error::Input { path, source },
        other => other.into(),
    })?;
    Ok(MetricRulesReply { rules: tried.into_iter().map(rule).collect() })
}

fn rule(tried: RuleTrial) -> RuleReply {
    let RuleTrial { metric, rule, found, picked, near_misses, complaints } = tried;
    let found = found.into_iter().map(|at| RuleFind {
        line: at.line,
        text: at.text,
        value: at.value,
        step: at.step,
    });
    let near = near_misses.into_iter().map(|near| NearMiss {
        file: near.file,
        line: near.line,
        text: near.text,
    });
    let (found, near_misses) = (found.collect(), near.collect());
    RuleReply { metric, rule, found, picked, near_misses, complaints }
}

/// JSON has no NaN, so a value that is not finite becomes its name.
fn number_or_name<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match value.is_finite() {
        true => serializer.serialize_f64(*value),
        false => serializer.collect_str(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_finite_becomes_its_name() {
        let json = |value: f64| {
            let find = RuleFind { line: 1, text: String::new(), value, step: None };
            serde_json::to_value(find).unwrap()["value"].clone()
        };
        assert_eq!((json(1.5), json(f64::NAN)), (1.5.into(), "NaN".into()));
        assert_eq!(json(f64::NEG_INFINITY), "-inf");
    }
}
