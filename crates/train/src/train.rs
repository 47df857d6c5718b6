//! The training loop.

pub(crate) mod divergence;
pub(crate) mod early_stopping;
pub(crate) mod pace;
pub(crate) mod progress;
pub(crate) mod stopwatch;
pub(crate) mod stretch;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use trainwright_networks::BatchScore;
use trainwright_records::pictures::PixelLimit;
use trainwright_study::{JobSpec, Seed, Strategy};

use crate::account::Told;
use crate::checkpoints::keeper::Keeper;
use crate::checkpoints::{CheckpointOptions, DamagedCheckpoint};
use crate::error::TrainError;
use crate::events::{
    Activity, Diverged, DivergedScores, Done, Ended, EpochEnd, Flow, RankTimeline, RankTimes, Span,
    Step, Stopped, TrainEvent, TrainOutcome,
};
use crate::learners::learner::{Learner, Part};
use crate::outputs::export::{check_export, export};
use crate::outputs::fingerprint::parameters_hash;
use crate::outputs::tensorboard::Board;
use crate::outputs::trace::write_trace;
use crate::strategies::multi_worker::Workers;
use crate::strategies::{local_sgd, mirrored, multi_worker, one_device, parameter_server};
use crate::train::divergence::DivergedBy;
use crate::train::early_stopping::Patience;
use crate::train::pace::Pace;
use crate::train::progress::Progress;
use crate::train::stopwatch::timed;
use crate::train::stretch::{Plan, PlannedStep, StepResult, Stretch};

/// Parts of a job that draw random numbers, each from its own seed.
const SHUFFLE: u64 = 2;
const HELD_OUT: u64 = 4;

/// What is done beside training.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainOptions {
    /// Where and when the job is kept.
    pub checkpoint: Option<CheckpointOptions>,
    /// Files for the trained network: ONNX where the name ends so, else safetensors.
    pub export: Vec<PathBuf>,
    /// File for a Chrome trace of what each rank did.
    pub trace: Option<PathBuf>,
    /// Most pixels that a picture file may have; what the environment says where `None`.
    pub max_pixels: Option<PixelLimit>,
    /// How workers and servers come to the job; servers and their workers are threads where `None`.
    pub workers: Option<Workers>,
    /// How long a worker may be silent before it counts as lost; ten seconds where `None`.
    pub patience: Option<Duration>,
    /// File for a record of which gradients servers applied, by which the run can be computed again.
    pub record: Option<PathBuf>,
    /// The record of a run to be computed again.
    pub replay: Option<PathBuf>,
}

pub(crate) type Listener<'a> = &'a mut dyn FnMut(&TrainEvent) -> Flow;

/// Trains a job and tells each step, epoch and end to `on_event`.
///
/// The same job gives the same parameters, bit for bit, whatever `threads` is (asynchronous
/// updates excepted). The last batch of an epoch may be smaller than the others. Time spent in
/// `on_event` is not counted. After the last epoch a wish to stop changes nothing.
///
/// # Errors
/// When the job has a value that cannot be trained with, or its data cannot be read.
pub fn train(job: &JobSpec, on_event: Listener<'_>) -> Result<TrainOutcome, TrainError> {
    train_with(job, &TrainOptions::default(), on_event)
}

/// Trains a job as [`train`] does, keeping it on the way and its parameters at the end.
///
/// # Errors
/// As for [`train`]; and when a checkpoint or the parameters cannot be read or written.
pub fn train_with(
    job: &JobSpec,
    options: &TrainOptions,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    job.check()?;
    let again = [("--record", &options.record), ("--replay", &options.replay)];
    if let Some((option, _)) = again.into_iter().find(|own| own.1.is_some()) {
        if job.strategy != Strategy::ParameterServer {
            return Err(TrainError::OnlyServers { option, strategy: job.strategy.word() });
        }
        if job.backup > 0 {
            return Err(TrainError::NotWithBackup { option });
        }
    }
    match job.strategy {
        Strategy::OneDevice => one_device::train(job, options, on_event),
        Strategy::Mirrored => mirrored::train(job, options, on_event),
        Strategy::MultiWorker => multi_worker::train(job, options, on_event),
        Strategy::LocalSgd => local_sgd::train(job, options, on_event),
        Strategy::ParameterServer => parameter_server::train(job, options, on_event),
    }
}

