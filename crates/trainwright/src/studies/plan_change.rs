//! How a study differs from the one whose trials the store holds, and what becomes of them.

use std::collections::BTreeMap;

use serde::Serialize;
use trainwright_design::{Design, extend, plan};
use trainwright_store::{MovedTrial, StoredStudy, StoredTrial};
use trainwright_study::{
    ChangeEffect, Configuration, PlannedTrial, Study, StudyBasis, StudyChange, changes,
};

use crate::Error;

/// Changes of a study with trials that are refused unless the user names them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Another command, or other settings of the job, for trials that still run.
    pub command: bool,
}

impl Accepted {
    fn covers(self, name: &str) -> bool {
        name == "command" && self.command
    }
}

/// A change of a study since its trials were planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeNote {
    /// What has changed, in words.
    pub words: String,
    /// What it means for the trials that ran.
    pub meaning: ChangeMeaning,
}

/// What a change of a study means for the trials that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeMeaning {
    /// It takes effect as they are read.
    TakesEffect,
    /// Their outputs are read again.
    ReadAgain,
    /// They stay, and others join.
    Grows,
    /// They stay if the user accepts it by name.
    NeedsAcceptance,
    /// The study must have another name or store.
    Refused,
}

impl ChangeMeaning {
    /// The meaning in words that follow the change.
    pub fn words(self) -> &'static str {
        match self {
            Self::TakesEffect => "it takes effect",
            Self::ReadAgain => "the outputs of ended trials will be read again",
            Self::Grows => "the trials that ran stay",
            Self::NeedsAcceptance => "`run` refuses it unless it is told --accept command",
            Self::Refused => "`run` will refuse it; give the study another name or --store",
        }
    }
}

/// What a study changes in the plan that the store holds.
pub(crate) struct PlanChange {
    pub(crate) changes: Vec<StudyChange>,
    /// Configurations that gained factors which have joined since, by trial.
    pub(crate) joined: Vec<(u32, Configuration)>,
    pub(crate) moved: Vec<MovedTrial>,
    /// Trials that were planned, never ran and are wanted no more.
    pub(crate) forgotten: Vec<u32>,
    /// The trials that stay, as they are now.
    pub(crate) trials: Vec<StoredTrial>,
    /// A trial that ran and has no row any more.
    homeless: Option<Configuration>,
    /// Whether blocks keep the plan from being drawn anew.
    blocked: bool,
}

impl PlanChange {
    /// Compares a study with what is kept of it.
    ///
    /// # Errors
    /// What is kept does not read.
    pub(crate) fn of(
        known: &StoredStudy,
        mut trials: Vec<StoredTrial>,
        study: &Study,
        design: &Design,
    ) -> Result<Self, Error> {
        let old: StudyBasis = serde_json::from_value(known.fixed.clone())
            .map_err(|source| Error::Kept { study: study.name.clone(), source })?;
        let changes = changes(&old, &study.basis());
        let mut joined = Vec::new();
        if changes.iter().any(|change| matches!(change, StudyChange::FactorAdded { .. })) {
            for trial in &mut trials {
                trial.configuration = study.with_earlier_values(&trial.configuration);
                joined.push((trial.number, trial.configuration.clone()));
            }
        }
        let grows = changes.iter().any(|change| change.effect() == ChangeEffect::Grows);
        let most = if grows { 0 } else { study.design.replications };
        let unwanted =
            |trial: &StoredTrial| !trial.has_run() && trial.row.is_some() && trial.replicate > most;
        let forgotten =
            trials.iter().filter(|trial| unwanted(trial)).map(|trial| trial.number).collect();
        trials.retain(|trial| !unwanted(trial));
        let (moved, homeless) =
            if grows { places(&trials, study, design) } else { (Vec::new(), None) };
        move_trials(&mut trials, &moved);
        // Rows of a block ran together, so that blocks cannot be drawn anew.
        let blocked = grows && study.design.additions.blocks.is_some();
        Ok(Self { changes, joined, moved, forgotten, trials, homeless, blocked })
    }

    /// Whether outputs must be read again.
    pub(crate) fn rereads(&self) -> bool {
        self.changes.iter().any(|change| change.effect() == ChangeEffect::Rereads)
    }

