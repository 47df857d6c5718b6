//! A job kept on disk, so that it goes on after any interruption as if there had been none.
//!
//! A checkpoint is one safetensors file: parameters, state and the optimiser's memory as tensors,
//! the job and its progress as JSON texts. Shuffling and initial weights follow from the job's
//! seed and the epoch, so that these are the whole random state. Files appear whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trainwright_networks::{NamedTensor, SafeTensors, save_safetensors};
use trainwright_study::JobSpec;

use crate::error::TrainError;
use crate::learners::learner::Learner;
use crate::predict::trained::ABOUT;
use crate::train::progress::Progress;

/// What the version line of a checkpoint says.
const VERSION: &str = "trainwright/checkpoint/1";

/// Checkpoints that are kept; the one before the last is for the case that a disk loses the last.
const KEPT: usize = 2;

/// Keys of a job that may differ between an interrupted run and the one that goes on.
const FREE_KEYS: [&str; 4] = ["threads", "time_limit_s", "data_dir", "tensorboard"];

/// Where and when a job is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// Folder of the checkpoints; made where it is missing.
    pub folder: PathBuf,
    /// When.
    pub every: CheckpointEvery,
    /// What to do with checkpoints that are there.
    pub start: CheckpointStart,
}

/// When a job is kept, beside its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointEvery {
    /// After so many steps.
    Steps(u64),
    /// After so many epochs.
    Epochs(u32),
}

/// What to do with checkpoints that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointStart {
    /// Refuse them: this is a new job.
    Fresh,
    /// Go on from the last; without any, begin.
    Resume,
}

/// Keeps a job.
pub(crate) struct Keeper<'a> {
    options: &'a CheckpointOptions,
    job: String,
}

impl<'a> Keeper<'a> {
    /// Prepares the folder, and puts the learner where the last checkpoint was.
    ///
    /// # Errors
    /// When the folder cannot be used, has checkpoints of another job, or has some at all where
    /// the job is new.
    pub(crate) fn open(
        options: &'a CheckpointOptions,
        job: &JobSpec,
        learner: &mut dyn Learner,
    ) -> Result<(Self, Option<Progress>), TrainError> {
        let folder = &options.folder;
        let trouble =
            |error: std::io::Error| TrainError::Folder { path: folder.clone(), source: error };
        fs::create_dir_all(folder).map_err(trouble)?;
        let job = serde_json::to_string(job).expect("a job is made of texts and numbers");
        let keeper = Self { options, job };
        let last = checkpoints(folder).map_err(trouble)?.pop();
        let progress = match (last, options.start) {
            (None, _) => None,
            (Some(path), CheckpointStart::Fresh) => {
                return Err(TrainError::HasCheckpoints { path });
            }
            (Some(path), CheckpointStart::Resume) => Some(keeper.load(&path, learner)?),
        };
        Ok((keeper, progress))
    }

    /// Whether a checkpoint is due after this step.
    pub(crate) fn due_after_step(&self, steps: u64, made: u64) -> bool {
        match self.options.every {
            CheckpointEvery::Steps(every) => steps / every != (steps - made) / every,
            CheckpointEvery::Epochs(_) => false,
        }
    }

    /// Whether a checkpoint is due after this epoch.
    pub(crate) fn due_after_epoch(&self, epoch: u32) -> bool {
        match self.options.every {
            CheckpointEvery::Steps(_) => false,
            CheckpointEvery::Epochs(every) => epoch.is_multiple_of(every),
        }
    }

