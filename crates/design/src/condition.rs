//! Conditions of the study: which factors exist in a configuration, which constraints it breaks.
//!
//! Conditions speak of factors that always exist, which the study has checked. A constraint may
//! speak of any factor and does not apply where one of them is absent.

use trainwright_study::{Configuration, EvaluateError, Study, Value};

use crate::error::DesignError;

/// The configuration without the factors whose `when` does not hold.
///
/// # Errors
/// A condition cannot be computed.
pub fn active(study: &Study, combination: &Configuration) -> Result<Configuration, DesignError> {
    let scope = |name: &str| combination.get(name).map(Value::from);
    let mut absent = Vec::new();
    for factor in &study.factors {
        let Some(condition) = &factor.when else { continue };
        let holds = condition.truth(&scope).map_err(|source| DesignError::BadCondition {
            factor: factor.name.clone(),
            configuration: combination.clone(),
            source,
        })?;
        if !holds {
            absent.push(factor.name.as_str());
        }
    }
    Ok(combination.filtered(|name| !absent.contains(&name)))
}

/// The position of the first constraint that a configuration breaks.
///
/// # Errors
/// A constraint cannot be computed.
pub fn violated(
    study: &Study,
    configuration: &Configuration,
) -> Result<Option<usize>, DesignError> {
    let scope = |name: &str| configuration.get(name).map(Value::from);
    for (index, constraint) in study.constraints.iter().enumerate() {
        match constraint.truth(&scope) {
            Ok(true) => {}
            Ok(false) => return Ok(Some(index)),
            Err(EvaluateError::MissingName { name, .. }) if study.factor(&name).is_some() => {}
            Err(source) => {
                let configuration = configuration.clone();
                return Err(DesignError::BadConstraint { index, configuration, source });
            }
        }
    }
    Ok(None)
}
