//! A recorded run computed again, by one process, to the bit.
//!
//! Workers and servers are not there: each gradient is computed from the versions that it was
//! computed from then, and each server's updates are made in their recorded order.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use trainwright_comm::{Gradients, Owner, Push};
use trainwright_networks::{BatchScore, SafeTensors};
use trainwright_records::pictures::Picture;
use trainwright_study::{Consistency, JobSpec, Seed};

use super::recording::{Made, Record, Update, Used};
use crate::account::{Account, Told};
use crate::error::TrainError;
use crate::events::Activity;
use crate::learners::learner::{Evaluation, Learner, OwnedTensor, Part};
use crate::learners::served::{Pupil, Served, Work};
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::train::stretch::{Chosen, Plan, PlannedStep, StepResult, Stretch, StretchResult};

/// A learner that computes a recorded run again.
pub(super) struct ReplayedLearner<'a, L, P, O> {
    job: &'a JobSpec,
    inner: L,
    pupil: P,
    owners: Vec<O>,
    record: Record,
    /// The stretch that comes next.
    made: Option<Made>,
    handed_out: bool,
    account: Account,
}

/// Which share of a stretch: updates before its step, and its part.
type Share = (u64, u32);

/// Rows and their gradients.
type RowGradients = (Vec<u32>, Vec<f32>);

/// Shares on their way from numbers to gradients.
struct Bench {
    /// For each server, the shares that are computed from a version, until it was there.
    due: Vec<HashMap<u64, Vec<Used>>>,
    /// Numbers of each server that a share is computed from, as far as they are there.
    seen: HashMap<Share, Vec<Option<Vec<f32>>>>,
    /// Rows and gradients for each server.
    gradients: HashMap<Share, Vec<RowGradients>>,
    scores: HashMap<Share, BatchScore>,
}

impl Bench {
    fn new(made: &Made) -> Self {
        let of_server = |updates: &Vec<Update>| {
            let mut due: HashMap<u64, Vec<Used>> = HashMap::new();
            for used in updates.iter().flatten() {
                due.entry(used.pulled).or_default().push(*used);
            }
            due
        };
        Self {
            due: made.servers.iter().map(of_server).collect(),
            seen: HashMap::new(),
            gradients: HashMap::new(),
            scores: HashMap::new(),
        }
    }
}

impl<'a, L: Served, P: Pupil, O: Owner> ReplayedLearner<'a, L, P, O> {
    /// Computes the run in a file again.
    ///
    /// # Errors
    /// When the file cannot be read, or is of another job.
    pub(super) fn new(
        job: &'a JobSpec,
        inner: L,
        pupil: P,
        owners: Vec<O>,
        path: &Path,
    ) -> Result<Self, TrainError> {
        let mut record = Record::open(path, job)?;
        let made = Some(record.next()?);
        let account = Account::new();
        Ok(Self { job, inner, pupil, owners, record, made, handed_out: false, account })
    }

    fn hand_out(&mut self) {
        if !self.handed_out {
            let parts = self.inner.hand_out(self.owners.len());
            for (owner, values) in self.owners.iter_mut().zip(&parts) {
                assert!(owner.load(values), "owners are those of the learner");
            }
            self.handed_out = true;
        }
    }

    fn freshen(&mut self) -> Result<(), TrainError> {
        let stored: Vec<Vec<f32>> = self.owners.iter_mut().map(stored).collect();
        if self.handed_out { self.inner.take_back(&stored) } else { Ok(()) }
    }

