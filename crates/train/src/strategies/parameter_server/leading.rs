//! The learner that the loop drives while servers have the parameters.

use std::path::Path;
use std::time::{Duration, Instant};

use trainwright_comm::{Finished, Leader, Ran, StepPlan, Stretch as Run, text_of_words};
use trainwright_networks::{BatchScore, SafeTensors};
use trainwright_records::pictures::Picture;
use trainwright_study::{Consistency, JobSpec, Seed};

use super::recording::Recorder;
use super::roles::in_words;
use super::step_words::{StepWords, score_of_words};
use crate::account::{Account, Told};
use crate::error::TrainError;
use crate::events::{Activity, RankLost, RankTimes};
use crate::learners::learner::{Evaluation, Learner, OwnedTensor, Part};
use crate::learners::served::Served;
use crate::predict::Predicted;
use crate::predict::trained::AboutNetwork;
use crate::train::stretch::{Plan, PlannedStep, StepResult, Stretch, StretchResult};

/// How long a stretch should last: at its end all workers have to be waited for.
const STRETCH: Duration = Duration::from_millis(1000);

/// Steps of the first stretch, for each worker.
const FIRST_STEPS: usize = 8;

/// Most steps of a stretch.
const MOST_STEPS: usize = 1 << 16;

/// Examples that an asynchronous worker gets at a time, so that small batches do not wait for the
/// leader; and the least number of turns that a worker should have in a stretch.
const LEASE_EXAMPLES: usize = 1024;
const TURNS: usize = 4;

/// The largest staleness that is told by itself; larger ones are counted with it.
const MOST_STALENESS: u64 = 255;

/// A learner whose parameters are with servers; what it has itself is what they had when it last
/// looked.
pub(super) struct ServedLearner<'a, L> {
    job: &'a JobSpec,
    inner: L,
    leader: Leader,
    /// Whether the servers have what the inner learner has, and the other way round.
    handed_out: bool,
    fresh: bool,
    /// Steps of the next stretch.
    steps: usize,
    /// Losses that were told.
    lost: usize,
    account: Account,
    recorder: Option<Recorder>,
}

impl<'a, L: Served> ServedLearner<'a, L> {
    /// Leads workers and servers; what is applied is written to a file where one is named.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn new(
        job: &'a JobSpec,
        inner: L,
        mut leader: Leader,
        record: Option<&Path>,
    ) -> Result<Self, TrainError> {
        let recorder = match record {
            Some(path) => {
                leader.keep_log();
                Some(Recorder::create(path, job)?)
            }
            None => None,
        };
        Ok(Self {
            job,
            inner,
            leader,
            handed_out: false,
            fresh: true,
            steps: FIRST_STEPS * job.workers as usize,
            lost: 0,
            account: Account::new(),
            recorder,
        })
    }

    /// Sends everybody home.
    ///
    /// # Errors
    /// When a server is lost.
    pub(super) fn end(mut self) -> Result<(), TrainError> {
        Ok(self.leader.end()?)
    }

    /// Gives the servers what the inner learner has, unless they have it.
    fn hand_out(&mut self) -> Result<(), TrainError> {
        if !self.handed_out {
            let parts = self.inner.hand_out(self.job.servers as usize);
            self.leader.load(&parts)?;
            self.handed_out = true;
        }
        Ok(())
    }

    /// Gets what the servers have, unless it is here.
    fn freshen(&mut self) -> Result<(), TrainError> {
        if !self.fresh {
            let stored = self.leader.store()?;
            self.inner.take_back(&stored)?;
            self.fresh = true;
        }
        Ok(())
    }

    /// The steps as the workers hear of them.
    fn plans(&self, stretch: &Stretch<'_>) -> Vec<StepPlan> {
        let (parts, mut at) = (self.leader.parts(), stretch.at);
        let plan = |planned: &PlannedStep| {
            let PlannedStep { step, examples, rate, .. } = *planned;
            let leaves = match self.job.backup {
                0 => self.inner.leaves(examples, parts),
                _ => parts,
            };
            let words = StepWords { epoch: stretch.epoch, step, at, examples, leaves, rate };
            at += examples;
            StepPlan { words: words.to_words(), rate, leaves, examples }
        };
        stretch.steps.iter().map(plan).collect()
    }

    /// Steps that an asynchronous worker gets at a time.
    fn lease(&self, steps: &[PlannedStep]) -> usize {
        let examples = steps.first().map_or(1, |planned| planned.examples);
        let fair = steps.len() / (TURNS * self.job.workers as usize);
        (LEASE_EXAMPLES / examples).min(fair).max(1)
    }

    /// Scores of the steps in the order of their updates.
    fn results(&self, ran: &Ran) -> Result<Vec<StepResult>, TrainError> {
        let score_of = |told: &Vec<u32>| score_of_words(told).ok_or(TrainError::UnknownOrder);
        let result = |finished: &Finished| {
            let mut score = BatchScore::default();
            for told in &finished.told {
                score.add(score_of(told)?);
            }
            Ok(StepResult { score, norms: None })
        };
        let mut steps = ran.finished.iter().map(result).collect::<Result<Vec<_>, TrainError>>()?;
        if let Some(void) = &ran.void {
            steps.push(StepResult { score: score_of(void)?, norms: None });
        }
        Ok(steps)
    }

    /// Workers that were lost since last told.
    fn losses(&mut self, step: u64) -> Vec<RankLost> {
        let all = self.leader.lost();
        let before = std::mem::replace(&mut self.lost, all.len());
        let left = self.job.workers as usize;
        let lost = |(at, (rank, why)): (usize, &(usize, String))| RankLost {
            why: format!("{}: {why}", in_words(self.job, *rank)),
            ranks: left - at - 1,
            step,
        };
        all.iter().enumerate().skip(before).map(lost).collect()
    }

    /// A stretch that took longer or shorter than it should makes the next one shorter or longer.
    fn adapt(&mut self, made: usize, time: Duration) {
        let wanted = made as f64 * STRETCH.as_secs_f64() / time.as_secs_f64().max(1e-6);
        let least = TURNS * self.job.workers as usize;
        self.steps = (wanted as usize).clamp(least, MOST_STEPS).min(self.steps.saturating_mul(4));
    }
}