/// Runs the loop of a job over a learner.
///
/// # Errors
/// As for [`train_with`].
pub(crate) fn run(
    job: &JobSpec,
    options: &TrainOptions,
    learner: &mut dyn Learner,
    load_s: f64,
    on_event: Listener<'_>,
) -> Result<TrainOutcome, TrainError> {
    for path in &options.export {
        check_export(path, learner)?;
    }
    let mut course = Course::new(job, options, learner, load_s)?;
    for damaged in std::mem::take(&mut course.damaged) {
        on_event(&TrainEvent::DamagedCheckpoint(damaged));
    }
    let outcome = course.run(on_event)?;
    if let TrainOutcome::Done(done) = &outcome {
        for path in &options.export {
            export(path, course.learner)?;
        }
        if let Some(path) = &options.trace {
            write_trace(path, &done.timelines)?;
        }
    }
    if let Some(board) = &mut course.board {
        board.end(&outcome)?;
    }
    on_event(&TrainEvent::from(outcome.clone()));
    Ok(outcome)
}

/// A job under way.
struct Course<'a> {
    job: &'a JobSpec,
    learner: &'a mut dyn Learner,
    keeper: Option<Keeper<'a>>,
    /// Checkpoints that were passed over.
    damaged: Vec<DamagedCheckpoint>,
    board: Option<Board>,
    pace: Pace,
    /// Examples to learn from.
    pool: Vec<u32>,
    /// Examples that are held out to tell when to stop.
    held_out: Vec<u32>,
    progress: Progress,
    load_s: f64,
}

/// How an epoch's steps ended.
enum StepsEnd {
    Finished,
    TimeUp,
    Over(Box<TrainOutcome>),
}

impl<'a> Course<'a> {
    fn new(
        job: &'a JobSpec,
        options: &'a TrainOptions,
        learner: &'a mut dyn Learner,
        load_s: f64,
    ) -> Result<Self, TrainError> {
        let (pool, held_out) = held_out(job, learner.examples());
        let mut pace = Pace::new(job, pool.len());
        let mut progress = Progress::start(job.early_stopping.map(Patience::new));
        let (mut keeper, mut damaged) = (None, Vec::new());
        if let Some(checkpoint) = &options.checkpoint {
            let start = Instant::now();
            let (opened, goes_on) = Keeper::open(checkpoint, job, learner)?;
            learner.spent(Activity::Checkpoint, start);
            keeper = Some(opened);
            if let Some(goes_on) = goes_on {
                pace.restore(goes_on.progress.pace);
                (progress, damaged) = (goes_on.progress, goes_on.damaged);
            }
        }
        let mut board = match &job.tensorboard {
            Some(folder) => Some(Board::open(folder, job)?),
            None => None,
        };
        if let Some(board) = &mut board {
            board.pictures(&learner.samples()?)?;
        }
        Ok(Self { job, learner, keeper, damaged, board, pace, pool, held_out, progress, load_s })
    }

    fn run(&mut self, on_event: Listener<'_>) -> Result<TrainOutcome, TrainError> {
        while self.progress.ended.is_none() {
            let steps_end = self.run_steps(on_event)?;
            if let StepsEnd::Over(outcome) = steps_end {
                return Ok(*outcome);
            }
            let epoch = self.progress.epoch;
            let end = match self.end_of_epoch()? {
                Ok(end) => end,
                Err(by) => return self.diverged(by),
            };
            let start = Instant::now();
            let flow = on_event(&TrainEvent::Epoch(end.clone()));
            if let Some(board) = &mut self.board {
                board.epoch(&end, &self.learner.export())?;
            }
            self.learner.spent(Activity::Telling, start);
            self.progress.ended = self.ended(&end, &steps_end);
            self.progress.next_epoch(end);
            self.pace.end_epoch();
            let over = self.progress.ended.is_some();
            let due = self.keeper.as_ref().is_some_and(|keeper| keeper.due_after_epoch(epoch));
            if due || over || flow == Flow::Stop {
                self.save()?;
            }
            if flow == Flow::Stop && !over {
                return Ok(self.stopped());
            }
        }
        let told = self.learner.account()?;
        Ok(TrainOutcome::Done(self.done(told)))
    }

    /// Makes the steps that are left of this epoch.
    fn run_steps(&mut self, on_event: Listener<'_>) -> Result<StepsEnd, TrainError> {
        let epoch = self.progress.epoch;
        let Self { job, learner, progress, pool, .. } = self;
        let start = Instant::now();
        let order = timed(&mut progress.training_s, || order_of(job, &**learner, epoch, pool));
        learner.spent(Activity::InputWait, start);
        while self.progress.consumed < order.len() {
            let before = self.progress.steps;
            let flow = match self.stretch(&order, on_event)? {
                Ok(flow) => flow,
                Err(by) => return Ok(StepsEnd::Over(Box::new(self.diverged(by)?))),
            };
            let is_last = epoch == self.job.epochs && self.progress.consumed == order.len();
            let stops = flow == Flow::Stop && !is_last;
            let (steps, keeper) = (self.progress.steps, self.keeper.as_ref());
            let due = keeper.is_some_and(|keeper| keeper.due_after_step(steps, steps - before));
            if stops || due {
                self.save()?;
            }
            if stops {
                return Ok(StepsEnd::Over(Box::new(self.stopped())));
            }
            let limit = self.job.time_limit_s;
            if limit.is_some_and(|limit| self.progress.training_s >= limit) && !is_last {
                return Ok(StepsEnd::TimeUp);
            }
        }
        Ok(StepsEnd::Finished)
    }

