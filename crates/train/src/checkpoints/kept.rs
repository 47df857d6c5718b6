//! A checkpoint that is there: read whole, and checked before anything of it is used.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trainwright_networks::{NetworksError, SafeTensors};
use trainwright_study::JobSpec;

use super::checksums::{self, CHECKSUMS};
use super::folder::checkpoints;
use crate::error::TrainError;
use crate::train::progress::Progress;

/// What the version line of a checkpoint says.
pub(super) const VERSION: &str = "trainwright/checkpoint/2";

/// The version before checksums, which is still read.
const WITHOUT_CHECKSUMS: &str = "trainwright/checkpoint/1";

/// Texts of a checkpoint.
pub(super) const VERSION_KEY: &str = "version";
pub(super) const JOB_KEY: &str = "job";
pub(super) const PROGRESS_KEY: &str = "progress";

/// A checkpoint that was passed over, and the older one that was used instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamagedCheckpoint {
    /// The one that was passed over.
    pub checkpoint: PathBuf,
    /// What is wrong with it.
    pub problem: String,
    /// The one that was used.
    pub used: PathBuf,
}

/// A checkpoint without damage.
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    pub(crate) file: SafeTensors,
}

impl Kept {
    /// Reads a checkpoint.
    ///
    /// # Errors
    /// [`TrainError::DamagedCheckpoint`] when it is not as it was written; another when it is no
    /// checkpoint, or one of a newer program.
    pub(crate) fn open(path: &Path) -> Result<Self, TrainError> {
        let damaged =
            |problem: String| TrainError::DamagedCheckpoint { path: path.to_owned(), problem };
        if !path.exists() {
            let problem = "there is no such file or folder".to_owned();
            return Err(TrainError::Checkpoint { path: path.to_owned(), problem });
        }
        let file = SafeTensors::open(path).map_err(|error| match error {
            NetworksError::File { reason, .. } => damaged(reason),
            other => other.into(),
        })?;
        let kept = Self { path: path.to_owned(), file };
        let texts = kept.file.metadata();
        let keys = [VERSION_KEY, JOB_KEY, PROGRESS_KEY, CHECKSUMS];
        if !keys.iter().any(|&key| texts.contains_key(key)) {
            return Err(kept.fault("it has no `job`; is it a checkpoint?"));
        }
        let version = texts.get(VERSION_KEY).map_or("", String::as_str);
        if version == WITHOUT_CHECKSUMS && !texts.contains_key(CHECKSUMS) {
            return Ok(kept);
        }
        checksums::check(&kept.file).map_err(damaged)?;
        match version {
            VERSION => Ok(kept),
            _ => {
                Err(kept
                    .fault(&format!("its version is `{version}`, this program reads {VERSION}")))
            }
        }
    }

    /// The last checkpoint of a folder that is not damaged, and those that were passed over;
    /// without any checkpoint, none.
    ///
    /// # Errors
    /// When the folder cannot be read, all are damaged, or one is of a newer program.
    pub(crate) fn last_of(
        folder: &Path,
    ) -> Result<Option<(Self, Vec<DamagedCheckpoint>)>, TrainError> {
        let paths = checkpoints(folder)
            .map_err(|source| TrainError::Folder { path: folder.to_owned(), source })?;
        let mut damaged = Vec::new();
        for path in paths {
            match Self::open(&path) {
                Ok(kept) => {
                    let passed_over = |(checkpoint, problem)| {
                        let used = kept.path.clone();
                        DamagedCheckpoint { checkpoint, problem, used }
                    };
                    let damaged = damaged.into_iter().map(passed_over).collect();
                    return Ok(Some((kept, damaged)));
                }
                Err(TrainError::DamagedCheckpoint { path, problem }) => {
                    damaged.push((path, problem));
                }
                Err(error) => return Err(error),
            }
        }
        match damaged.into_iter().next() {
            None => Ok(None),
            Some((path, problem)) => Err(TrainError::NoSoundCheckpoint { path, problem }),
        }
    }

    /// The job that it is of.
    ///
    /// # Errors
    /// When there is none or it does not read.
    pub(crate) fn job(&self) -> Result<JobSpec, TrainError> {
        let text = self.text(JOB_KEY)?;
        serde_json::from_str(text)
            .map_err(|error| self.fault(&format!("its job does not read: {error}")))
    }

    /// Where the job stood.
    ///
    /// # Errors
    /// When it does not say so or that does not read.
    pub(super) fn progress(&self) -> Result<Progress, TrainError> {
        serde_json::from_str(self.text(PROGRESS_KEY)?)
            .map_err(|error| self.fault(&format!("its progress does not read: {error}")))
    }

    pub(super) fn text(&self, key: &str) -> Result<&str, TrainError> {
        let found = self.file.metadata().get(key);
        found.map(String::as_str).ok_or_else(|| self.fault(&format!("it has no `{key}`")))
    }

    /// Why it cannot be used.
    pub(crate) fn fault(&self, problem: &str) -> TrainError {
        TrainError::Checkpoint { path: self.path.clone(), problem: problem.to_owned() }
    }
}

#[cfg(test)]
mod tests;
