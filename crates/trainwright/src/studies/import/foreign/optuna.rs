//! Completed trials of an Optuna study.

use std::path::Path;

use serde_json::Value;
use trainwright_store::{OptunaStudy, StoreError};
use trainwright_study::Level;

use super::{ForeignFactor, ForeignMetric, ForeignRuns, ForeignSearch, ForeignValues};

/// The column of the only objective; those of several have a number behind it.
pub(super) const VALUE: &str = "value";

/// The trials, what their parameters may be, and their objectives.
pub(super) fn runs(path: &Path, which: Option<&str>) -> Result<ForeignRuns, StoreError> {
    let own = OptunaStudy::read(path, which)?;
    let objectives = own.trials.iter().map(|trial| trial.values.len()).max();
    let objectives = objectives.unwrap_or(own.maximize.len().max(1));
    let value_name = |place: usize| match objectives {
        1 => VALUE.to_owned(),
        _ => format!("{VALUE}_{place}"),
    };
    let mut found = ForeignRuns::default();
    for (name, distribution) in &own.distributions {
        if own.trials.iter().any(|trial| !trial.parameters.contains_key(name)) {
            found.notes.push(format!(
                "`{name}` exists in some trials only and is no factor: add it with a `when`"
            ));
            continue;
        }
        match values(distribution, &mut found.notes, name) {
            Some(values) => found.factors.push(ForeignFactor { name: name.clone(), values }),
            None => {
                found.notes.push(format!("`{name}` has one value only, or one that is no level"))
            }
        }
    }
    // The first objective comes last, as the response.
    found.metrics = (0..objectives)
        .rev()
        .map(|place| ForeignMetric {
            name: value_name(place),
            maximize: Some(own.maximize.get(place).copied().unwrap_or(false)),
            keys: Vec::new(),
        })
        .collect();
    found.results = own
        .trials
        .iter()
        .map(|trial| {
            let set =
                trial.parameters.iter().map(|(name, level)| (name.clone(), level.to_string()));
            let values = trial.values.iter().enumerate();
            set.chain(values.map(|(place, value)| (value_name(place), value.to_string()))).collect()
        })
        .collect();
    if own.without_result > 0 {
        found.notes.push(format!(
            "{} trials were pruned, failed or never ended and are left out",
            own.without_result
        ));
    }
    found.notes.push("the sampler and the pruner are not in the file".to_owned());
    found.notes.push(
        "intermediate values, attributes and times of trials stay in Optuna's file".to_owned(),
    );
    let trials = (2 * own.trials.len()).max(20);
    let objectives =
        if objectives > 1 { (0..objectives).map(value_name).collect() } else { vec![] };
    found.search = Some(ForeignSearch { method: "tpe", trials, objectives, early_stop: None });
    Ok(found)
}

/// What a parameter may be; steps between numbers are told, as a range has none.
fn values(distribution: &Value, notes: &mut Vec<String>, name: &str) -> Option<ForeignValues> {
    let attributes = &distribution["attributes"];
    if let Some(choices) = attributes["choices"].as_array() {
        let levels: Vec<Level> = choices.iter().map(choice).collect::<Option<_>>()?;
        if choices.iter().any(Value::is_null) {
            notes.push(format!("the choice None of `{name}` is the text `None` here"));
        }
        let numbers = levels.iter().filter(|own| own.number().is_some()).count();
        // A factor has numbers or texts for levels, not both.
        let levels: Vec<Level> = match numbers == 0 || numbers == levels.len() {
            true => levels,
            false => levels.iter().map(|own| Level::Text(own.to_string())).collect(),
        };
        return (levels.len() > 1).then_some(ForeignValues::Levels(levels));
    }
    let whole = distribution["name"].as_str().is_some_and(|own| own.starts_with("Int"));
    let log = attributes["log"] == true
        || distribution["name"].as_str().is_some_and(|own| own.contains("LogUniform"));
    let end = |key: &str| {
        let number = attributes[key].as_f64()?;
        Some(if whole { Level::of(number) } else { Level::Number(number) })
    };
    let (from, to) = (end("low")?, end("high")?);
    let step = attributes["step"].as_f64().or(attributes["q"].as_f64());
    if let Some(step) = step.filter(|step| !(whole && *step <= 1.0)) {
        notes.push(format!("`{name}` went by steps of {step}; a range has no steps"));
    }
    (!from.same_as(&to)).then_some(ForeignValues::Range { from, to, log })
}

fn choice(value: &Value) -> Option<Level> {
    match value {
        Value::String(text) => Some(Level::Text(text.clone())),
        Value::Bool(truth) => Some(Level::Truth(*truth)),
        Value::Number(number) => number.as_f64().map(Level::of),
        Value::Null => Some(Level::Text("None".to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn none_among_choices_is_a_text_and_keeps_the_factor() {
        let levels = |choices: Value| {
            let mut notes = Vec::new();
            let own = values(&json!({ "attributes": { "choices": choices } }), &mut notes, "x");
            let Some(ForeignValues::Levels(levels)) = own else { panic!("{own:?}") };
            (levels, notes)
        };
        let text = |own: &str| Level::Text(own.to_owned());
        let (found, notes) = levels(json!(["relu", null]));
        assert_eq!(found, [text("relu"), text("None")]);
        assert_eq!(notes, ["the choice None of `x` is the text `None` here"]);
        assert_eq!(levels(json!([1, 2, null])).0, [text("1"), text("2"), text("None")]);
        assert_eq!(levels(json!([1, 2])).0, [Level::Integer(1), Level::Integer(2)]);
    }
}