    /// Makes as many steps as the learner makes at one go, and tells of each.
    fn stretch(
        &mut self,
        order: &[u32],
        on_event: Listener<'_>,
    ) -> Result<Result<Flow, DivergedBy>, TrainError> {
        let Self { learner, progress, pace, .. } = self;
        let Progress { epoch, steps: made, consumed, .. } = *progress;
        let rest = &order[consumed..];
        let steps = learner.next_stretch(&Plan { pace, epoch, made, consumed, left: rest.len() });
        let stretch = Stretch { epoch, at: consumed, steps: &steps, rest };
        let result = timed(&mut progress.training_s, || learner.stretch(stretch))?;
        for lost in result.lost {
            on_event(&TrainEvent::RankLost(lost));
        }
        if let Some(waited) = result.waited {
            *progress.input_wait_s.get_or_insert(0.0) += waited.as_secs_f64();
        }
        let (mut flow, start) = (Flow::Continue, Instant::now());
        for (planned, result) in steps.into_iter().zip(result.steps) {
            let told = match self.count(planned, result) {
                Ok(told) => told,
                Err(by) => return Ok(Err(by)),
            };
            if let Some(board) = &mut self.board {
                board.step(&told)?;
            }
            if on_event(&TrainEvent::Step(told)) == Flow::Stop {
                flow = Flow::Stop;
            }
        }
        self.learner.spent(Activity::Telling, start);
        Ok(Ok(flow))
    }

    /// Counts a step that was made, unless its loss is beyond hope.
    fn count(&mut self, planned: PlannedStep, result: StepResult) -> Result<Step, DivergedBy> {
        let Self { progress, pace, .. } = self;
        let score = result.score;
        let (loss, batch) = (score.loss_sum / score.examples as f64, score.examples);
        progress.steps = planned.step;
        if let Some(by) = progress.watch.step(loss) {
            return Err(by);
        }
        progress.add(score);
        if let Some(norms) = result.norms {
            pace.saw(norms);
        }
        Ok(Step { epoch: progress.epoch, step: planned.step, loss, lr: planned.rate, batch })
    }

    /// Scores the test part, and what is held out.
    fn end_of_epoch(&mut self) -> Result<Result<EpochEnd, DivergedBy>, TrainError> {
        let Self { learner, progress, held_out, pace, .. } = self;
        let (evaluation, start) = (&mut progress.evaluation_s, Instant::now());
        let test = timed(evaluation, || learner.evaluate(Part::Test))?;
        let validation = match held_out.is_empty() {
            true => None,
            false => Some(timed(evaluation, || learner.evaluate(Part::Training(held_out)))?.score),
        };
        learner.spent(Activity::Evaluation, start);
        let mean = |score: BatchScore| score.loss_sum / score.examples as f64;
        let share = |score: BatchScore| score.correct as f64 / score.examples as f64;
        if let Some(by) = progress.watch.evaluation(mean(test.score)) {
            return Ok(Err(by));
        }
        let size = pace.size(progress.epoch, 0);
        Ok(Ok(EpochEnd {
            epoch: progress.epoch,
            step: progress.steps,
            train_loss: mean(progress.score()),
            train_accuracy: share(progress.score()),
            test_loss: mean(test.score),
            test_accuracy: share(test.score),
            seconds: progress.training_s - progress.earlier_s,
            lr: size.rate,
            batch: size.batch,
            test_auc: test.auc,
            validation_loss: validation.map(mean),
            noise_scale: pace.noise_scale(),
        }))
    }

    /// Whether and why the job is over after an epoch.
    fn ended(&mut self, end: &EpochEnd, steps_end: &StepsEnd) -> Option<Ended> {
        if matches!(steps_end, StepsEnd::TimeUp) {
            return Some(Ended::TimeLimit);
        }
        if end.epoch >= self.job.epochs {
            return Some(Ended::Epochs);
        }
        let patience = self.progress.patience.as_mut()?;
        patience.runs_out(end.validation_loss?).then_some(Ended::EarlyStopping)
    }

