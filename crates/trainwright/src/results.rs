//! Reading a study's trials back: what `status`, `logs`, `export`, `analyze` and `report` share.

use std::path::Path;

use trainwright_design::Design;
use trainwright_store::{Progress, Snapshot, StoredTrial};
use trainwright_study::{Observation, Study, TrialState};

use crate::derived::derived_trial;
use crate::lock::Lock;
use crate::planned::{design_of, in_design};
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
    pub(crate) snapshot: Snapshot,
    pub(crate) study_id: i64,
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
        let trials = in_design(snapshot.trials(known.id)?, &known.fixed, study, &design);
        let trials = trials.into_iter().map(|trial| derived_trial(study, trial)).collect();
        Ok(Self { design, trials, place, snapshot, study_id: known.id })
    }

    /// The trials reduced to what analysis needs.
    pub fn observations(&self) -> Vec<Observation> {
        self.trials.iter().map(StoredTrial::observation).collect()
    }

    /// Number of trials in a state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state == state).count()
    }

    /// Cores of the smallest machine that ran trials, where the store knows it.
    pub(crate) fn fewest_cores(&self) -> Result<Option<u32>, Error> {
        let machines = self.snapshot.machines(self.study_id)?;
        Ok(machines.iter().map(|machine| machine.cores).filter(|cores| *cores > 0).min())
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
