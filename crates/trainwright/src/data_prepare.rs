//! The verbs `data prepare`, `data verify` and `data inspect`.

mod into_bucket;

use std::path::{Path, PathBuf};

use trainwright_records::prepare::{PrepareOptions, PrepareProgress, Prepared, prepare};
use trainwright_records::sources::Source;
use trainwright_records::{FileVerdict, Inspection, bucket_of, cache_folder, is_remote};

use crate::Error;
use into_bucket::prepare_into;

/// Turns pictures or a table into shards of records, or goes on where an earlier run ended. The
/// folder may be in an object store; then the shards are made in the cache folder and copied.
///
/// # Errors
/// The source cannot be read, the folder holds something else, or pictures are corrupt.
pub fn prepare_data(
    source: &Path,
    out: &Path,
    options: &PrepareOptions,
    progress: &mut dyn FnMut(PrepareProgress),
) -> Result<Prepared, Error> {
    if is_remote(out) {
        let (bucket, work) = (bucket_of(out)?, work_folder(out)?);
        return prepare_into(&*bucket, (source, out), &work, options, progress);
    }
    Ok(prepare(Source::open(source)?, out, options, progress)?)
}

/// The folder in which a set for an object store is made: one for each address.
fn work_folder(out: &Path) -> Result<PathBuf, Error> {
    let letter = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(*byte).to_string(),
        other => format!("%{other:02x}"),
    };
    let name: String = out.as_os_str().as_encoded_bytes().iter().map(letter).collect();
    Ok(cache_folder()?.join("preparing").join(name))
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
        files.extend(trainwright_records::shard_paths_of_parts(pattern)?);
    }
    Ok(files)
}
