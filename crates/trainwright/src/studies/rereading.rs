//! What trials left behind, read again by rules that have changed since.

use trainwright_engine::{PastTrial, reread as read_outputs};
use trainwright_store::{Reread, StoredTrial};
use trainwright_study::{Measurement, Outcome, Study, TrialState};

use crate::Place;
use crate::studies::plan_change::PlanChange;

/// Reads the outputs of all ended trials again; tells in sentences what came of it.
///
/// Where the outputs of a trial are gone, what the old rules found is no longer believed.
pub(crate) fn reread(
    study: &Study,
    place: &Place,
    change: &PlanChange,
) -> (Vec<Reread>, Vec<String>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for trial in change.trials.iter().filter(|trial| left_outputs(trial)) {
        match read_one(study, place, trial) {
            Ok(own) => found.push(own),
            Err(reason) => {
                unread.push(format!("trial {}: {reason}", trial.number));
                found.push(without_changed_rules(study, trial, &change.changed_rules()));
            }
        }
    }
    let mut sentences = Vec::new();
    let read = found.len() - unread.len();
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
    })
}

fn without_changed_rules(study: &Study, trial: &StoredTrial, changed: &[&str]) -> Reread {
    let kept = |own: &&Measurement| !changed.contains(&own.metric.as_str());
    let reason = trial.reason.clone().unwrap_or_default();
    Reread {
        number: trial.number,
        outcome: match trial.state {
            TrialState::Finished => Outcome::Finished,
            TrialState::Diverged => Outcome::Diverged { reason },
            _ => Outcome::Failed { reason },
        },
        measurements: trial.measurements.iter().filter(kept).cloned().collect(),
        curves: Vec::new(),
        rules: rules(study),
    }
}

/// How the metrics of a study are read, as it is kept with trials.
pub(crate) fn rules(study: &Study) -> serde_json::Value {
    serde_json::to_value(&study.metrics).expect("plain data becomes JSON")
}
