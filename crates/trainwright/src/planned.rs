//! A study whose trials are planned in its store: what `run` and `import` begin with.

use trainwright_design::{Design, extend, plan};
use trainwright_store::{Store, StoredTrial};
use trainwright_study::{PlannedTrial, Study, differences};

use crate::Error;

/// The design of a study, with faults shown at their place in the study file.
pub fn design_of(study: &Study) -> Result<Design, Error> {
    Design::of(study).map_err(|error| {
        let key = error.key();
        let path: Vec<&str> = key.iter().map(String::as_str).collect();
        study.fault_at(&path, error.to_string(), error.help()).into()
    })
}

/// Keeps the study in the store, plans what is not planned yet, and lists all its trials.
///
/// # Errors
/// Factors, design or command changed after trials were run.
pub(crate) fn planned(
    store: &mut Store,
    study: &Study,
    design: &Design,
) -> Result<(i64, Vec<StoredTrial>), Error> {
    if let Some(known) = store.study(&study.name)? {
        let differences = differences(&known.fixed, &study.fixed_part());
        let ran = |trial: &StoredTrial| trial.attempts > 0 || trial.imported;
        if !differences.is_empty() {
            if store.trials(known.id)?.iter().any(ran) {
                return Err(Error::Changed { study: study.name.clone(), differences });
            }
            store.forget_plan(known.id, 0)?;
        }
        store.forget_plan(known.id, study.design.replications)?;
    }
    let id = store.keep_study(study)?.id;
    let known = store.trials(id)?;
    let new = new_trials(&known, study, design);
    if new.is_empty() {
        return Ok((id, known));
    }
    store.plan(id, &new)?;
    Ok((id, store.trials(id)?))
}

fn new_trials(known: &[StoredTrial], study: &Study, design: &Design) -> Vec<PlannedTrial> {
    let existing: Vec<PlannedTrial> = known.iter().filter_map(StoredTrial::planned).collect();
    if existing.is_empty() {
        return plan(study, design);
    }
    // Imported results outside the design have numbers too, which new trials must not take.
    let last = known.iter().map(|trial| trial.number).max().unwrap_or(0);
    let all = extend(&existing, study, design).into_iter().skip(existing.len());
    all.zip(last + 1..).map(|(trial, number)| PlannedTrial { number, ..trial }).collect()
}