    /// Keeps the job as it is now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn save(
        &self,
        learner: &mut dyn Learner,
        progress: &Progress,
    ) -> Result<(), TrainError> {
        let text = serde_json::to_string(progress).expect("progress has numbers and texts alone");
        let mut metadata: BTreeMap<String, String> = [
            ("version".to_owned(), VERSION.to_owned()),
            ("job".to_owned(), self.job.clone()),
            ("progress".to_owned(), text),
        ]
        .into();
        if let Some(about) = learner.about() {
            let about = serde_json::to_string(&about).expect("it has numbers and texts alone");
            metadata.insert(ABOUT.to_owned(), about);
        }
        let memory = learner.memory();
        let tensors: Vec<NamedTensor<'_>> = memory.iter().map(|it| it.borrowed()).collect();
        // Steps alone would not tell the end of an epoch from the step before it.
        let name = format!("step-{:012}-epoch-{:06}.safetensors", progress.steps, progress.epoch);
        save_safetensors(&self.options.folder.join(name), &metadata, &tensors)?;
        self.forget_old();
        Ok(())
    }

    fn load(&self, path: &Path, learner: &mut dyn Learner) -> Result<Progress, TrainError> {
        let fault = |problem: String| TrainError::Checkpoint { path: path.to_owned(), problem };
        let file = SafeTensors::open(path)?;
        let text = |key: &str| {
            let found = file.metadata().get(key);
            found.cloned().ok_or_else(|| fault(format!("it has no `{key}`")))
        };
        let version = text("version")?;
        if version != VERSION {
            return Err(fault(format!("its version is `{version}`, this program reads {VERSION}")));
        }
        if let Some(difference) = difference(&text("job")?, &self.job) {
            return Err(fault(difference));
        }
        let progress = serde_json::from_str(&text("progress")?)
            .map_err(|error| fault(format!("its progress does not read: {error}")))?;
        learner.restore(&file).map_err(|error| fault(error.to_string()))?;
        Ok(progress)
    }

    /// Removes all but the last checkpoints; one that cannot be removed is only untidy.
    fn forget_old(&self) {
        let mut paths = checkpoints(&self.options.folder).unwrap_or_default();
        paths.truncate(paths.len().saturating_sub(KEPT));
        for path in paths {
            let _ = fs::remove_file(path);
        }
    }
}

/// The last checkpoint of a folder.
///
/// # Errors
/// When the folder cannot be read or has none.
pub(crate) fn last_checkpoint(folder: &Path) -> Result<PathBuf, TrainError> {
    let path = folder.to_owned();
    match checkpoints(folder) {
        Ok(mut paths) => paths.pop().ok_or(TrainError::NoCheckpoint { path }),
        Err(source) => Err(TrainError::Folder { path, source }),
    }
}

/// The job that a checkpoint is of.
///
/// # Errors
/// When the file is not a checkpoint.
pub(crate) fn kept_job(path: &Path, file: &SafeTensors) -> Result<JobSpec, TrainError> {
    let fault = |problem: String| TrainError::Checkpoint { path: path.to_owned(), problem };
    let text = file.metadata().get("job");
    let text = text.ok_or_else(|| fault("it has no `job`; is it a checkpoint?".to_owned()))?;
    serde_json::from_str(text).map_err(|error| fault(format!("its job does not read: {error}")))
}

/// Checkpoints of a folder, in the order in which they were made.
fn checkpoints(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("step-") && name.ends_with(".safetensors") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The first key in which two jobs differ, in words.
fn difference(kept: &str, asked: &str) -> Option<String> {
    let [kept, asked] = [kept, asked].map(|text| serde_json::from_str(text).unwrap_or(Value::Null));
    let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (kept, asked) = (object(&kept), object(&asked));
    let keys = kept.keys().chain(asked.keys()).filter(|key| !FREE_KEYS.contains(&key.as_str()));
    keys.into_iter().find(|key| kept.get(*key) != asked.get(*key)).map(|key| {
        let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        format!(
            "it is of a job with `{key}` {}, now {} is asked for",
            show(kept.get(key)),
            show(asked.get(key))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_different_job_is_told_by_its_key() {
        let found = difference(r#"{"lr":0.1,"threads":1}"#, r#"{"lr":0.2,"threads":2}"#);
        assert_eq!(found.unwrap(), "it is of a job with `lr` 0.1, now 0.2 is asked for");
        assert_eq!(difference(r#"{"lr":0.1,"threads":1}"#, r#"{"lr":0.1,"threads":2}"#), None);
        let found = difference("{}", r#"{"warmup":2}"#);
        assert_eq!(found.unwrap(), "it is of a job with `warmup` nothing, now 2 is asked for");
    }
}
