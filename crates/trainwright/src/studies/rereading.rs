//! What trials left behind, read again by rules that have changed since.

use serde_json::Value;
use trainwright_engine::{PastTrial, reread as read_outputs};
use trainwright_store::{Reread, StoredTrial, Superseded};
use trainwright_study::{Measurement, Outcome, Study, TrialState};

use crate::Place;
use crate::studies::plan_change::PlanChange;

/// Reads the outputs of all ended trials again; tells in sentences what came of it.
///
/// Where the outputs of a trial are gone, what other rules found is no longer believed; it stays in
/// the store and is right again where the study returns to those rules.
pub(crate) fn reread(
    study: &Study,
    place: &Place,
    change: &PlanChange,
) -> (Vec<Reread>, Vec<String>) {
    let (mut found, mut unread, mut read) = (Vec::new(), Vec::new(), 0);
    let changed = change.changed_rules();
    for trial in change.trials.iter().filter(|trial| left_outputs(trial)) {
        match read_one(study, place, trial) {
            Ok(own) => {
                read += 1;
                found.push(own);
            }
            Err(reason) => {
                let own = without_outputs(study, trial, &changed);
                if changed.iter().any(|name| !own.measurements.iter().any(|it| it.metric == *name))
                {
                    unread.push(format!("trial {}: {reason}", trial.number));
                }
                found.push(own);
            }
        }
    }
    let mut sentences = Vec::new();
    if read > 0 {
        let noun = if read == 1 { "trial" } else { "trials" };
        sentences.push(format!("the outputs of {read} {noun} were read again"));
    }
    sentences.extend(unread.into_iter().map(|own| format!("could not read again {own}")));
    (found, sentences)
}

/// A stored trial as it is after its outputs were read again.
pub(crate) fn apply(trials: &mut [StoredTrial], reread: &[Reread]) {
    for own in reread {
        let Some(trial) = trials.iter_mut().find(|trial| trial.number == own.number) else {
            continue;
        };
        trial.state = own.outcome.state();
        trial.reason = own.outcome.reason().map(str::to_owned);
        trial.measurements.clone_from(&own.measurements);
    }
}

fn left_outputs(trial: &StoredTrial) -> bool {
    let ended =
        matches!(trial.state, TrialState::Finished | TrialState::Failed | TrialState::Diverged);
    ended && !trial.imported && trial.usage.is_some()
}

fn read_one(study: &Study, place: &Place, trial: &StoredTrial) -> Result<Reread, String> {
    let Some(usage) = &trial.usage else { return Err("it never started".to_owned()) };
    let past = PastTrial {
        trial: &trial.planned(),
        trials: &place.trials,
        started_ms: trial.started_ms.unwrap_or(0),
        usage,
    };
    let own = read_outputs(study, past).map_err(|error| error.to_string())?;
    Ok(Reread {
        number: trial.number,
        outcome: own.outcome,
        measurements: own.measurements,
        curves: own.curves,
        rules: rules(study),
        superseded: None,
    })
}

/// A trial whose outputs are gone, with what was found by the rules that the study has now.
fn without_outputs(study: &Study, trial: &StoredTrial, changed: &[&str]) -> Reread {
    let rules = rules(study);
    let known = trial.circumstances.as_ref();
    let earlier = known.and_then(|own| own.superseded.clone()).or_else(|| {
        let rules = known?.rules.clone();
        Some(Superseded { rules, measurements: trial.measurements.clone() })
    });
    let measurements = match &earlier {
        Some(own) => {
            let same = |it: &&Measurement| is_same_rule(&own.rules, &rules, &it.metric);
            own.measurements.iter().filter(same).cloned().collect()
        }
        None => {
            let same = |it: &&Measurement| !changed.contains(&it.metric.as_str());
            trial.measurements.iter().filter(same).cloned().collect()
        }
    };
    let reason = trial.reason.clone().unwrap_or_default();
    Reread {
        number: trial.number,
        outcome: match trial.state {
            TrialState::Finished => Outcome::Finished,
            TrialState::Diverged => Outcome::Diverged { reason },
            _ => Outcome::Failed { reason },
        },
        measurements,
        curves: Vec::new(),
        rules,
        superseded: earlier,
    }
}

/// Whether two sets of rules read a metric in the same way.
fn is_same_rule(old: &Value, new: &Value, metric: &str) -> bool {
    let rule = |rules: &Value| {
        let own = rules.as_array()?.iter().find(|own| own["name"] == metric)?;
        Some((own["source"].clone(), own["pick"].clone()))
    };
    rule(old).is_some() && rule(old) == rule(new)
}

/// How the metrics of a study are read, as it is kept with trials.
pub(crate) fn rules(study: &Study) -> Value {
    serde_json::to_value(&study.metrics).expect("plain data becomes JSON")
}