impl<L: Served> Learner for ServedLearner<'_, L> {
    fn examples(&self) -> usize {
        self.inner.examples()
    }

    fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        self.inner.order(epoch, seed, pool)
    }

    fn next_stretch(&self, plan: &Plan<'_>) -> Vec<PlannedStep> {
        plan.steps(self.steps)
    }

    fn stretch(&mut self, stretch: Stretch<'_>) -> Result<StretchResult, TrainError> {
        let handed = Instant::now();
        self.hand_out()?;
        self.account.spent(Activity::Communication, handed, handed.elapsed());
        self.fresh = false;
        let (start, plans) = (Instant::now(), self.plans(&stretch));
        let first = stretch.steps.first().map_or(0, |planned| planned.step - 1);
        let run = Run {
            first,
            steps: &plans,
            // Whole steps are clipped by the workers that make them.
            norms: self.job.clip_norm.is_some() && self.job.consistency != Consistency::Async,
            lease: self.lease(stretch.steps),
        };
        self.account.step(first + 1);
        if let Some(recorder) = &mut self.recorder {
            recorder.parts(self.leader.parts());
        }
        let ran = self.leader.run(&run)?;
        let steps = self.results(&ran)?;
        let lost = self.losses(first + steps.len() as u64);
        if let Some(recorder) = &mut self.recorder {
            recorder.add(&stretch, &self.leader.log()?)?;
        }
        self.adapt(steps.len(), start.elapsed());
        self.account.spent(Activity::BarrierWait, start, start.elapsed());
        Ok(StretchResult { steps, waited: None, lost })
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
        (self.handed_out, self.fresh) = (false, true);
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
        let mut all = vec![self.account.told()];
        for (_, words) in self.leader.account_of_workers() {
            let text = text_of_words(&words).ok_or(TrainError::UnknownOrder)?;
            all.push(serde_json::from_str(&text).map_err(|_| TrainError::UnknownOrder)?);
        }
        let began = all[0].began;
        let first_server = 1 + self.job.workers as usize;
        for (server, account) in self.leader.account_of_servers()?.into_iter().enumerate() {
            let mut staleness = Vec::new();
            for (stale, count) in account.staleness.counts() {
                let at = stale.min(MOST_STALENESS) as usize;
                staleness.resize(at + 1, 0);
                staleness[at] += count;
            }
            let times = RankTimes {
                rank: first_server + server,
                wall_s: account.wall.as_secs_f64(),
                idle_s: account.idle.as_secs_f64(),
                communication_s: account.communication().as_secs_f64(),
                update_s: account.update.as_secs_f64(),
                pushes_waited_s: account.queue.as_secs_f64(),
                bytes_sent: account.sent,
                bytes_received: account.received,
                messages: account.messages,
                staleness,
                dropped: account.dropped,
                ..RankTimes::default()
            };
            all.push(Told { began, times, spans: Vec::new() });
        }
        Ok(all)
    }

    fn spent(&mut self, activity: Activity, from: Instant) {
        self.account.spent(activity, from, from.elapsed());
    }
}
