//! A study whose trials are planned in its store: what `run` and `import` begin with.

use std::collections::BTreeMap;

use serde_json::Value;
use trainwright_design::{Design, extend, plan};
use trainwright_store::{MovedTrial, Store, StoredTrial};
use trainwright_study::{
    ChangeEffect, Configuration, PlannedTrial, Study, StudyBasis, StudyChange, changes,
};

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
/// A changed design is accepted where it still has every trial that ran: those stay, and only
/// what it has beyond them is planned.
///
/// # Errors
/// Factors, design or command changed after trials were run.
pub(crate) fn planned(
    store: &mut Store,
    study: &Study,
    design: &Design,
) -> Result<(i64, Vec<StoredTrial>), Error> {
    if let Some(known) = store.study(&study.name)? {
        let changes = changes_since(&known.fixed, study);
        if !changes.is_empty() {
            let ran: Vec<StoredTrial> =
                store.trials(known.id)?.into_iter().filter(has_run).collect();
            let places = augmented(&ran, study, design, &changes)?;
            store.forget_plan(known.id, 0)?;
            store.move_to_cells(known.id, &places)?;
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

/// The trials with the rows that they have in a design changed since; as they are where it has no
/// place for them.
pub(crate) fn in_design(
    trials: Vec<StoredTrial>,
    fixed: &Value,
    study: &Study,
    design: &Design,
) -> Vec<StoredTrial> {
    let changes = changes_since(fixed, study);
    if changes.is_empty() {
        return trials;
    }
    let ran: Vec<StoredTrial> = trials.iter().filter(|own| has_run(own)).cloned().collect();
    let Ok(places) = augmented(&ran, study, design, &changes) else { return trials };
    let places: BTreeMap<u32, Option<(u32, u32)>> =
        places.into_iter().map(|own| (own.number, own.cell)).collect();
    let moved = trials.into_iter().map(|trial| match places.get(&trial.number) {
        Some(Some((row, replicate))) => {
            StoredTrial { row: Some(*row), replicate: *replicate, ..trial }
        }
        // The next run plans the others anew.
        _ => StoredTrial { row: None, ..trial },
    });
    moved.collect()
}

/// Changes of the rows and of what they run; what takes effect on reading is none of the plan.
fn changes_since(fixed: &Value, study: &Study) -> Vec<StudyChange> {
    use ChangeEffect::{OnReading, Rereads};
    let Ok(old) = serde_json::from_value::<StudyBasis>(fixed.clone()) else { return Vec::new() };
    let of_plan = |change: &StudyChange| !matches!(change.effect(), OnReading | Rereads);
    changes(&old, &study.basis()).into_iter().filter(of_plan).collect()
}

fn has_run(trial: &StoredTrial) -> bool {
    trial.attempts > 0 || trial.imported
}

/// Places of the trials that ran in a changed design.
fn augmented(
    ran: &[StoredTrial],
    study: &Study,
    design: &Design,
    changes: &[StudyChange],
) -> Result<Vec<MovedTrial>, Error> {
    let changed = |missing: Option<&StoredTrial>| Error::Changed {
        study: study.name.clone(),
        differences: changes.iter().map(StudyChange::words).collect(),
        missing: missing.map(|trial| trial.configuration.clone()),
    };
    if ran.is_empty() {
        return Ok(Vec::new());
    }
    // Rows of a block ran together, so that blocks cannot be drawn anew.
    let blocked = study.design.additions.blocks.is_some();
    if blocked || !changes.iter().all(|change| change.effect() == ChangeEffect::Grows) {
        return Err(changed(None));
    }
    let mut free: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    for replicate in (1..=study.design.replications).rev() {
        for (row, configuration) in (1..).zip(design.rows()).collect::<Vec<_>>().into_iter().rev() {
            free.entry(key(configuration)).or_default().push((row, replicate));
        }
    }
    ran.iter()
        .map(|trial| {
            // Results from outside the design stay outside unless a row has come to meet them.
            let cell = free.get_mut(&key(&trial.configuration)).and_then(Vec::pop);
            match (cell, trial.row) {
                (None, Some(_)) => Err(changed(Some(trial))),
                (cell, _) => Ok(MovedTrial { number: trial.number, cell }),
            }
        })
        .collect()
}

/// A configuration as a text that is the same however its numbers are spelled.
fn key(configuration: &Configuration) -> String {
    let mut pairs: Vec<String> = configuration
        .iter()
        .map(|(name, level)| match level.number() {
            Some(number) => format!("{name}={number}"),
            None => format!("{name}={level:?}"),
        })
        .collect();
    pairs.sort_unstable();
    pairs.join(" ")
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
