//! The verbs `data prepare`, `data verify` and `data inspect`.

use std::path::{Path, PathBuf};

use trainwright_records::bucket::{Bucket, LocalBucket};
use trainwright_records::prepare::{PrepareOptions, PrepareProgress, Prepared, prepare};
use trainwright_records::sources::Source;
use trainwright_records::{FileVerdict, Inspection, bucket_of, is_remote};

use crate::Error;

/// Turns pictures or a table into shards of records, or goes on where an earlier run ended. The
/// folder may be in an object store, where nothing may be yet.
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
        return prepare_remote(source, out, options, progress);
    }
    Ok(prepare(Source::open(source)?, out, options, progress)?)
}

/// Prepares in a temporary folder, then copies every file to the object store, the shards before
/// what tells of them. An interrupted run starts again.
fn prepare_remote(
    source: &Path,
    out: &Path,
    options: &PrepareOptions,
    progress: &mut dyn FnMut(PrepareProgress),
) -> Result<Prepared, Error> {
    // Fails before the work where the store cannot be used at all.
    let bucket = bucket_of(out)?;
    if !bucket.list(out)?.is_empty() {
        let path = out.to_owned();
        return Err(Error::Exists { path });
    }
    let temporary = tempfile::tempdir()
        .map_err(|source| Error::Folder { path: std::env::temp_dir(), source })?;
    let prepared = prepare(Source::open(source)?, temporary.path(), options, progress)?;
    let mut files = LocalBucket.list(temporary.path())?;
    files.sort_by_key(|file| file.address.extension().is_none_or(|it| it != "tfrecord"));
    for file in files {
        let name = file.address.strip_prefix(temporary.path());
        let address = out.join(name.expect("the file was listed below the folder"));
        let mut bytes = Vec::new();
        LocalBucket.read(&file.address, &mut bytes)?;
        bucket.write(&address, &bytes)?;
    }
    Ok(prepared)
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
