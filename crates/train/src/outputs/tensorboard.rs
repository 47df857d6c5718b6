//! A job's course as TensorBoard event files.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use trainwright_records::event_writer::{
    EventWriter, HparamKind, HparamValue, Moment, SessionStatus, event_file_name,
};
use trainwright_records::pictures::Picture;
use trainwright_study::JobSpec;

use crate::error::TrainError;
use crate::events::{EpochEnd, Step, TrainOutcome};
use crate::learners::learner::OwnedTensor;

/// Steps between two scalars of a step.
const STEP_EVERY: u64 = 20;

/// Keys of a job that are no hyperparameters.
const NO_HPARAMS: [&str; 2] = ["data_dir", "tensorboard"];

/// Names of the scalars that compare runs.
const METRICS: [&str; 3] = ["accuracy/test", "loss/test", "accuracy/train"];

/// Writes what a job tells to an event file.
pub(crate) struct Board {
    path: PathBuf,
    writer: EventWriter<BufWriter<File>>,
}

impl Board {
    /// Begins an event file in a folder, which is made where it is missing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn open(folder: &Path, job: &JobSpec) -> Result<Self, TrainError> {
        let fault = |path: &Path| {
            let path = path.to_owned();
            move |source| TrainError::Board { path, source }
        };
        fs::create_dir_all(folder).map_err(fault(folder))?;
        let now = now();
        let path = folder.join(event_file_name(now as u64, "local", std::process::id()));
        let file = File::create(&path).map_err(fault(&path))?;
        let writer = EventWriter::new(BufWriter::new(file), now).map_err(fault(&path))?;
        let mut board = Self { path, writer };
        board.hyperparameters(folder, job, now)?;
        Ok(board)
    }

    /// Shows some of the pictures that the network learns from.
    pub(crate) fn pictures(&mut self, pictures: &[Picture]) -> Result<(), TrainError> {
        match pictures {
            [] => Ok(()),
            _ => Ok(self.writer.images(at(0), "inputs", pictures)?),
        }
    }

    /// Tells some of the steps.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), TrainError> {
        if !step.step.is_multiple_of(STEP_EVERY) && step.step != 1 {
            return Ok(());
        }
        let scalars =
            [("step/loss", step.loss), ("step/rate", step.lr), ("step/batch", step.batch as f64)];
        self.scalars(step.step, &scalars)
    }

    /// Tells an epoch, and how the parameters are distributed after it.
    pub(crate) fn epoch(
        &mut self,
        end: &EpochEnd,
        tensors: &[OwnedTensor],
    ) -> Result<(), TrainError> {
        let scalars = [
            ("loss/train", end.train_loss),
            ("loss/test", end.test_loss),
            ("accuracy/train", end.train_accuracy),
            ("accuracy/test", end.test_accuracy),
            ("rate", end.lr),
            ("batch", end.batch as f64),
            ("epoch_s", end.seconds),
        ];
        self.scalars(end.step, &scalars)?;
        let optional = [
            ("auc/test", end.test_auc),
            ("loss/validation", end.validation_loss),
            ("noise_scale", end.noise_scale),
        ];
        for (tag, value) in optional {
            if let Some(value) = value {
                self.scalars(end.step, &[(tag, value)])?;
            }
        }
        for tensor in tensors {
            let values: Vec<f64> = tensor.values.iter().copied().map(f64::from).collect();
            let tag = format!("parameters/{}", tensor.name);
            let written = self.writer.histogram(at(end.step), &tag, &values);
            self.done(written)?;
        }
        let flushed = self.writer.flush();
        self.done(flushed)
    }

    /// Tells how the job ended.
    pub(crate) fn end(&mut self, outcome: &TrainOutcome) -> Result<(), TrainError> {
        let status = match outcome {
            TrainOutcome::Done(_) => SessionStatus::Success,
            TrainOutcome::Diverged(_) | TrainOutcome::Stopped(_) => SessionStatus::Failure,
        };
        let written = self.writer.session_end(now(), status).and_then(|()| self.writer.flush());
        self.done(written)
    }

    fn hyperparameters(
        &mut self,
        folder: &Path,
        job: &JobSpec,
        now: f64,
    ) -> Result<(), TrainError> {
        let keys = serde_json::to_value(job).expect("a job is made of texts and numbers");
        let keys = keys.as_object().cloned().unwrap_or_default();
        let known = keys.iter().filter(|(key, _)| !NO_HPARAMS.contains(&key.as_str()));
        let values: Vec<(&str, HparamValue<'_>)> = known
            .filter_map(|(key, value)| {
                let value = match value {
                    Value::Number(number) => HparamValue::Number(number.as_f64()?),
                    Value::String(text) => HparamValue::Text(text),
                    _ => return None,
                };
                Some((key.as_str(), value))
            })
            .collect();
        let kind = |value: &HparamValue<'_>| match value {
            HparamValue::Text(_) => HparamKind::Text,
            _ => HparamKind::Number,
        };
        let kinds: Vec<(&str, HparamKind)> =
            values.iter().map(|(key, value)| (*key, kind(value))).collect();
        let group = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let written = self
            .writer
            .hparams_columns(now, &kinds, &METRICS)
            .and_then(|()| self.writer.session_start(now, &group, &values));
        self.done(written)
    }

    fn scalars(&mut self, step: u64, scalars: &[(&str, f64)]) -> Result<(), TrainError> {
        for &(tag, value) in scalars {
            let written = self.writer.scalar(at(step), tag, value as f32);
            self.done(written)?;
        }
        Ok(())
    }

    fn done(&self, written: std::io::Result<()>) -> Result<(), TrainError> {
        written.map_err(|source| TrainError::Board { path: self.path.clone(), source })
    }
}

fn at(step: u64) -> Moment {
    Moment { step: step as i64, wall_time: now() }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trainwright_records::scan_scalars;

    use super::*;
    use crate::learners::fake::fake_job;

    #[test]
    fn some_steps_and_every_epoch_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("first");
        let mut board = Board::open(&runs, &fake_job(json!({}))).unwrap();
        for step in 1..=60 {
            let told = Step { epoch: 1, step, loss: step as f64, lr: 0.5, batch: 32 };
            board.step(&told).unwrap();
        }
        let end = EpochEnd {
            epoch: 1,
            step: 60,
            train_loss: 0.5,
            train_accuracy: 0.75,
            test_loss: 0.25,
            test_accuracy: 0.875,
            seconds: 1.0,
            lr: 0.5,
            batch: 32,
            test_auc: None,
            validation_loss: Some(0.125),
            noise_scale: None,
        };
        board.epoch(&end, &[OwnedTensor::vector("w", vec![1.0, 2.0])]).unwrap();
        let runs = scan_scalars(&runs).unwrap();
        let scalars = &runs[0].scalars;
        let of = |tag: &str| -> Vec<(i64, f64)> {
            let found = scalars.iter().filter(|scalar| scalar.tag == tag);
            found.map(|scalar| (scalar.step, scalar.value)).collect()
        };
        assert_eq!(of("step/loss"), [(1, 1.0), (20, 20.0), (40, 40.0), (60, 60.0)]);
        assert_eq!(of("accuracy/test"), [(60, 0.875)]);
        assert_eq!(of("loss/validation"), [(60, 0.125)]);
        assert!(of("auc/test").is_empty() && of("noise_scale").is_empty());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Board::open(&file.join("runs"), &fake_job(json!({}))).err().unwrap();
        assert!(error.to_string().contains("runs"), "{error}");
    }
}