    /// Names of the metrics whose rules have changed.
    pub(crate) fn changed_rules(&self) -> Vec<&str> {
        let changed = self.changes.iter().filter_map(|change| match change {
            StudyChange::MetricAdded { name } | StudyChange::MetricRuleChanged { name } => {
                Some(name.as_str())
            }
            _ => None,
        });
        changed.collect()
    }

    /// Every change in words.
    pub(crate) fn words(&self) -> Vec<String> {
        self.changes.iter().map(StudyChange::words).collect()
    }

    /// Every change with what it means.
    pub(crate) fn notes(&self) -> Vec<ChangeNote> {
        let lost = self.homeless.is_some() || self.blocked;
        let note = |change: &StudyChange| ChangeNote {
            words: change.words(),
            meaning: match change.effect() {
                _ if !self.has_run() => ChangeMeaning::TakesEffect,
                ChangeEffect::OnReading => ChangeMeaning::TakesEffect,
                ChangeEffect::Rereads => ChangeMeaning::ReadAgain,
                ChangeEffect::Grows if lost => ChangeMeaning::Refused,
                ChangeEffect::Grows => ChangeMeaning::Grows,
                ChangeEffect::NeedsAcceptance(_) => ChangeMeaning::NeedsAcceptance,
                ChangeEffect::Refused => ChangeMeaning::Refused,
            },
        };
        self.changes.iter().map(note).collect()
    }

    /// Whether any trial would be lost or mixed with others of another kind.
    ///
    /// # Errors
    /// The changes that are refused, with what to do about each.
    pub(crate) fn check(&self, study: &Study, accepted: Accepted) -> Result<(), Error> {
        if !self.has_run() {
            return Ok(());
        }
        let refused = |change: &&StudyChange| match change.effect() {
            ChangeEffect::Refused => true,
            ChangeEffect::NeedsAcceptance(name) => !accepted.covers(name),
            ChangeEffect::Grows => self.homeless.is_some() || self.blocked,
            ChangeEffect::OnReading | ChangeEffect::Rereads => false,
        };
        let told = |change: &StudyChange| match change.help() {
            Some(help) => format!("{}; {help}", change.words()),
            None => change.words(),
        };
        let changes: Vec<String> = self.changes.iter().filter(refused).map(told).collect();
        if changes.is_empty() {
            return Ok(());
        }
        let (study, missing) = (study.name.clone(), self.homeless.clone());
        Err(Error::Changed { study, changes, missing })
    }

    fn has_run(&self) -> bool {
        self.trials.iter().any(StoredTrial::has_run)
    }
}

/// The trials that a study lacks.
pub(crate) fn new_trials(
    known: &[StoredTrial],
    study: &Study,
    design: &Design,
) -> Vec<PlannedTrial> {
    let existing: Vec<PlannedTrial> =
        known.iter().filter(|trial| trial.row.is_some()).map(StoredTrial::planned).collect();
    if existing.is_empty() && known.is_empty() {
        return plan(study, design);
    }
    // Results outside the design have numbers too, which new trials must not take.
    let last = known.iter().map(|trial| trial.number).max().unwrap_or(0);
    let all = extend(&existing, study, design).into_iter().skip(existing.len());
    all.zip(last + 1..).map(|(trial, number)| PlannedTrial { number, ..trial }).collect()
}

/// Places of the trials that ran in a changed design, and one that has none.
fn places(
    trials: &[StoredTrial],
    study: &Study,
    design: &Design,
) -> (Vec<MovedTrial>, Option<Configuration>) {
    let mut free: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    let rows: Vec<(u32, String)> =
        (1..).zip(design.rows().iter().map(Configuration::identity)).collect();
    for replicate in (1..=study.design.replications).rev() {
        for (row, identity) in rows.iter().rev() {
            free.entry(identity.clone()).or_default().push((*row, replicate));
        }
    }
    let (mut moved, mut homeless) = (Vec::new(), None);
    for trial in trials.iter().filter(|trial| trial.has_run()) {
        // Results from outside the design stay outside unless a row has come to meet them.
        let cell = free.get_mut(&trial.configuration.identity()).and_then(Vec::pop);
        if cell.is_none() && trial.row.is_some() {
            homeless.get_or_insert_with(|| trial.configuration.clone());
        }
        moved.push(MovedTrial { number: trial.number, cell });
    }
    (moved, homeless)
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
