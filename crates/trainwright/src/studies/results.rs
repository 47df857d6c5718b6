//! Reading a study's trials back: what `status`, `logs`, `export`, `analyze` and `report` share.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright_analysis::{TrialUse, UsageAccount};
use trainwright_design::Design;
use trainwright_store::{Progress, Snapshot, StoredTrial};
use trainwright_study::{
    AnalysisSpec, Capacities, ClusterTask, DivergedTrials, Machine, Observation, Series, Study,
    TrialState,
};

use crate::questions::machine::{kept_capacities, link_bytes_per_s};
use crate::running::lock::Lock;
use crate::studies::derived::derived_trial;
use crate::studies::plan_change::{Accepted, PlanChange};
use crate::studies::planned::design_of;
use crate::studies::rereading::{apply, reread};
use crate::trainings::job::kept_account;
use crate::{Error, Place};

/// A study with its design and what the store holds of it at one moment.
///
/// Formulas are computed when trials are read, so that a changed one takes effect at once.
pub struct Results {
    /// The design.
    pub design: Design,
    /// Trials in run order.
    pub trials: Vec<StoredTrial>,
    /// Where they are kept.
    pub place: Place,
    /// What reading outputs again by changed rules brought, a sentence each.
    pub changes: Vec<String>,
    /// What the study asks of the measurements.
    analysis: AnalysisSpec,
    snapshot: Snapshot,
    study_id: i64,
    /// Learning curves by trial, where outputs were read again.
    curves: BTreeMap<u32, Vec<Series>>,
}

impl Results {
    /// Reads the results of a study.
    ///
    /// # Errors
    /// There are none, or the store cannot be read.
    pub fn read(study: &Study, store: Option<&Path>) -> Result<Self, Error> {
        let design = design_of(study)?;
        let place = Place::of(study, store);
        let none = || Error::NoResults { study: study.name.clone(), store: place.store.clone() };
        let snapshot = place.look()?.ok_or_else(none)?;
        let known = snapshot.study(&study.name)?.ok_or_else(none)?;
        let stored = snapshot.trials(known.id)?;
        let change = PlanChange::of(&known, stored.clone(), study, &design)?;
        // A change that the next run would refuse leaves the trials as they are.
        let mut trials = if change.check(study, Accepted { command: true }).is_ok() {
            change.trials.clone()
        } else {
            stored
        };
        let (mut changes, mut curves) = (Vec::new(), BTreeMap::new());
        if change.rereads() {
            let (reread, sentences) = reread(study, &place, &change);
            apply(&mut trials, &reread);
            curves = reread.into_iter().map(|own| (own.number, own.curves)).collect();
            changes = sentences;
        }
        let trials = trials.into_iter().map(|trial| derived_trial(study, trial)).collect();
        let analysis = study.analysis.clone();
        Ok(Self { design, trials, analysis, place, changes, snapshot, study_id: known.id, curves })
    }

    /// The trials reduced to what analysis needs; diverged ones count as finished where the study
    /// says so and they have a response.
    pub fn observations(&self) -> Vec<Observation> {
        let observation = |trial: &StoredTrial| {
            let mut own = trial.observation();
            let measured = own.values.contains_key(&self.analysis.response);
            let counts = self.analysis.diverged == DivergedTrials::Count && measured;
            if counts && own.state == TrialState::Diverged {
                own.state = TrialState::Finished;
            }
            own
        };
        let counted = self.trials.iter().filter(|trial| trial.excluded.is_none());
        counted.map(observation).collect()
    }

    /// Trials that somebody left out of the analysis, with the reasons.
    pub(crate) fn excluded(&self) -> Vec<(u32, String)> {
        let own = self.trials.iter().filter_map(|own| Some((own.number, own.excluded.clone()?)));
        own.collect()
    }

    /// Finished trials by the command that they ran, before factors were filled in.
    pub(crate) fn commands(&self) -> Vec<Vec<u32>> {
        let mut groups: Vec<(&serde_json::Value, Vec<u32>)> = Vec::new();
        let counted =
            |trial: &&StoredTrial| trial.state == TrialState::Finished && trial.excluded.is_none();
        for trial in self.trials.iter().filter(counted) {
            let Some(own) = &trial.circumstances else { continue };
            match groups.iter_mut().find(|(task, _)| **task == own.task) {
                Some((_, trials)) => trials.push(trial.number),
                None => groups.push((&own.task, vec![trial.number])),
            }
        }
        groups.into_iter().map(|(_, trials)| trials).collect()
    }

    /// Where a cluster ran trials of the study.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn cluster_tasks(&self) -> Result<Vec<ClusterTask>, Error> {
        let tasks = self.snapshot.cluster_tasks(self.study_id)?;
        Ok(tasks.into_iter().map(|(_, task)| task).collect())
    }

    /// What trials used of the machine, and what it can do where all ran on one whose capacities
    /// were measured. Imported trials used nothing here.
    pub(crate) fn uses(&self) -> Result<(Vec<TrialUse>, Option<Capacities>), Error> {
        let capacities = match self.machines()?.as_slice() {
            [machine] => kept_capacities(machine),
            _ => None,
        };
        let link_bytes_per_s = capacities.as_ref().and_then(|_| link_bytes_per_s());
        let used = |trial: &StoredTrial| {
            let usage =
                UsageAccount { link_bytes_per_s, ..UsageAccount::of(trial.usage.as_ref()?) };
            let training = kept_account(&self.place.trial(trial.number));
            Some(TrialUse { trial: trial.number, usage, training })
        };
        Ok((self.trials.iter().filter_map(used).collect(), capacities))
    }

    /// Number of trials in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state == state).count()
    }

    /// Cores of the smallest machine that ran trials, where the store knows it.
    pub(crate) fn fewest_cores(&self) -> Result<Option<u32>, Error> {
        let machines = self.machines()?;
        Ok(machines.iter().map(|machine| machine.cores).filter(|cores| *cores > 0).min())
    }

    /// The learning curves and telemetry of a trial.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn series(&self, number: u32) -> Result<Vec<Series>, Error> {
        let mut series = self.snapshot.series(self.study_id, number)?;
        if let Some(curves) = self.curves.get(&number) {
            series.retain(|own| !own.name.starts_with("metric."));
            series.extend(curves.iter().cloned());
        }
        Ok(series)
    }

    /// The machines that trials ran on.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn machines(&self) -> Result<Vec<Machine>, Error> {
        Ok(self.snapshot.machines(self.study_id)?)
    }

    /// What the running trials last told.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn progress(&self) -> Result<Vec<Progress>, Error> {
        Ok(self.snapshot.progress(self.study_id)?)
    }

    /// A number that every change to the store raises; the same number, the same results.
    pub fn change(&self) -> i64 {
        self.snapshot.change()
    }

    /// The process that runs the study at this moment.
    pub fn runner(&self) -> Option<u32> {
        Lock::holder(&self.place.trials)
    }

    /// The trial of that number.
    ///
    /// # Errors
    /// There is none.
    pub fn trial(&self, study: &Study, number: u32) -> Result<&StoredTrial, Error> {
        self.trials.iter().find(|trial| trial.number == number).ok_or_else(|| {
            let last = self.trials.iter().map(|trial| trial.number).max().unwrap_or(0);
            Error::NoSuchTrial { study: study.name.clone(), trial: number, last }
        })
    }
}
