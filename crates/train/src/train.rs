//! The training loop on one device.

use std::time::Instant;

use trainwright_networks::{Adam, BatchScore, Network, Optimizer, Sgd, StepOptions, Workspace};
use trainwright_records::{LabelledImages, Splits, load};
use trainwright_study::{JobSpec, NetworkName, Schedule, Seed, Strategy};

use crate::batches::BatchBuffer;
use crate::error::TrainError;
use crate::events::{Diverged, Done, EpochEnd, Flow, Step, Stopped, TrainEvent, TrainOutcome};
use crate::fingerprint::parameters_hash;
use crate::stopwatch::Stopwatch;

/// Pictures that are scored at once; more would not be faster and would need more memory.
const EVALUATION_BATCH: usize = 256;

/// Parts of a job that draw random numbers, each from its own seed.
const WEIGHTS: u64 = 1;
const SHUFFLE: u64 = 2;
const DROPOUT: u64 = 3;

/// Trains a job and tells each step, epoch and end to `on_event`.
///
/// The same job gives the same parameters, bit for bit, whatever `threads` is. The last batch of
/// an epoch may be smaller than the others. Time spent in `on_event` is not counted. After the
/// last epoch a wish to stop changes nothing.
///
/// # Errors
/// When the job has a value that cannot be trained with, or its data cannot be read.
pub fn train(
    job: &JobSpec,
    on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
) -> Result<TrainOutcome, TrainError> {
    job.check()?;
    let start = Instant::now();
    let splits = load(&job.data, job.data_dir.as_deref())?;
    let mut training = Training::new(job, &splits, start.elapsed().as_secs_f64())?;
    let mut workspace = training.workspace()?;
    let outcome = training.run(&mut workspace, on_event);
    on_event(&TrainEvent::from(outcome.clone()));
    Ok(outcome)
}

/// A job under way.
struct Training<'a> {
    job: &'a JobSpec,
    splits: &'a Splits,
    network: Network,
    parameters: Vec<f32>,
    state: Vec<f32>,
    gradients: Vec<f32>,
    optimizer: Box<dyn Optimizer>,
    load_s: f64,
    training: Stopwatch,
    evaluation: Stopwatch,
    steps: u64,
}

/// How an epoch went.
enum EpochResult {
    Finished(BatchScore),
    Ended(TrainOutcome),
}

impl<'a> Training<'a> {
    fn new(job: &'a JobSpec, splits: &'a Splits, load_s: f64) -> Result<Self, TrainError> {
        let images = splits.train();
        let network = match job.network {
            NetworkName::Mlp => {
                let hidden = vec![job.neurons as usize; job.hidden_layers as usize];
                Network::perceptron(images.rows() * images.columns(), &hidden, images.classes())?
            }
        };
        let count = network.parameter_count();
        let optimizer: Box<dyn Optimizer> = match job.optimizer {
            trainwright_study::Optimizer::Sgd => Box::new(Sgd::new(count)),
            trainwright_study::Optimizer::Adam => Box::new(Adam::new(count)),
        };
        let seed = Seed::new(job.seed).derive(WEIGHTS).value();
        Ok(Self {
            job,
            splits,
            parameters: network.initial_parameters(seed),
            state: network.initial_state(),
            gradients: vec![0.0; count],
            network,
            optimizer,
            load_s,
            training: Stopwatch::default(),
            evaluation: Stopwatch::default(),
            steps: 0,
        })
    }

    /// Room for the batches of training and evaluation.
    fn workspace(&self) -> Result<Workspace, TrainError> {
        let batch = (self.job.batch as usize).min(self.splits.train().len());
        let capacity = batch.max(EVALUATION_BATCH);
        Ok(self.network.workspace(capacity, self.job.threads as usize)?)
    }

    fn run(
        &mut self,
        workspace: &mut Workspace,
        on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
    ) -> TrainOutcome {
        let splits = self.splits;
        let batch = (self.job.batch as usize).min(splits.train().len());
        let mut buffer = BatchBuffer::new(splits.train(), batch);
        let mut epoch = 1;
        loop {
            let before = self.training.seconds();
            let score = match self.run_epoch(epoch, &mut buffer, workspace, on_event) {
                EpochResult::Finished(score) => score,
                EpochResult::Ended(outcome) => return outcome,
            };
            let seconds = self.training.seconds() - before;
            let test = self.evaluate(splits.test(), workspace);
            if !test.loss_sum.is_finite() {
                return self.diverged(epoch);
            }
            let end = self.epoch_end(epoch, score, test, seconds);
            let flow = on_event(&TrainEvent::Epoch(end.clone()));
            if epoch == self.job.epochs {
                return TrainOutcome::Done(self.done(&end));
            }
            if flow == Flow::Stop {
                return self.stopped(epoch);
            }
            epoch += 1;
        }
    }

