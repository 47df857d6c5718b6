//! The verbs `data prepare`, `data verify` and `data inspect`.

use std::path::{Path, PathBuf};

use trainwright_records::prepare::{PrepareOptions, PrepareProgress, Prepared, prepare};
use trainwright_records::sources::Source;
use trainwright_records::{FileVerdict, Inspection};

use crate::Error;

/// Turns pictures or a table into shards of records, or goes on where an earlier run ended.
///
/// # Errors
/// The source cannot be read, the folder holds something else, or pictures are corrupt.
pub fn prepare_data(
    source: &Path,
    out: &Path,
    options: &PrepareOptions,
    progress: &mut dyn FnMut(PrepareProgress),
) -> Result<Prepared, Error> {
    Ok(prepare(Source::open(source)?, out, options, progress)?)
}

/// Reads record files whole and lists every damage.
///
/// # Errors
/// A file cannot be read, or a pattern matches none.
pub fn verify_data(patterns: &[String]) -> Result<Vec<FileVerdict>, Error> {
    let mut verdicts = Vec::new();
    for path in files(patterns)? {
        verdicts.push(trainwright_records::verify(&path)?);
    }
    Ok(verdicts)
}

/// Tells what record files hold, with the first `show` examples of each.
///
/// # Errors
/// A file cannot be read or is damaged, or a pattern matches none.
pub fn inspect_data(patterns: &[String], show: usize) -> Result<Vec<Inspection>, Error> {
    let mut inspections = Vec::new();
    for path in files(patterns)? {
        inspections.push(trainwright_records::inspect(&path, show)?);
    }
    Ok(inspections)
}

fn files(patterns: &[String]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for pattern in patterns {
        files.extend(trainwright_records::shard_paths(pattern)?);
    }
    Ok(files)
}
