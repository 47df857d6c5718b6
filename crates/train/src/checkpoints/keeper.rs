//! Writes a job's checkpoints, and puts its learner where the last one was.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use trainwright_networks::{NamedTensor, write_safetensors};
use trainwright_records::{remove_stale, write_whole};
use trainwright_study::JobSpec;

use super::checksums::{CHECKSUMS, checksums};
use super::folder::{checkpoints, forget_old, name_of};
use super::job_difference::difference;
use super::kept::{DamagedCheckpoint, JOB_KEY, Kept, PROGRESS_KEY, VERSION, VERSION_KEY};
use super::options::{CheckpointOptions, CheckpointStart};
use crate::error::TrainError;
use crate::learners::learner::Learner;
use crate::predict::trained::ABOUT;
use crate::train::progress::Progress;

/// Keeps a job.
pub(crate) struct Keeper<'a> {
    options: &'a CheckpointOptions,
    job: String,
    /// Checkpoints that cannot be used, until there is a new one.
    damaged: Vec<PathBuf>,
}

/// Where a job goes on.
pub(crate) struct GoesOn {
    pub(crate) progress: Progress,
    /// Checkpoints that were passed over, the last one first.
    pub(crate) damaged: Vec<DamagedCheckpoint>,
}

impl<'a> Keeper<'a> {
    /// Prepares the folder, and puts the learner where the last sound checkpoint was. What writers
    /// that were killed have left there is removed.
    ///
    /// # Errors
    /// When the folder cannot be used, has checkpoints of another job or damaged ones alone, or has
    /// some at all where the job is new.
    pub(crate) fn open(
        options: &'a CheckpointOptions,
        job: &JobSpec,
        learner: &mut dyn Learner,
    ) -> Result<(Self, Option<GoesOn>), TrainError> {
        let folder = &options.folder;
        let trouble =
            |error: std::io::Error| TrainError::Folder { path: folder.clone(), source: error };
        fs::create_dir_all(folder).map_err(trouble)?;
        remove_stale(folder).map_err(trouble)?;
        let job = serde_json::to_string(job).expect("a job is made of texts and numbers");
        let mut keeper = Self { options, job, damaged: Vec::new() };
        if options.start == CheckpointStart::Fresh {
            return match checkpoints(folder).map_err(trouble)?.into_iter().next() {
                Some(path) => Err(TrainError::HasCheckpoints { path }),
                None => Ok((keeper, None)),
            };
        }
        let Some((kept, damaged)) = Kept::last_of(folder)? else { return Ok((keeper, None)) };
        let progress = keeper.restore(&kept, learner)?;
        keeper.damaged = damaged.iter().map(|it| it.checkpoint.clone()).collect();
        Ok((keeper, Some(GoesOn { progress, damaged })))
    }

    /// Whether a checkpoint is due after this step.
    pub(crate) fn due_after_step(&self, steps: u64, made: u64) -> bool {
        self.options.every.is_due_after_step(steps, made)
    }

    /// Whether a checkpoint is due after this epoch.
    pub(crate) fn due_after_epoch(&self, epoch: u32) -> bool {
        self.options.every.is_due_after_epoch(epoch)
    }

    /// Keeps the job as it is now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn save(
        &mut self,
        learner: &mut dyn Learner,
        progress: &Progress,
    ) -> Result<(), TrainError> {
        let memory = learner.memory()?;
        let tensors: Vec<NamedTensor<'_>> = memory.iter().map(|it| it.borrowed()).collect();
        let mut texts = self.texts(learner, progress);
        texts.insert(CHECKSUMS.to_owned(), checksums(&texts, &tensors));
        let path = self.options.folder.join(name_of(progress));
        if let Err(source) = write_whole(&path, |out| write_safetensors(out, &texts, &tensors)) {
            return Err(TrainError::Write { path, source });
        }
        // The new one may stand where a damaged one was.
        let mut damaged = std::mem::take(&mut self.damaged);
        damaged.retain(|it| *it != path);
        forget_old(&self.options.folder, &damaged);
        Ok(())
    }

    fn texts(&self, learner: &dyn Learner, progress: &Progress) -> BTreeMap<String, String> {
        let text = serde_json::to_string(progress).expect("progress has numbers and texts alone");
        let mut texts: BTreeMap<String, String> = [
            (VERSION_KEY.to_owned(), VERSION.to_owned()),
            (JOB_KEY.to_owned(), self.job.clone()),
            (PROGRESS_KEY.to_owned(), text),
        ]
        .into();
        if let Some(about) = learner.about() {
            let about = serde_json::to_string(&about).expect("it has numbers and texts alone");
            texts.insert(ABOUT.to_owned(), about);
        }
        texts
    }

    fn restore(&self, kept: &Kept, learner: &mut dyn Learner) -> Result<Progress, TrainError> {
        if let Some(difference) = difference(kept.text(JOB_KEY)?, &self.job) {
            return Err(kept.fault(&difference));
        }
        let progress = kept.progress()?;
        learner.restore(&kept.file).map_err(|error| kept.fault(&error.to_string()))?;
        Ok(progress)
    }
}

/// Whether a job will go on from a checkpoint, so that what it would begin with is not needed.
pub(crate) fn goes_on(options: Option<&CheckpointOptions>) -> bool {
    options.is_some_and(|options| {
        options.start == CheckpointStart::Resume
            && checkpoints(&options.folder).is_ok_and(|paths| !paths.is_empty())
    })
}

#[cfg(test)]
mod tests;