    fn run_epoch(
        &mut self,
        epoch: u32,
        buffer: &mut BatchBuffer<'_>,
        workspace: &mut Workspace,
        on_event: &mut dyn FnMut(&TrainEvent) -> Flow,
    ) -> EpochResult {
        let seed = Seed::new(self.job.seed).derive(SHUFFLE).derive(epoch.into());
        let examples = self.splits.train().len();
        let order = self.training.time(|| seed.shuffled((0..examples).collect::<Vec<usize>>()));
        let mut score = BatchScore::default();
        for chosen in order.chunks(self.job.batch as usize) {
            self.steps += 1;
            let Some(batch_score) = self.step(chosen, buffer, workspace) else {
                return EpochResult::Ended(self.diverged(epoch));
            };
            score.add(batch_score);
            let loss = batch_score.loss_sum / batch_score.examples as f64;
            let step = Step { epoch, step: self.steps, loss };
            let is_last = epoch == self.job.epochs && score.examples == examples;
            if on_event(&TrainEvent::Step(step)) == Flow::Stop && !is_last {
                return EpochResult::Ended(self.stopped(epoch - 1));
            }
        }
        EpochResult::Finished(score)
    }

    /// Makes one step; `None` when the loss is not finite, with the parameters left as they were.
    fn step(
        &mut self,
        chosen: &[usize],
        buffer: &mut BatchBuffer<'_>,
        workspace: &mut Workspace,
    ) -> Option<BatchScore> {
        let rate = self.learning_rate();
        let options = StepOptions {
            dropout_seed: Seed::new(self.job.seed).derive(DROPOUT).derive(self.steps).value(),
            ..StepOptions::default()
        };
        let Self { network, parameters, state, gradients, optimizer, training, .. } = self;
        training.time(|| {
            let batch = buffer.gather(chosen.iter().copied());
            let score = network.gradients(parameters, state, batch, options, gradients, workspace);
            score.loss_sum.is_finite().then(|| {
                optimizer.step(parameters, gradients, rate, workspace.team());
                score
            })
        })
    }

    fn evaluate(&mut self, images: &LabelledImages, workspace: &mut Workspace) -> BatchScore {
        let Self { network, parameters, state, evaluation, .. } = self;
        evaluation.time(|| {
            let batch = EVALUATION_BATCH.min(images.len());
            let mut buffer = BatchBuffer::new(images, batch);
            let mut score = BatchScore::default();
            for start in (0..images.len()).step_by(batch) {
                let chosen = start..images.len().min(start + batch);
                let batch = buffer.gather(chosen);
                score.add(network.score(parameters, state, batch, workspace));
            }
            score
        })
    }

    fn learning_rate(&self) -> f64 {
        match self.job.schedule {
            Schedule::Constant => self.job.lr,
        }
    }

    fn epoch_end(&self, epoch: u32, train: BatchScore, test: BatchScore, seconds: f64) -> EpochEnd {
        let mean = |score: BatchScore| score.loss_sum / score.examples as f64;
        let share = |score: BatchScore| score.correct as f64 / score.examples as f64;
        EpochEnd {
            epoch,
            step: self.steps,
            train_loss: mean(train),
            train_accuracy: share(train),
            test_loss: mean(test),
            test_accuracy: share(test),
            seconds,
        }
    }

    fn done(&self, end: &EpochEnd) -> Done {
        let time_s = self.training.seconds();
        let examples = self.splits.train().len() as f64 * f64::from(self.job.epochs);
        Done {
            time_s,
            train_accuracy: end.train_accuracy,
            train_loss: end.train_loss,
            test_accuracy: end.test_accuracy,
            test_loss: end.test_loss,
            examples_per_s: examples / time_s,
            steps: self.steps,
            strategy: self.job.strategy,
            replicas: self.job.replicas,
            bytes_sent: match self.job.strategy {
                Strategy::OneDevice => 0,
            },
            parameters_hash: parameters_hash(&self.parameters),
            evaluation_s: self.evaluation.seconds(),
            load_s: self.load_s,
        }
    }

    fn diverged(&self, epoch: u32) -> TrainOutcome {
        let (lr, time_s) = (self.learning_rate(), self.training.seconds());
        TrainOutcome::Diverged(Diverged { epoch, step: self.steps, lr, time_s })
    }

    fn stopped(&self, epochs: u32) -> TrainOutcome {
        let time_s = self.training.seconds();
        TrainOutcome::Stopped(Stopped { epochs, steps: self.steps, time_s })
    }
}
