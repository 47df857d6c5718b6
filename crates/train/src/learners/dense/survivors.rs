//! What ranks do after the loss of one: end, or go on with those that are left.
//!
//! In an elastic job every rank has all parameters and all that the optimiser remembers, and changes
//! them only when nothing of the step can fail any more. So rank 0, without which there is no group,
//! stands at the end of a step whenever another is lost. It forms the group again, gives the others
//! what it has, and makes the step again with them.

use std::time::Instant;

use trainwright_comm::CommError;

use super::DenseLearner;
use super::exchange::Exchange;
use crate::error::TrainError;
use crate::events::{Activity, RankLost};

/// What rank 0 goes back to when a rank is lost while copies drift.
pub(super) struct Snapshot {
    parameters: Vec<f32>,
    state: Vec<f32>,
    slots: Vec<Vec<f32>>,
    steps: Option<u64>,
}

impl DenseLearner<'_> {
    /// Does what a lost rank may interrupt, again with the survivors where the job is elastic.
    pub(super) fn with_survivors<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, TrainError>,
    ) -> Result<T, TrainError> {
        loop {
            match work(self) {
                Err(TrainError::Together(error)) => self.regroup(*error)?,
                other => return other,
            }
        }
    }

    /// Forms a group with the survivors, where the job is elastic and a rank is lost.
    ///
    /// # Errors
    /// The error that came, where nothing can be done about it.
    pub(super) fn regroup(&mut self, error: CommError) -> Result<(), TrainError> {
        if !(self.elastic && matches!(error, CommError::PeerLost { .. })) {
            return Err(error.into());
        }
        let Self { ranks, account, .. } = self;
        account.timed(Activity::BarrierWait, || ranks.regroup())?;
        self.replica.move_to(self.ranks.place());
        self.handed_over = false;
        self.go_back();
        let (why, ranks) = (error.to_string(), self.ranks.place().ranks);
        self.lost.push(RankLost { why, ranks, step: self.steps_made });
        Ok(())
    }

    /// Forms the group again as soon as a loss is heard of, where the job is elastic: survivors
    /// do not wait for rank 0 for ever.
    pub(super) fn look_after(&mut self) -> Result<(), TrainError> {
        match self.ranks.check() {
            Err(error) if self.elastic => self.regroup(error),
            _ => Ok(()),
        }
    }

    /// Remembers where a stretch begins, for one that changes parameters before all have met.
    pub(super) fn remember(&mut self) {
        if !(self.elastic && matches!(self.exchange, Exchange::Drifting(_))) {
            return;
        }
        let (start, memory) = (Instant::now(), self.updater.optimizer().memory());
        self.snapshot = Some(Snapshot {
            parameters: self.parameters.to_vec(),
            state: self.state.clone(),
            slots: memory.slots.iter().map(|(_, values)| values.to_vec()).collect(),
            steps: memory.steps.map(|steps| *steps),
        });
        self.account.spent(Activity::Update, start, start.elapsed());
    }

    /// Goes back to where the stretch began.
    fn go_back(&mut self) {
        let Some(kept) = &self.snapshot else { return };
        self.parameters.copy_from_slice(&kept.parameters);
        self.state.copy_from_slice(&kept.state);
        let memory = self.updater.optimizer().memory();
        for ((_, values), kept) in memory.slots.into_iter().zip(&kept.slots) {
            values.copy_from_slice(kept);
        }
        if let (Some(steps), Some(kept)) = (memory.steps, kept.steps) {
            *steps = kept;
        }
    }
}
