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
    /// It must say which value the trials so far had.
    NeedsBefore,
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
            Self::NeedsBefore => {
                "`run` will refuse it; say by `before = VALUE` in its table which value the trials so far had"
            }
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
            StudyChange::MetricAdded { name, is_formula: false }
            | StudyChange::MetricRuleChanged { name } => Some(name.as_str()),
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
                ChangeEffect::Refused => match change {
                    StudyChange::FactorAdded { .. } => ChangeMeaning::NeedsBefore,
                    _ => ChangeMeaning::Refused,
                },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::planned::design_of;
    use crate::studies::tests::{TWO_BY_TWO, finished, kept, planned_trials, study};

    /// The change from one study file to another when the first `ran` trials are finished.
    fn change(old: &str, new: &str, ran: usize) -> PlanChange {
        let (old, new) = (study(old), study(new));
        let trials = planned_trials(&old).into_iter().enumerate();
        let trials = trials.map(|(at, own)| if at < ran { finished(own, 1.0) } else { own });
        let design = design_of(&new).unwrap();
        PlanChange::of(&kept(&old), trials.collect(), &new, &design).unwrap()
    }

    fn changed(from: &str, to: &str) -> String {
        assert!(TWO_BY_TWO.contains(from), "{from}");
        TWO_BY_TWO.replace(from, to)
    }

    fn meanings(change: &PlanChange) -> Vec<ChangeMeaning> {
        change.notes().iter().map(|note| note.meaning).collect()
    }

    fn refusal(change: &PlanChange, new: &str) -> String {
        change.check(&study(new), Accepted::default()).unwrap_err().to_string()
    }

    #[test]
    fn the_same_study_changes_nothing() {
        let own = change(TWO_BY_TWO, TWO_BY_TWO, 3);
        assert!(own.changes.is_empty() && own.notes().is_empty() && !own.rereads());
        assert!(own.forgotten.is_empty() && own.moved.is_empty() && own.joined.is_empty());
        assert_eq!(own.trials.len(), 8);
        assert!(
            new_trials(&own.trials, &study(TWO_BY_TWO), &design_of(&study(TWO_BY_TWO)).unwrap())
                .is_empty()
        );
    }

    #[test]
    fn fewer_replications_forget_only_what_never_ran() {
        let fewer = changed("replications = 2", "replications = 1");
        let own = change(TWO_BY_TWO, &fewer, 0);
        assert_eq!((own.forgotten.len(), own.trials.len()), (4, 4));
        assert!(own.trials.iter().all(|trial| trial.replicate == 1));
        let own = change(TWO_BY_TWO, &fewer, 8);
        assert!(own.forgotten.is_empty());
        assert!(own.check(&study(&fewer), Accepted::default()).is_ok());
    }

    #[test]
    fn more_replications_plan_only_the_further_ones() {
        let more = study(&changed("replications = 2", "replications = 3"));
        let design = design_of(&more).unwrap();
        let known = planned_trials(&study(TWO_BY_TWO));
        let added = new_trials(&known, &more, &design);
        let numbers: Vec<u32> = added.iter().map(|trial| trial.number).collect();
        assert_eq!(numbers, [9, 10, 11, 12]);
        assert!(added.iter().all(|trial| trial.replicate == 3));
    }

    #[test]
    fn a_new_level_keeps_what_ran_and_plans_the_rest_anew() {
        let text = changed("levels = [1, 2]", "levels = [1, 2, 3]");
        let own = change(TWO_BY_TWO, &text, 3);
        assert_eq!(meanings(&own), [ChangeMeaning::Grows]);
        assert_eq!(own.words(), ["the factor `a` has the new level 3"]);
        assert_eq!((own.trials.len(), own.forgotten.len(), own.moved.len()), (3, 5, 3));
        let (new, design) = (study(&text), design_of(&study(&text)).unwrap());
        for trial in &own.trials {
            let row = &design.rows()[trial.row.unwrap() as usize - 1];
            assert_eq!(row.identity(), trial.configuration.identity());
        }
        let added = new_trials(&own.trials, &new, &design);
        assert_eq!(added.len(), 6 * 2 - 3);
        assert_eq!(added[0].number, 4, "numbers go on after those that ran");
    }

    #[test]
    fn a_level_that_ran_cannot_be_taken_away() {
        let text = changed("levels = [1, 2]", "levels = [2, 3]");
        let own = change(TWO_BY_TWO, &text, 8);
        assert!(own.notes().iter().all(|note| note.meaning == ChangeMeaning::Refused));
        let words = refusal(&own, &text);
        assert!(
            words.starts_with("the study `demo` has changed since its trials ran; "),
            "{words}"
        );
        assert!(words.contains("the factor `a` no longer has the level 1"), "{words}");
        assert!(words.contains("no row left for the trial that ran a=1 b="), "{words}");
        // Before anything has run, it may.
        let own = change(TWO_BY_TWO, &text, 0);
        assert!(own.check(&study(&text), Accepted::default()).is_ok());
        assert!(meanings(&own).iter().all(|own| *own == ChangeMeaning::TakesEffect));
    }

    #[test]
    fn another_command_is_accepted_by_name_alone() {
        let text = changed("./train", "./train2");
        let own = change(TWO_BY_TWO, &text, 1);
        assert_eq!(meanings(&own), [ChangeMeaning::NeedsAcceptance]);
        let words = refusal(&own, &text);
        assert!(words.contains("accept it with --accept command"), "{words}");
        assert!(own.check(&study(&text), Accepted { command: true }).is_ok());
    }

    #[test]
    fn another_seed_is_refused_whatever_is_accepted() {
        let text = changed("seed = 3", "seed = 4");
        let own = change(TWO_BY_TWO, &text, 1);
        assert_eq!(meanings(&own), [ChangeMeaning::Refused]);
        let error = own.check(&study(&text), Accepted { command: true }).unwrap_err();
        assert!(error.to_string().contains("  the seed is now 4; it was 3"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn another_rule_of_a_metric_reads_outputs_again() {
        let text = changed("from = \"stdout\"", "from = \"regex\"\nmatch = 'y=(?P<value>\\S+)'");
        let own = change(TWO_BY_TWO, &text, 1);
        assert!(own.rereads());
        assert_eq!(own.changed_rules(), ["y"]);
        assert_eq!(meanings(&own), [ChangeMeaning::ReadAgain]);
        assert!(own.check(&study(&text), Accepted::default()).is_ok());
    }

    #[test]
    fn a_factor_that_joins_needs_the_value_that_trials_had() {
        let joined = |more: &str| {
            changed("[design]", &format!("[factors.c]\nlevels = [7, 8]\n{more}[design]"))
                .replace("\"{b}\"]", "\"{b}\", \"{c}\"]")
        };
        let text = joined("");
        let own = change(TWO_BY_TWO, &text, 2);
        assert!(refusal(&own, &text).contains("say with `before` in [factors.c]"));
        let text = joined("before = 8\n");
        let own = change(TWO_BY_TWO, &text, 2);
        assert_eq!(own.joined.len(), 8);
        assert!(own.trials.iter().all(|trial| trial.configuration.to_string().ends_with(" c=8")));
        let meaning = |words: &str| {
            let notes = own.notes();
            notes.iter().find(|note| note.words.contains(words)).map(|note| note.meaning)
        };
        assert_eq!(meaning("`c` has joined"), Some(ChangeMeaning::Grows));
    }

    #[test]
    fn results_from_outside_the_design_keep_their_numbers() {
        let own = study(TWO_BY_TWO);
        let mut known = planned_trials(&own);
        known.truncate(1);
        known[0] = finished(known[0].clone(), 1.0);
        (known[0].row, known[0].number) = (None, 40);
        let added = new_trials(&known, &own, &design_of(&own).unwrap());
        assert_eq!(added.iter().map(|trial| trial.number).min(), Some(41));
    }

    #[test]
    fn what_is_kept_and_does_not_read_is_told() {
        let own = study(TWO_BY_TWO);
        let known = StoredStudy { fixed: serde_json::json!({"factors": 3}), ..kept(&own) };
        let found = PlanChange::of(&known, Vec::new(), &own, &design_of(&own).unwrap());
        let error = found.err().unwrap();
        assert!(
            error.to_string().starts_with("what the store keeps of the study `demo` is damaged: ")
        );
        assert_eq!(error.exit_code(), 3);
    }
}
