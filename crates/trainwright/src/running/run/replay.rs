//! A run that takes recorded trials of another store instead of running any.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright_engine::{RecordedTrial, ReplayEngine};
use trainwright_search::{RecordedPlan, Unplanned};
use trainwright_store::{Snapshot, Store, StoredTrial};
use trainwright_study::{DesignKind, Outcome, PlannedTrial, Study, TrialRecord, TrialState};

use super::Queue;
use crate::Error;

/// An engine that ends trials as they ended in a store.
pub(super) fn engine(study: &Study, path: &Path) -> Result<ReplayEngine, Error> {
    let (snapshot, id, trials) = recorded(study, path)?;
    let trials = trials.into_iter().map(|trial| {
        let record = record(&snapshot, id, &trial)?;
        let StoredTrial { configuration, replicate, .. } = trial;
        Ok(RecordedTrial { configuration, replicate, record })
    });
    Ok(ReplayEngine::new(trials.collect::<Result<Vec<_>, Error>>()?, study.run.slots))
}

/// Proposes what was recorded there.
pub(super) fn proposer(study: &Study, path: &Path, queue: &Queue) -> Result<RecordedPlan, Error> {
    let (_, _, recorded) = recorded(study, path)?;
    let recorded: Vec<PlannedTrial> = recorded.iter().map(StoredTrial::planned).collect();
    let known: Vec<PlannedTrial> = queue.trials.iter().map(StoredTrial::planned).collect();
    let waiting: Vec<u32> = queue.left.iter().map(|trial| trial.number).collect();
    let open = study.design.kind == DesignKind::Open;
    let unplanned = if open { Unplanned::Add } else { Unplanned::LeaveOut };
    Ok(RecordedPlan::new(&recorded, &known, &waiting, unplanned))
}

/// Tells of recorded trials that the design has no place for.
pub(super) fn left_out(proposer: &RecordedPlan) -> Option<String> {
    let number = proposer.left_out();
    let trials = if number == 1 { "trial has" } else { "trials have" };
    (number > 0).then(|| format!("{number} recorded {trials} no row in the design and stay out"))
}

/// The trials of the study of that name that have ended by themselves.
fn recorded(study: &Study, path: &Path) -> Result<(Snapshot, i64, Vec<StoredTrial>), Error> {
    let none = || Error::NoResults { study: study.name.clone(), store: path.to_owned() };
    let snapshot = Store::look(path)?.ok_or_else(none)?;
    let id = snapshot.study(&study.name)?.ok_or_else(none)?.id;
    let ended = |trial: &StoredTrial| {
        matches!(trial.state, TrialState::Finished | TrialState::Diverged | TrialState::Failed)
    };
    let trials = snapshot.trials(id)?.into_iter().filter(ended).collect();
    Ok((snapshot, id, trials))
}

fn record(snapshot: &Snapshot, study: i64, trial: &StoredTrial) -> Result<TrialRecord, Error> {
    let reason = trial.reason.clone().unwrap_or_default();
    Ok(TrialRecord {
        outcome: match trial.state {
            TrialState::Diverged => Outcome::Diverged { reason },
            TrialState::Failed => Outcome::Failed { reason },
            _ => Outcome::Finished,
        },
        measurements: trial.measurements.clone(),
        usage: trial.usage.clone(),
        series: snapshot.series(study, trial.number)?,
        command: trial.command.clone(),
        environment: BTreeMap::new(),
        started_ms: trial.started_ms.unwrap_or(0),
        output_end: trial.output_end.clone().unwrap_or_default(),
        cluster: Vec::new(),
    })
}