    /// Keeps the job, where that is asked for.
    fn save(&mut self) -> Result<(), TrainError> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        self.progress.pace = self.pace.memory();
        let (mut seconds, start) = (0.0, Instant::now());
        let saved = timed(&mut seconds, || keeper.save(self.learner, &self.progress));
        self.progress.checkpoint_s += seconds;
        self.learner.spent(Activity::Checkpoint, start);
        saved
    }

    fn done(&self, told: Vec<Told>) -> Done {
        let (ranks, timelines): (Vec<RankTimes>, Vec<RankTimeline>) = of_ranks(told).unzip();
        let Progress { steps, examples, training_s, evaluation_s, checkpoint_s, .. } =
            self.progress;
        let input_wait_s = self.progress.input_wait_s;
        let end = self.progress.last.as_ref().expect("a job is done after an epoch");
        Done {
            time_s: training_s,
            train_accuracy: end.train_accuracy,
            train_loss: end.train_loss,
            test_accuracy: end.test_accuracy,
            test_loss: end.test_loss,
            examples_per_s: examples as f64 / training_s,
            steps,
            strategy: self.job.strategy,
            replicas: self.job.ranks(),
            bytes_sent: ranks.iter().map(|rank| rank.bytes_sent).sum(),
            scaling: self.job.scaling,
            ranks,
            timelines,
            parameters_hash: parameters_hash(&self.learner.parameters()),
            input_wait_s,
            input_wait_share: input_wait_s.map(|waited| waited / training_s),
            evaluation_s,
            load_s: self.load_s,
            checkpoint_s,
            epochs: end.epoch,
            ended: self.progress.ended.expect("a job is done when it has ended"),
            test_auc: end.test_auc,
        }
    }

    /// The end of a job that diverged, with what was measured: that is the user's to judge too.
    fn diverged(&mut self, by: DivergedBy) -> Result<TrainOutcome, TrainError> {
        let measured = match by {
            DivergedBy::NotFinite => None,
            DivergedBy::Exploded => self.diverged_scores()?,
        };
        let Progress { epoch, consumed, steps, training_s, examples, .. } = self.progress;
        Ok(TrainOutcome::Diverged(Diverged {
            epoch,
            step: steps,
            lr: self.pace.size(epoch, consumed).rate,
            time_s: training_s,
            examples_per_s: examples as f64 / training_s.max(f64::MIN_POSITIVE),
            by,
            measured,
        }))
    }

    /// Scores at the end of a job that diverged; nothing where the test loss is not finite.
    fn diverged_scores(&mut self) -> Result<Option<DivergedScores>, TrainError> {
        let Self { learner, progress, .. } = self;
        let test = timed(&mut progress.evaluation_s, || learner.evaluate(Part::Test))?.score;
        let mean = |score: BatchScore| score.loss_sum / score.examples as f64;
        let share = |score: BatchScore| score.correct as f64 / score.examples as f64;
        let seen = progress.score();
        let scores = DivergedScores {
            train_loss: Some(mean(seen)).filter(|loss| loss.is_finite()),
            train_accuracy: Some(share(seen)).filter(|share| share.is_finite()),
            test_loss: mean(test),
            test_accuracy: share(test),
        };
        Ok(Some(scores).filter(|own| own.test_loss.is_finite() && own.test_accuracy.is_finite()))
    }

    fn stopped(&self) -> TrainOutcome {
        let Progress { epoch, steps, training_s, .. } = self.progress;
        TrainOutcome::Stopped(Stopped { epochs: epoch - 1, steps, time_s: training_s })
    }
}

/// Times and timelines of ranks, on the clock of the first.
fn of_ranks(told: Vec<Told>) -> impl Iterator<Item = (RankTimes, RankTimeline)> {
    let first = told.first().map_or(0.0, |own| own.began);
    told.into_iter().map(move |own| {
        let (rank, later) = (own.times.rank, own.began - first);
        let moved =
            |span: Span| Span { start_s: span.start_s + later, end_s: span.end_s + later, ..span };
        (own.times, RankTimeline { rank, spans: own.spans.into_iter().map(moved).collect() })
    })
}

/// The order of an epoch's examples, the same on every rank.
pub(crate) fn order_of(job: &JobSpec, learner: &dyn Learner, epoch: u32, pool: &[u32]) -> Vec<u32> {
    learner.order(epoch, shuffle_seed(job, epoch), pool)
}

/// What decides the order of an epoch's examples.
pub(crate) fn shuffle_seed(job: &JobSpec, epoch: u32) -> Seed {
    Seed::new(job.seed).derive(SHUFFLE).derive(epoch.into())
}

/// Examples to learn from and, where the job stops early, a tenth that is held out.
pub(crate) fn held_out(job: &JobSpec, examples: usize) -> (Vec<u32>, Vec<u32>) {
    let mut pool: Vec<u32> = (0..).take(examples).collect();
    if job.early_stopping.is_none() || examples < 2 {
        return (pool, Vec::new());
    }
    pool = Seed::new(job.seed).derive(HELD_OUT).shuffled(pool);
    let rest = examples - (examples / 10).max(1);
    let held_out = pool.split_off(rest);
    (pool, held_out)
}

#[cfg(test)]
mod tests;