    /// Makes the updates of a stretch; the scores of its steps in the order of the first server.
    fn compute(
        &mut self,
        made: &Made,
        steps: &HashMap<u64, (PlannedStep, Chosen<'_>)>,
    ) -> Result<Vec<StepResult>, TrainError> {
        let mut bench = Bench::new(made);
        let mut versions = vec![made.first; self.owners.len()];
        let mut left = made.servers.iter().map(Vec::len).sum::<usize>();
        while left > 0 {
            self.see(made, &versions, &mut bench, steps)?;
            let done = match self.job.consistency {
                Consistency::Async => self.update_some(made, &mut versions, &bench, steps),
                Consistency::Sync | Consistency::Bounded => {
                    self.update_all(made, &mut versions, &bench, steps)
                }
            };
            if done == 0 {
                let problem = "its updates wait for each other".to_owned();
                return Err(self.record.fault(problem));
            }
            left -= done;
        }
        let result = |update: &Update| {
            let mut score = BatchScore::default();
            update.iter().for_each(|used| score.add(bench.scores[&(used.step, used.part)]));
            StepResult { score, norms: None }
        };
        Ok(made.servers[0].iter().map(result).collect())
    }

    /// Notes the numbers that shares are computed from at these versions, and computes those whose
    /// numbers are all there.
    fn see(
        &mut self,
        made: &Made,
        versions: &[u64],
        bench: &mut Bench,
        steps: &HashMap<u64, (PlannedStep, Chosen<'_>)>,
    ) -> Result<(), TrainError> {
        let servers = self.owners.len();
        for server in 0..servers {
            for used in &bench.due[server].remove(&versions[server]).unwrap_or_default() {
                let share = (used.step, used.part);
                self.pupil.look_at(&self.work(made, used, steps)?);
                let mut values = Vec::new();
                let rows = self.pupil.wanted().map(|rows| &rows[server][..]);
                self.owners[server].read(rows, &mut values);
                let seen = bench.seen.entry(share).or_insert_with(|| vec![None; servers]);
                seen[server] = Some(values);
                if seen.iter().all(Option::is_some) {
                    self.learn(made, used, bench, steps)?;
                }
            }
        }
        Ok(())
    }

    /// Computes the gradients of a share.
    fn learn(
        &mut self,
        made: &Made,
        used: &Used,
        bench: &mut Bench,
        steps: &HashMap<u64, (PlannedStep, Chosen<'_>)>,
    ) -> Result<(), TrainError> {
        let (work, share) = (self.work(made, used, steps)?, (used.step, used.part));
        for (server, values) in bench.seen.remove(&share).into_iter().flatten().enumerate() {
            self.pupil.take(server, &values.unwrap_or_default())?;
        }
        let Self { pupil, account, .. } = self;
        let score = account.timed(Activity::Compute, || pupil.learn(&work))?;
        bench.scores.insert(share, score);
        let own = |server: usize| {
            let (rows, values) = pupil.push(server);
            (rows.to_vec(), values.to_vec())
        };
        bench.gradients.insert(share, (0..self.owners.len()).map(own).collect());
        Ok(())
    }

    /// Makes the updates whose gradients are there, of each server by itself; tells how many.
    fn update_some(
        &mut self,
        made: &Made,
        versions: &mut [u64],
        bench: &Bench,
        steps: &HashMap<u64, (PlannedStep, Chosen<'_>)>,
    ) -> usize {
        let mut done = 0;
        for server in 0..self.owners.len() {
            let at = (versions[server] - made.first) as usize;
            let Some(update) = made.servers[server].get(at) else { continue };
            let Some(rate) = self.sum(made, (server, versions[server]), update, bench, steps)
            else {
                continue;
            };
            let Self { owners, account, .. } = self;
            account.timed(Activity::Update, || owners[server].update(rate, None));
            versions[server] += 1;
            done += 1;
        }
        done
    }

    /// Makes the next update of all servers, where its gradients are there; tells how many.
    fn update_all(
        &mut self,
        made: &Made,
        versions: &mut [u64],
        bench: &Bench,
        steps: &HashMap<u64, (PlannedStep, Chosen<'_>)>,
    ) -> usize {
        let (at, mut rate) = ((versions[0] - made.first) as usize, 0.0);
        for server in 0..self.owners.len() {
            let update = made.servers[server].get(at);
            let summed =
                update.and_then(|own| self.sum(made, (server, versions[0]), own, bench, steps));
            let Some(own) = summed else { return 0 };
            rate = own;
        }
        let norm = self.job.clip_norm.map(|_| {
            let squares = self.owners.iter_mut().flat_map(O::squares);
            squares.sum::<f64>().sqrt()
        });
        self.owners.iter_mut().for_each(|owner| owner.update(rate, norm));
        versions.iter_mut().for_each(|version| *version += 1);
        versions.len()
    }

    /// Adds up the gradients of an update at a server; tells the rate, or nothing where some are
    /// not there yet.
    fn sum(
        &mut self,
        made: &Made,
        (server, due): (usize, u64),
        update: &Update,
        bench: &Bench,
        steps: &HashMap<u64, (PlannedStep, Chosen<'_>)>,
    ) -> Option<f64> {
        let parts = update.len();
        // An asynchronous update is a step by itself; else it is the one that is due.
        let step = if self.job.consistency == Consistency::Async { update[0].step } else { due };
        let planned = steps.get(&step)?.0;
        let leaves = match self.job.backup {
            0 => self.inner.leaves(planned.examples, made.parts),
            _ => parts,
        };
        let push = |used: &Used| -> Option<Push<'_>> {
            let (rows, values) = &bench.gradients.get(&(used.step, used.part))?[server];
            Some(Push { part: used.part as usize, parts: made.parts, leaves, rows, values })
        };
        let pushes = update.iter().map(push).collect::<Option<Vec<_>>>()?;
        self.owners[server].sum(&Gradients { leaves, pushes });
        Some(planned.rate)
    }

    fn work<'b>(
        &self,
        made: &Made,
        used: &Used,
        steps: &HashMap<u64, (PlannedStep, Chosen<'b>)>,
    ) -> Result<Work<'b>, TrainError> {
        let known = steps.get(&used.step);
        let (planned, chosen) =
            known.ok_or_else(|| self.record.fault(format!("there is no step {}", used.step)))?;
        Ok(Work {
            epoch: chosen.epoch,
            step: planned.step,
            now: chosen.now,
            next: &[],
            part: used.part as usize,
            parts: made.parts,
            apart: self.job.backup > 0,
        })
    }
}

fn stored(owner: &mut impl Owner) -> Vec<f32> {
    let mut values = Vec::new();
    owner.store(&mut values);
    values
}

impl<L: Served, P: Pupil, O: Owner> Learner for ReplayedLearner<'_, L, P, O> {
    fn examples(&self) -> usize {
        self.inner.examples()
    }

    fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        self.inner.order(epoch, seed, pool)
    }

    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        plan.steps(self.made.as_ref().map_or(1, |made| made.steps))
    }

    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError> {
        self.hand_out();
        let made = match self.made.take() {
            Some(made) => made,
            None => self.record.next()?,
        };
        let first = stretch.steps.first().map_or(0, |planned| planned.step - 1);
        if made.first != first || made.servers.len() != self.owners.len() {
            let problem = format!(
                "it goes on at step {} with {} servers, the job at step {first} with {}",
                made.first,
                made.servers.len(),
                self.owners.len()
            );
            return Err(self.record.fault(problem));
        }
        let known = |(planned, chosen): (PlannedStep, _)| (planned.step - 1, (planned, chosen));
        let steps: HashMap<u64, (PlannedStep, Chosen<'_>)> = stretch.each().map(known).collect();
        let results = self.compute(&made, &steps)?;
        // Looked at now, because the next stretch is as long as it was then.
        self.made = self.record.next().ok();
        Ok(StretchResult { steps: results, waited: None, lost: Vec::new() })
    }

    fn evaluate(&mut self, part: Part<'_>) -> Result<Evaluation, TrainError> {
        self.freshen()?;
        self.inner.evaluate(part)
    }

    fn predictions(&mut self) -> Result<Vec<Predicted>, TrainError> {
        self.freshen()?;
        self.inner.predictions()
    }

    /// As they were at the last score or checkpoint, one of which the loop has before it asks.
    fn parameters(&self) -> Vec<f32> {
        self.inner.parameters()
    }

    fn memory(&mut self) -> Result<Vec<OwnedTensor>, TrainError> {
        self.freshen()?;
        self.inner.memory()
    }

    fn restore(&mut self, file: &SafeTensors) -> Result<(), TrainError> {
        self.handed_out = false;
        self.inner.restore(file)
    }

    fn export(&self) -> Vec<OwnedTensor> {
        self.inner.export()
    }

    fn onnx(&self) -> Result<Vec<u8>, TrainError> {
        self.inner.onnx()
    }

    fn about(&self) -> Option<AboutNetwork> {
        self.inner.about()
    }

    fn samples(&mut self) -> Result<Vec<Picture>, TrainError> {
        self.inner.samples()
    }

    fn account(&mut self) -> Result<Vec<Told>, TrainError> {
        Ok(vec![self.account.told()])
    }

    fn spent(&mut self, activity: Activity, from: Instant) {
        self.account.spent(activity, from, from.elapsed());
    }
}