#[cfg(test)]
mod tests {
    use trainwright_store::Circumstances;

    use super::*;
    use crate::studies::planned::design_of;
    use crate::studies::tests::{TWO_BY_TWO, finished, kept, measured, planned_trials, study};

    /// A study whose rule for `y` has changed, the change, and a place without any outputs.
    fn changed(folder: &std::path::Path, trials: Vec<StoredTrial>) -> (Study, Place, PlanChange) {
        let old = study(TWO_BY_TWO);
        let new = study(
            &TWO_BY_TWO
                .replace("from = \"stdout\"", "from = \"regex\"\nmatch = 'y is (?P<value>\\S+)'"),
        );
        let place = Place::of(&new, Some(&folder.join("s.db")));
        let design = design_of(&new).unwrap();
        let change = PlanChange::of(&kept(&old), trials, &new, &design).unwrap();
        (new, place, change)
    }

    #[test]
    fn where_outputs_are_gone_what_the_old_rule_found_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let mut trials = planned_trials(&study(TWO_BY_TWO));
        trials[1] = finished(trials[1].clone(), 5.0);
        trials[1].measurements.push(measured("other", 6.0));
        let (study, place, change) = changed(folder.path(), trials);
        let (found, sentences) = reread(&study, &place, &change);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].number, change.trials[1].number);
        assert_eq!(found[0].measurements, [measured("other", 6.0)]);
        assert_eq!(sentences.len(), 1);
        assert!(sentences[0].starts_with("could not read again trial 2: "), "{sentences:?}");
    }

    #[test]
    fn what_an_old_rule_found_is_believed_again_under_that_rule() {
        let (old, folder) = (study(TWO_BY_TWO), tempfile::tempdir().unwrap());
        let mut trial = finished(planned_trials(&old).remove(0), 5.0);
        let (new, _, _) = changed(folder.path(), vec![trial.clone()]);
        let circumstances = |superseded| Circumstances {
            engine: "local".to_owned(),
            slots: 1,
            rules: rules(&old),
            task: Value::Null,
            superseded,
        };
        trial.circumstances = Some(circumstances(None));
        let masked = without_outputs(&new, &trial, &["y"]);
        assert_eq!(masked.measurements, []);
        let (values, superseded) = (trial.measurements.clone(), masked.superseded);
        trial.measurements.clear();
        trial.circumstances = Some(circumstances(superseded));
        assert_eq!(without_outputs(&old, &trial, &["y"]).measurements, values);
        assert_eq!(without_outputs(&new, &trial, &["y"]).measurements, []);
    }

    #[test]
    fn only_trials_that_ran_here_to_an_end_left_outputs() {
        let own = planned_trials(&study(TWO_BY_TWO)).remove(0);
        assert!(!left_outputs(&own));
        let ended = finished(own, 1.0);
        assert!(left_outputs(&ended));
        assert!(left_outputs(&StoredTrial { state: TrialState::Diverged, ..ended.clone() }));
        assert!(!left_outputs(&StoredTrial { state: TrialState::Stopped, ..ended.clone() }));
        assert!(!left_outputs(&StoredTrial { imported: true, ..ended.clone() }));
        assert!(!left_outputs(&StoredTrial { usage: None, ..ended }));
    }

    #[test]
    fn what_was_read_again_replaces_state_reason_and_values() {
        let mut trials = planned_trials(&study(TWO_BY_TWO));
        trials[2] = finished(trials[2].clone(), 5.0);
        let again = |number: u32| Reread {
            number,
            outcome: Outcome::Failed { reason: "no y".to_owned() },
            measurements: Vec::new(),
            curves: Vec::new(),
            rules: Value::Null,
            superseded: None,
        };
        // A number that no trial has is passed over.
        let number = trials[2].number;
        apply(&mut trials, &[again(number), again(99)]);
        assert_eq!(
            (trials[2].state, trials[2].reason.as_deref()),
            (TrialState::Failed, Some("no y"))
        );
        assert!(trials[2].measurements.is_empty());
        assert_eq!(trials[0].state, TrialState::Planned);
    }

    #[test]
    fn a_trial_that_could_not_be_read_keeps_how_it_ended() {
        let own = study(TWO_BY_TWO);
        let ended = finished(planned_trials(&own).remove(0), 1.0);
        let outcome = |state| {
            let trial = StoredTrial { state, reason: Some("why".to_owned()), ..ended.clone() };
            without_outputs(&own, &trial, &["y"]).outcome
        };
        assert_eq!(outcome(TrialState::Finished), Outcome::Finished);
        assert_eq!(outcome(TrialState::Diverged), Outcome::Diverged { reason: "why".to_owned() });
        assert_eq!(outcome(TrialState::Failed), Outcome::Failed { reason: "why".to_owned() });
    }
}
