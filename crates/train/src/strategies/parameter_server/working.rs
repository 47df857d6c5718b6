//! What a worker does: shares from the leader, numbers from the servers, gradients back.

use std::time::Instant;

use trainwright_comm::{CommError, Done, Job, Pushed, ServerWaits, WorkOrder, Worker};
use trainwright_networks::BatchScore;
use trainwright_study::{Consistency, JobSpec};

use super::step_words::{StepWords, score_to_words};
use crate::account::Account;
use crate::error::TrainError;
use crate::events::{Activity, RankTimes};
use crate::learners::served::{Pupil, Work};
use crate::train::{held_out, shuffle_seed};

/// Works until the leader ends the job.
///
/// # Errors
/// When an example cannot be read, or the leader or a server is lost.
pub(super) fn work<P: Pupil>(
    job: &JobSpec,
    mut worker: Worker,
    rank: usize,
    pupil: P,
) -> Result<(), TrainError> {
    let pool = held_out(job, pupil.examples()).0;
    let order = (0, Vec::new());
    let mut shift = Shift { job, rank, pupil, pool, order, account: Account::new(), stretch: 0 };
    let worked = shift.work(&mut worker);
    if let Err(error) = &worked {
        let lost = match error {
            TrainError::Together(error) => match **error {
                CommError::PeerLost { rank, .. } => Some(rank),
                _ => None,
            },
            _ => None,
        };
        worker.fail(&error.to_string(), lost);
    }
    worked
}

/// A worker at work.
struct Shift<'a, P> {
    job: &'a JobSpec,
    rank: usize,
    pupil: P,
    /// Examples to learn from.
    pool: Vec<u32>,
    /// The order of an epoch's examples.
    order: (u32, Vec<u32>),
    account: Account,
    /// The stretch of the last share.
    stretch: u64,
}

