//! A study whose trials are planned in its store: what `run` and `import` begin with.

use trainwright_design::Design;
use trainwright_store::{PlanUpdate, Store, StoredTrial};
use trainwright_study::Study;

use crate::studies::plan_change::{Accepted, PlanChange, new_trials};
use crate::studies::rereading::reread;
use crate::{Error, Place};

/// The design of a study, with faults shown at their place in the study file.
pub fn design_of(study: &Study) -> Result<Design, Error> {
    Design::of(study).map_err(|error| {
        let key = error.key();
        let path: Vec<&str> = key.iter().map(String::as_str).collect();
        study.fault_at(&path, error.to_string(), error.help()).into()
    })
}

/// A study whose trials are planned.
pub(crate) struct Planned {
    pub(crate) study_id: i64,
    pub(crate) trials: Vec<StoredTrial>,
    /// What has changed since they were last planned and what became of it, a sentence each.
    pub(crate) changes: Vec<String>,
}

/// Keeps the study in the store, plans what is not planned yet, and reads outputs again where the
/// rules of metrics have changed: all as one change of the store.
///
/// A changed design is accepted where it still has every trial that ran: those stay, and only
/// what it has beyond them is planned.
///
/// # Errors
/// The study has changed in a way that its trials do not survive.
pub(crate) fn planned(
    store: &mut Store,
    study: &Study,
    design: &Design,
    place: &Place,
    accepted: Accepted,
) -> Result<Planned, Error> {
    let source = study.shown_source();
    let mut update = PlanUpdate {
        name: &study.name,
        fixed: serde_json::to_value(study.basis()).expect("plain data becomes JSON"),
        source: &source,
        ..PlanUpdate::default()
    };
    let (mut trials, mut changes) = (Vec::new(), Vec::new());
    if let Some(known) = store.study(&study.name)? {
        let change = PlanChange::of(&known, store.trials(known.id)?, study, design)?;
        change.check(study, accepted)?;
        changes = change.words();
        if change.rereads() {
            let (reread, sentences) = reread(study, place, &change);
            update.reread = reread;
            changes.extend(sentences);
        }
        update.forgotten = change.forgotten;
        update.moved = change.moved;
        update.joined = change.joined;
        trials = change.trials;
    }
    update.added = new_trials(&trials, study, design);
    let study_id = store.update_plan(&update)?;
    Ok(Planned { study_id, trials: store.trials(study_id)?, changes })
}
