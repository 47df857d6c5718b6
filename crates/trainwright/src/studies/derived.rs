//! Formulas on top of what trials measured: computed whenever trials are read, never kept.

use std::collections::BTreeMap;

use trainwright_store::StoredTrial;
use trainwright_study::{
    Configuration, Derived, Measurement, MissingValue, Observation, Outcome, PlannedTrial, Study,
    TrialRecord, TrialState, Usage, derive,
};

/// An ended trial with its formulas computed.
pub(crate) fn derived_record(
    study: &Study,
    trial: &PlannedTrial,
    record: &TrialRecord,
) -> TrialRecord {
    let usage = record.usage.as_ref();
    let derived = derived(study, &trial.configuration, usage, &record.measurements);
    let mut whole = record.clone();
    if let Some((state, reason)) = changed_state(study, record.outcome.state(), &derived) {
        whole.outcome = match state {
            TrialState::Diverged => Outcome::Diverged { reason },
            _ => Outcome::Failed { reason },
        };
    }
    whole.measurements = derived.measurements(&study.metrics);
    whole
}

/// An ended trial reduced to what proposers and analysis need.
pub(crate) fn derived_observation(
    study: &Study,
    trial: &PlannedTrial,
    record: &TrialRecord,
) -> Observation {
    let whole = derived_record(study, trial, record);
    let values = whole.measurements.into_iter().map(|own| (own.metric, own.value)).collect();
    Observation::of(trial.clone(), whole.outcome.state(), values)
}

/// A trial of the store with its formulas computed.
pub(crate) fn derived_trial(study: &Study, mut trial: StoredTrial) -> StoredTrial {
    if matches!(trial.state, TrialState::Planned | TrialState::Running) {
        trial.measurements.clear();
        return trial;
    }
    if !trial.imported {
        // An older program kept what formulas gave when the trial ended.
        trial.measurements.retain(|own| !is_formula(study, &own.metric));
    }
    let usage = trial.usage.as_ref();
    let derived = derived(study, &trial.configuration, usage, &trial.measurements);
    if let Some((state, reason)) = changed_state(study, trial.state, &derived) {
        trial.state = state;
        trial.reason = Some(reason);
    }
    trial.measurements = derived.measurements(&study.metrics);
    trial
}

fn derived(
    study: &Study,
    configuration: &Configuration,
    usage: Option<&Usage>,
    measurements: &[Measurement],
) -> Derived {
    let measured: BTreeMap<String, f64> =
        measurements.iter().map(|own| (own.metric.clone(), own.value)).collect();
    derive(&study.metrics, configuration, usage, &measured)
}

/// What a formula makes of a finished trial: diverged where its value is not finite, failed where
/// it cannot be computed for a reason of its own, such as a division by zero, or where the
/// response is missing.
///
/// Another metric that was not measured changes nothing: its rule may have joined later.
fn changed_state(
    study: &Study,
    state: TrialState,
    derived: &Derived,
) -> Option<(TrialState, String)> {
    if state != TrialState::Finished {
        return None;
    }
    if let Some(reason) = &derived.diverged {
        return Some((TrialState::Diverged, reason.clone()));
    }
    let is_response = |missing: &MissingValue| missing.metric == study.analysis.response;
    let own_fault =
        |missing: &MissingValue| missing.needs.is_none() && is_formula(study, &missing.metric);
    let fault =
        derived.missing.iter().find(|missing| is_response(missing) || own_fault(missing))?;
    Some((TrialState::Failed, fault.reason.clone()))
}

fn is_formula(study: &Study, name: &str) -> bool {
    study.metric(name).is_some_and(|metric| metric.formula().is_some())
}