impl<P: Pupil> Shift<'_, P> {
    fn work(&mut self, worker: &mut Worker) -> Result<(), TrainError> {
        let mut done = Vec::new();
        loop {
            let mut asked = Instant::now();
            let mut order = worker.report(&done)?;
            done.clear();
            while order == WorkOrder::Tell {
                // Accounts are asked for when no step is under way.
                self.account.spent(Activity::Idle, asked, asked.elapsed());
                asked = Instant::now();
                let text = self.told(worker);
                order = worker.tell(&text)?;
            }
            let WorkOrder::Compute(jobs) = order else { return Ok(()) };
            if self.stretch == 0 {
                // Until the first share the leader may still wait for others.
                (self.account, asked) = (Account::new(), Instant::now());
            }
            let same = jobs.first().is_some_and(|job| job.stretch == self.stretch);
            // Between two stretches the leader scores or keeps.
            let waits = if same { Activity::BarrierWait } else { Activity::Idle };
            self.account.spent(waits, asked, asked.elapsed());
            self.stretch = jobs.first().map_or(self.stretch, |job| job.stretch);
            done = self.compute(worker, &jobs)?;
        }
    }

    /// Computes shares one after another; after one whose loss is no number, no more.
    fn compute(&mut self, worker: &mut Worker, jobs: &[Job]) -> Result<Vec<Done>, TrainError> {
        let plans = jobs.iter().map(|job| StepWords::read(&job.words));
        let plans = plans.collect::<Option<Vec<_>>>().ok_or(TrainError::UnknownOrder)?;
        let (mut done, mut pulled) = (Vec::with_capacity(jobs.len()), false);
        for (at, (job, plan)) in jobs.iter().zip(&plans).enumerate() {
            self.order_for(plan.epoch);
            self.account.step(plan.step);
            if !pulled {
                self.look_at(job, plan)?;
            }
            let (from, before) = (Instant::now(), worker.waited());
            if !pulled {
                worker.pull(job.version, self.pupil.wanted())?;
            }
            let versions: Vec<u64> =
                (0..worker.servers()).map(|server| worker.pulled(server).0).collect();
            for server in 0..worker.servers() {
                self.pupil.take(server, worker.pulled(server).1)?;
            }
            self.exchanged(from, before, worker.waited());
            let score = self.learn(job, plan)?;
            let void = !score.loss_sum.is_finite();
            if !void {
                let next = jobs.get(at + 1).zip(plans.get(at + 1));
                pulled = next.is_some();
                self.push(worker, (job, plan), &versions, next)?;
            }
            let same = versions.iter().all(|version| *version == versions[0]);
            let version = versions.first().copied().filter(|_| same);
            done.push(Done { share: job.share, version, void, words: score_to_words(score) });
            if void {
                break;
            }
        }
        Ok(done)
    }

    fn learn(&mut self, job: &Job, plan: &StepWords) -> Result<BatchScore, TrainError> {
        let Self { pupil, account, order, .. } = self;
        let had = account.before_computing();
        let (start, waited) = (Instant::now(), pupil.waited());
        let score = pupil.learn(&work_of(self.job, &order.1, job, plan)?)?;
        let input = pupil.waited() - waited;
        let computed = start.elapsed().saturating_sub(input);
        account.spent(Activity::InputWait, start, input);
        account.spent(Activity::Compute, start + input, computed);
        account.after_computing(had, computed);
        Ok(score)
    }

    /// Finds out what a share needs of the servers.
    fn look_at(&mut self, job: &Job, plan: &StepWords) -> Result<(), TrainError> {
        let Self { pupil, account, order, .. } = self;
        let work = work_of(self.job, &order.1, job, plan)?;
        account.timed(Activity::Compute, || pupil.look_at(&work));
        Ok(())
    }

    /// Counts an exchange with the servers: what they tell that it waited there, and the rest.
    fn exchanged(&mut self, from: Instant, before: ServerWaits, after: ServerWaits) {
        let all = from.elapsed();
        let version = after.version.saturating_sub(before.version).min(all);
        let turn = after.turn.saturating_sub(before.turn).min(all - version);
        self.account.spent(Activity::BarrierWait, from, version);
        self.account.spent(Activity::ServerQueue, from + version, turn);
        let rest = all - version - turn;
        self.account.spent(Activity::Communication, from + version + turn, rest);
    }

    /// Pushes the gradients of a share, and pulls for the next.
    fn push(
        &mut self,
        worker: &mut Worker,
        (job, plan): (&Job, &StepWords),
        versions: &[u64],
        next: Option<(&Job, &StepWords)>,
    ) -> Result<(), TrainError> {
        if let Some((job, plan)) = next {
            self.look_at(job, plan)?;
        }
        let (from, before) = (Instant::now(), worker.waited());
        let pushes: Vec<Pushed<'_>> = versions
            .iter()
            .enumerate()
            .map(|(server, version)| {
                let (rows, values) = self.pupil.push(server);
                Pushed { rows, values, version: *version }
            })
            .collect();
        let then = next.map(|_| self.pupil.wanted());
        worker.push(job, (plan.rate, plan.leaves), &pushes, then)?;
        self.exchanged(from, before, worker.waited());
        Ok(())
    }

    fn order_for(&mut self, epoch: u32) {
        if self.order.0 != epoch {
            let seed = shuffle_seed(self.job, epoch);
            let Self { pupil, account, pool, .. } = self;
            let order = account.timed(Activity::InputWait, || pupil.order(epoch, seed, pool));
            self.order = (epoch, order);
        }
    }

    fn told(&self, worker: &Worker) -> String {
        let (moved, told) = (worker.traffic(), self.account.told());
        let times = RankTimes {
            rank: self.rank,
            bytes_sent: moved.sent,
            bytes_received: moved.received,
            messages: moved.messages,
            ..told.times
        };
        let told = crate::account::Told { times, ..told };
        serde_json::to_string(&told).expect("numbers become JSON")
    }
}

/// The examples of a share.
fn work_of<'a>(
    spec: &JobSpec,
    order: &'a [u32],
    job: &Job,
    plan: &StepWords,
) -> Result<Work<'a>, TrainError> {
    let rest = order.get(plan.at..).ok_or(TrainError::UnknownOrder)?;
    let (now, rest) = rest.split_at_checked(plan.examples).ok_or(TrainError::UnknownOrder)?;
    // Asynchronous batches come in an order of their own.
    let next = if spec.consistency == Consistency::Async { &[] } else { rest };
    let (part, parts) = (job.share.part as usize, job.parts);
    let apart = spec.backup > 0;
    Ok(Work { epoch: plan.epoch, step: plan.step, now, next, part, parts, apart })
}
