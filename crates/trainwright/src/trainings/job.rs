//! The verb `job`: what a trial of the built-in trainer runs.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use trainwright_analysis::TrainingAccount;
use trainwright_records::write_whole;
use trainwright_study::JobSpec;
use trainwright_train::{
    CheckpointEvery, CheckpointOptions, CheckpointStart, Diverged, Flow, TrainEvent, TrainOptions,
};

use crate::{Error, Trained, Wish, train};

/// How a job talks to what started it.
#[derive(Debug, Clone, Default)]
pub struct JobChannels {
    /// JSON-lines file for metrics.
    pub metrics: Option<PathBuf>,
    /// The job stops when this file appears.
    pub stop_file: Option<PathBuf>,
    /// Folder of the trial, which gets the account of its ranks.
    pub folder: Option<PathBuf>,
    /// Folder in which the job keeps itself when it is told to stop, and goes on from.
    pub checkpoint: Option<PathBuf>,
    /// Name of the trial in its study.
    pub trial: Option<String>,
}

/// Name of the file for the account of a trial's ranks, in the trial's folder.
const ACCOUNT: &str = "account.json";

/// Steps between two looks at the stop file.
const LOOK_EVERY: u64 = 50;

/// Reads a job file, trains, and reports every epoch as a line of the metrics file.
///
/// # Errors
/// The file does not read, or training cannot start.
pub fn job(
    spec: &Path,
    channels: &JobChannels,
    wish: &dyn Fn() -> Wish,
    on_event: &mut dyn FnMut(&TrainEvent),
) -> Result<Trained, Error> {
    let text = fs::read_to_string(spec)
        .map_err(|source| Error::Input { path: spec.to_owned(), source })?;
    let mut job: JobSpec = serde_json::from_str(&text)
        .map_err(|error| Error::Request(format!("{}: {error}", spec.display())))?;
    // Runs of one study lie side by side, as TensorBoard wants them.
    job.tensorboard = job.tensorboard.map(|folder| match &channels.trial {
        Some(trial) => folder.join(format!("trial-{trial}")),
        None => folder,
    });
    let mut metrics = match &channels.metrics {
        Some(path) => Some(Lines::open(path)?),
        None => None,
    };
    let checkpoint = channels.checkpoint.clone().map(|folder| CheckpointOptions {
        folder,
        // When it stops, and at no other time: that costs nothing while it trains.
        every: CheckpointEvery::Epochs(u32::MAX),
        start: CheckpointStart::Resume,
    });
    let options = TrainOptions { checkpoint, ..TrainOptions::default() };
    let mut failure = None;
    let trained = train(&job, &options, &mut |event| {
        on_event(event);
        if let Some(lines) = &mut metrics
            && let Err(error) = lines.tell(event)
        {
            failure = Some(error);
            return Flow::Stop;
        }
        let looks = match event {
            TrainEvent::Step(step) => step.step % LOOK_EVERY == 0,
            _ => true,
        };
        let asked = channels.stop_file.as_ref().is_some_and(|file| looks && file.exists());
        if asked || wish() != Wish::GoOn { Flow::Stop } else { Flow::Continue }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    if let (Some(folder), Some(account)) = (&channels.folder, &trained.account) {
        let path = folder.join(ACCOUNT);
        write_whole(&path, |file| file.write_all(json_line(account).as_bytes()))
            .map_err(|source| Error::Folder { path, source })?;
    }
    Ok(trained)
}

/// What the ranks of a trial did, as its job left it in the trial's folder.
pub(crate) fn kept_account(folder: &Path) -> Option<TrainingAccount> {
    serde_json::from_str(&fs::read_to_string(folder.join(ACCOUNT)).ok()?).ok()
}

/// A line of the metrics file after an epoch.
#[derive(Serialize)]
struct EpochLine {
    step: u32,
    accuracy: f64,
    loss: f64,
    train_accuracy: f64,
    train_loss: f64,
    epoch_s: f64,
}

/// A line of the metrics file at the end.
#[derive(Serialize)]
struct DoneLine {
    train_time: f64,
    examples_per_s: f64,
    steps: u64,
    bytes_sent: u64,
}

fn json_line(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("numbers with names become JSON")
}

/// The line of a job that diverged: times are what they were, and so are scores that are numbers.
fn diverged_line(at: &Diverged) -> String {
    let (step, time, speed) = (at.epoch, at.time_s, at.examples_per_s);
    // JSON has no NaN; the spelling is the one that Python writes and readers know.
    let number = |value: Option<f64>| value.map_or_else(|| "NaN".to_owned(), |v| v.to_string());
    let scores = match at.measured {
        None => {
            "\"accuracy\":NaN, \"loss\":NaN, \"train_accuracy\":NaN, \"train_loss\":NaN".to_owned()
        }
        Some(own) => format!(
            "\"accuracy\":{}, \"loss\":{}, \"train_accuracy\":{}, \"train_loss\":{}, \
             \"diverged\":\"the loss stayed above thirty times the first one\"",
            own.test_accuracy,
            own.test_loss,
            number(own.train_accuracy),
            number(own.train_loss)
        ),
    };
    format!("{{\"step\":{step}, \"train_time\":{time}, \"examples_per_s\":{speed}, {scores}}}")
}

struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|source| Error::Folder { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file })
    }

    fn tell(&mut self, event: &TrainEvent) -> Result<(), Error> {
        let line = match event {
            TrainEvent::Epoch(epoch) => json_line(&EpochLine {
                step: epoch.epoch,
                accuracy: epoch.test_accuracy,
                loss: epoch.test_loss,
                train_accuracy: epoch.train_accuracy,
                train_loss: epoch.train_loss,
                epoch_s: epoch.seconds,
            }),
            TrainEvent::Done(done) => json_line(&DoneLine {
                train_time: done.time_s,
                examples_per_s: done.examples_per_s,
                steps: done.steps,
                bytes_sent: done.bytes_sent,
            }),
            TrainEvent::Diverged(at) => diverged_line(at),
            TrainEvent::Step(_)
            | TrainEvent::Stopped(_)
            | TrainEvent::DamagedCheckpoint(_)
            | TrainEvent::RankLost(_)
            | TrainEvent::Restarted(_) => return Ok(()),
        };
        writeln!(self.file, "{line}")
            .map_err(|source| Error::Folder { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use trainwright_train::{DivergedBy, DivergedScores};

    use super::*;

    fn at(by: DivergedBy, measured: Option<DivergedScores>) -> Diverged {
        Diverged { epoch: 2, step: 30, lr: 9.0, time_s: 1.5, examples_per_s: 80.0, by, measured }
    }

    #[test]
    fn a_finite_explosion_keeps_what_was_measured() {
        let scores = DivergedScores {
            train_loss: Some(70.0),
            train_accuracy: Some(0.2),
            test_loss: 75.5,
            test_accuracy: 0.1,
        };
        let line = diverged_line(&at(DivergedBy::Exploded, Some(scores)));
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["loss"], &read["accuracy"]), (&75.5.into(), &0.1.into()));
        assert_eq!(
            (read["train_time"].as_f64(), read["train_loss"].as_f64()),
            (Some(1.5), Some(70.0))
        );
        assert!(read["diverged"].as_str().unwrap().contains("thirty times"));
    }

    #[test]
    fn a_loss_that_is_no_number_leaves_the_time_a_number() {
        let line = diverged_line(&at(DivergedBy::NotFinite, None));
        assert!(line.contains("\"train_time\":1.5,") && line.contains("\"loss\":NaN"), "{line}");
    }
}
