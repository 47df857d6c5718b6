//! A study whose trials are planned in its store: what `run` and `import` begin with.

use std::collections::BTreeMap;

use serde_json::Value;
use trainwright_design::{Design, extend, plan};
use trainwright_store::{MovedTrial, PlanUpdate, Store, StoredTrial};
use trainwright_study::{PlannedTrial, Study, differences};

use crate::{Error, Place};

/// The design of a study, with faults shown at their place in the study file.
pub fn design_of(study: &Study) -> Result<Design, Error> {
    Design::of(study).map_err(|error| {
        let key = error.key();
        let path: Vec<&str> = key.iter().map(String::as_str).collect();
        study.fault_at(&path, error.to_string(), error.help()).into()
    })
}

/// Changes of a study with trials that are refused unless the user names them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Another command, or other settings of the job, for trials that still run.
    pub command: bool,
}

/// A study whose trials are planned.
pub(crate) struct Planned {
    pub(crate) study_id: i64,
    pub(crate) trials: Vec<StoredTrial>,
    /// What has changed since they were last planned, a sentence each.
    pub(crate) changes: Vec<String>,
}

/// Keeps the study in the store and plans what is not planned yet, as one change.
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
    _place: &Place,
    _accepted: Accepted,
) -> Result<Planned, Error> {
    let mut update = PlanUpdate {
        name: &study.name,
        fixed: study.fixed_part(),
        source: &study.source.text,
        ..PlanUpdate::default()
    };
    let mut trials = Vec::new();
    let mut changes = Vec::new();
    if let Some(known) = store.study(&study.name)? {
        trials = store.trials(known.id)?;
        changes = differences(&known.fixed, &update.fixed);
        if !changes.is_empty() {
            let ran: Vec<StoredTrial> =
                trials.iter().filter(|trial| trial.has_run()).cloned().collect();
            update.moved = augmented(&ran, study, design, &changes)?;
        }
        let most = if changes.is_empty() { study.design.replications } else { 0 };
        let unwanted =
            |trial: &StoredTrial| !trial.has_run() && trial.row.is_some() && trial.replicate > most;
        update.forgotten =
            trials.iter().filter(|trial| unwanted(trial)).map(|trial| trial.number).collect();
        trials.retain(|trial| !unwanted(trial));
        move_trials(&mut trials, &update.moved);
    }
    update.added = new_trials(&trials, study, design);
    let study_id = store.update_plan(&update)?;
    Ok(Planned { study_id, trials: store.trials(study_id)?, changes })
}

fn move_trials(trials: &mut [StoredTrial], moved: &[MovedTrial]) {
    let cells: BTreeMap<u32, Option<(u32, u32)>> =
        moved.iter().map(|own| (own.number, own.cell)).collect();
    for trial in trials {
        match cells.get(&trial.number) {
            Some(Some((row, replicate))) => {
                (trial.row, trial.replicate) = (Some(*row), *replicate);
            }
            Some(None) => trial.row = None,
            None => {}
        }
    }
}

/// The trials with the rows that they have in a design changed since; as they are where it has no
/// place for them.
pub(crate) fn in_design(
    trials: Vec<StoredTrial>,
    fixed: &Value,
    study: &Study,
    design: &Design,
) -> Vec<StoredTrial> {
    let differences = differences(fixed, &study.fixed_part());
    if differences.is_empty() {
        return trials;
    }
    let ran: Vec<StoredTrial> = trials.iter().filter(|own| own.has_run()).cloned().collect();
    let Ok(places) = augmented(&ran, study, design, &differences) else { return trials };
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

/// Places of the trials that ran in a changed design.
fn augmented(
    ran: &[StoredTrial],
    study: &Study,
    design: &Design,
    differences: &[String],
) -> Result<Vec<MovedTrial>, Error> {
    let changed = |missing: Option<&StoredTrial>| Error::Changed {
        study: study.name.clone(),
        differences: differences.to_vec(),
        missing: missing.map(|trial| trial.configuration.clone()),
    };
    if ran.is_empty() {
        return Ok(Vec::new());
    }
    // Levels may be added and the design may grow; all else makes other trials of the same rows.
    // Rows of a block ran together, so that blocks cannot be drawn anew.
    let may_grow = |line: &String| {
        let grows = line.starts_with("design.kind") || line.starts_with("design.additions");
        let levels = line.starts_with("factors[") && line.contains("].levels: ");
        (grows && !line.contains("blocks")) || levels
    };
    if study.design.additions.blocks.is_some() || !differences.iter().all(may_grow) {
        return Err(changed(None));
    }
    let mut free: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    for replicate in (1..=study.design.replications).rev() {
        for (row, configuration) in (1..).zip(design.rows()).collect::<Vec<_>>().into_iter().rev() {
            free.entry(configuration.identity()).or_default().push((row, replicate));
        }
    }
    ran.iter()
        .map(|trial| {
            // Results from outside the design stay outside unless a row has come to meet them.
            let cell = free.get_mut(&trial.configuration.identity()).and_then(Vec::pop);
            match (cell, trial.row) {
                (None, Some(_)) => Err(changed(Some(trial))),
                (cell, _) => Ok(MovedTrial { number: trial.number, cell }),
            }
        })
        .collect()
}

fn new_trials(known: &[StoredTrial], study: &Study, design: &Design) -> Vec<PlannedTrial> {
    let existing: Vec<PlannedTrial> = known.iter().filter(|trial| trial.row.is_some()).map(StoredTrial::planned).collect();
    if existing.is_empty() {
        return plan(study, design);
    }
    // Imported results outside the design have numbers too, which new trials must not take.
    let last = known.iter().map(|trial| trial.number).max().unwrap_or(0);
    let all = extend(&existing, study, design).into_iter().skip(existing.len());
    all.zip(last + 1..).map(|(trial, number)| PlannedTrial { number, ..trial }).collect()
}
