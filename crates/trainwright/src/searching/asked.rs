//! Which trials were asked for from outside and have not been told of: no runner of this program
//! has them, so that none of them is a dead runner's.
//!
//! They stand in a plain file beside the trials' folders. Whoever changes it holds the lock of the
//! study.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{Error, write_file};

fn file(trials: &Path) -> PathBuf {
    trials.join("asked")
}

/// Numbers of the trials that run outside.
pub(crate) fn asked_outside(trials: &Path) -> Result<BTreeSet<u32>, Error> {
    let path = file(trials);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect()),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(source) => Err(Error::Input { path, source }),
    }
}

/// These run outside from now on.
pub(super) fn keep_asked(trials: &Path, more: impl Iterator<Item = u32>) -> Result<(), Error> {
    let mut all = asked_outside(trials)?;
    all.extend(more);
    write(trials, &all)
}

/// This one has been told of.
pub(super) fn forget_asked(trials: &Path, number: u32) -> Result<(), Error> {
    let mut all = asked_outside(trials)?;
    if all.remove(&number) { write(trials, &all) } else { Ok(()) }
}

fn write(trials: &Path, all: &BTreeSet<u32>) -> Result<(), Error> {
    let lines: String = all.iter().map(|number| format!("{number}\n")).collect();
    write_file(&file(trials), lines.as_bytes())
}
