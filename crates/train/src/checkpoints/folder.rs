//! The checkpoints of a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::train::progress::Progress;

/// Checkpoints that are kept; the one before the last is for the case that a disk loses the last.
const KEPT: usize = 2;

/// The name of a checkpoint: names sort as they were made. Steps alone would not tell the end of
/// an epoch from the step before it.
pub(super) fn name_of(progress: &Progress) -> String {
    format!("step-{:012}-epoch-{:06}.safetensors", progress.steps, progress.epoch)
}

/// Checkpoints of a folder, the last one first.
pub(super) fn checkpoints(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("step-") && name.ends_with(".safetensors") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.reverse();
    Ok(paths)
}

/// The last checkpoint of a folder, if it has any.
pub fn last_checkpoint(folder: &Path) -> Option<PathBuf> {
    checkpoints(folder).ok()?.into_iter().next()
}

/// Removes damaged checkpoints, and all others but the last; one that cannot be removed is only
/// untidy.
pub(super) fn forget_old(folder: &Path, damaged: &[PathBuf]) {
    let paths = checkpoints(folder).unwrap_or_default();
    let (damaged, sound): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|path| damaged.contains(path));
    for path in damaged.iter().chain(sound.iter().skip(KEPT)) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(steps: u64, epoch: u32) -> String {
        name_of(&Progress { steps, epoch, ..Progress::start(None) })
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        checkpoints(folder).unwrap().iter().map(name).collect()
    }

    fn folder_with(names: &[String]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        folder
    }

    #[test]
    fn the_last_comes_first_and_other_files_do_not_come() {
        let made = [named(9, 1), named(100, 3), named(100, 4), named(20, 2)];
        let others = ["notes.txt", ".step-1-epoch-1.safetensors.77", "step-7.onnx"];
        let folder = folder_with(&[&made[..], &others.map(str::to_owned)].concat());
        let expected = [&made[2], &made[1], &made[3], &made[0]].map(Clone::clone);
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn two_sound_ones_stay_and_none_that_is_damaged() {
        let made = [named(1, 1), named(2, 1), named(3, 1), named(4, 1)];
        let folder = folder_with(&made);
        forget_old(folder.path(), &[folder.path().join(&made[3])]);
        assert_eq!(names(folder.path()), [made[2].clone(), made[1].clone()]);
        forget_old(folder.path(), &[]);
        assert_eq!(names(folder.path()).len(), 2, "there is nothing more to forget");
    }
}
