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
    let seconds = record.usage.as_ref().map(|usage| usage.wall_s);
    Observation { seconds, ..Observation::of(trial.clone(), whole.outcome.state(), values) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::tests::{TWO_BY_TWO, finished, measured, planned_trials, study};

    fn with_formula(formula: &str) -> Study {
        study(&format!("{TWO_BY_TWO}[metrics.z]\nexpr = \"{formula}\"\n"))
    }

    fn trial(study: &Study, y: f64) -> StoredTrial {
        finished(planned_trials(study).remove(0), y)
    }

    fn value(trial: &StoredTrial, metric: &str) -> Option<f64> {
        trial.measurements.iter().find(|own| own.metric == metric).map(|own| own.value)
    }

    fn record(outcome: Outcome, measurements: Vec<Measurement>) -> TrialRecord {
        TrialRecord {
            outcome,
            measurements,
            usage: None,
            series: Vec::new(),
            command: Vec::new(),
            environment: BTreeMap::new(),
            started_ms: 0,
            output_end: String::new(),
            cluster: Vec::new(),
        }
    }

    #[test]
    fn a_formula_sees_metrics_factors_and_what_the_kernel_measured() {
        let study = with_formula("y * 10 + a + wall_s / 100");
        let own = trial(&study, 3.0);
        let a = own.configuration.get("a").unwrap().number().unwrap();
        let own = derived_trial(&study, own);
        assert_eq!((own.state, value(&own, "z")), (TrialState::Finished, Some(30.0 + a + 0.02)));
    }

    #[test]
    fn what_an_older_program_kept_of_a_formula_is_computed_anew() {
        let study = with_formula("2 * y");
        let mut own = trial(&study, 3.0);
        own.measurements.push(measured("z", 999.0));
        assert_eq!(value(&derived_trial(&study, own), "z"), Some(6.0));
    }

    #[test]
    fn a_division_by_zero_fails_the_trial_and_keeps_what_was_measured() {
        let study = with_formula("1 / y");
        let own = derived_trial(&study, trial(&study, 0.0));
        assert_ne!(own.state, TrialState::Finished);
        assert!(own.reason.as_ref().is_some_and(|reason| reason.contains('z')), "{:?}", own.reason);
        assert_eq!((value(&own, "y"), value(&own, "z")), (Some(0.0), None));
    }

    #[test]
    fn a_formula_that_overflows_diverges() {
        let study = with_formula("exp(y)");
        let own = derived_trial(&study, trial(&study, 1e4));
        assert_eq!(own.state, TrialState::Diverged);
        assert!(
            own.reason.as_ref().is_some_and(|reason| reason.contains("`z`")),
            "{:?}",
            own.reason
        );
    }

    #[test]
    fn a_missing_response_fails_a_finished_trial_and_another_metric_does_not() {
        let study = study(&format!(
            "{TWO_BY_TWO}[metrics.extra]\nfrom = \"stdout\"\n[analysis]\nresponse = \"y\"\n"
        ));
        let own = derived_trial(&study, trial(&study, 1.0));
        assert_eq!((own.state, own.reason), (TrialState::Finished, None));
        let without = StoredTrial { measurements: Vec::new(), ..trial(&study, 1.0) };
        let own = derived_trial(&study, without);
        assert_eq!(own.state, TrialState::Failed);
        assert!(own.reason.unwrap().contains("not measured"));
    }

    #[test]
    fn a_trial_that_failed_keeps_its_own_reason() {
        let study = with_formula("1 / y");
        let failed = StoredTrial {
            state: TrialState::Failed,
            reason: Some("exit 1".to_owned()),
            ..trial(&study, 0.0)
        };
        let own = derived_trial(&study, failed);
        assert_eq!((own.state, own.reason.as_deref()), (TrialState::Failed, Some("exit 1")));
    }

    #[test]
    fn a_trial_that_has_not_ended_has_no_values() {
        let study = with_formula("2 * y");
        for state in [TrialState::Planned, TrialState::Running] {
            let own = derived_trial(&study, StoredTrial { state, ..trial(&study, 3.0) });
            assert_eq!((own.state, own.measurements.len()), (state, 0));
        }
    }

    #[test]
    fn a_record_that_has_just_ended_is_judged_the_same_way() {
        let study = with_formula("exp(y)");
        let planned = planned_trials(&study)[0].planned();
        let own = record(Outcome::Finished, vec![measured("y", 1e4)]);
        let whole = derived_record(&study, &planned, &own);
        assert!(matches!(&whole.outcome, Outcome::Diverged { reason } if reason.contains("`z`")));
        let observation = derived_observation(&study, &planned, &own);
        assert_eq!(observation.state, TrialState::Diverged);
        assert_eq!(observation.values, BTreeMap::from([("y".to_owned(), 1e4)]));
        let own = record(Outcome::Stopped, vec![measured("y", 1e4)]);
        assert_eq!(derived_record(&study, &planned, &own).outcome, Outcome::Stopped);
    }
}
