//! The verbs `data prepare`, `data verify` and `data inspect`.

mod into_bucket;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use trainwright_records::prepare::{PrepareOptions, PrepareProgress, Prepared, prepare};
use trainwright_records::sources::Source;
use trainwright_records::{FileVerdict, Inspection, bucket_of, cache_folder, is_remote};

use crate::Error;
use into_bucket::prepare_into;

/// The shards that were made.
#[derive(Debug, Serialize)]
pub struct PrepareReply {
    /// What they hold.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// The folder they are in.
    pub out: PathBuf,
    /// Shards of an earlier run that had been changed since, and were made again.
    pub remade: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

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
) -> Result<PrepareReply, Error> {
    let begun = Instant::now();
    let prepared = if is_remote(out) {
        let (bucket, work) = (bucket_of(out)?, work_folder(out)?);
        prepare_into(&*bucket, (source, out), &work, options, progress)?
    } else {
        prepare(Source::open(source)?, out, options, progress)?
    };
    let (out, remade) = (out.to_owned(), prepared.remade.clone());
    Ok(PrepareReply { prepared, out, remade, seconds: begun.elapsed().as_secs_f64() })
}

/// The folder in which a set for an object store is made: one for each address.
pub(crate) fn work_folder(out: &Path) -> Result<PathBuf, Error> {
    let letter = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(*byte).to_string(),
        other => format!("%{other:02x}"),
    };
    let name: String = out.as_os_str().as_encoded_bytes().iter().map(letter).collect();
    Ok(cache_folder()?.join("preparing").join(name))
}

/// What is wrong with record files.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReply {
    /// How many files are damaged.
    pub damaged_files: usize,
    /// Every file.
    pub files: Vec<FileVerdict>,
}

/// What record files hold.
#[derive(Debug, Clone, Serialize)]
pub struct InspectReply {
    /// Every file.
    pub files: Vec<Inspection>,
}

/// Reads record files whole and lists every damage.
///
/// # Errors
/// A file cannot be read, or a pattern matches none.
pub fn verify_data(patterns: &[String]) -> Result<VerifyReply, Error> {
    let mut files = Vec::new();
    for path in record_files(patterns)? {
        files.push(trainwright_records::verify(&path)?);
    }
    let damaged_files = files.iter().filter(|verdict| !verdict.damages.is_empty()).count();
    Ok(VerifyReply { damaged_files, files })
}

/// Tells what record files hold, with the first `show` examples of each.
///
/// # Errors
/// A file cannot be read or is damaged, or a pattern matches none.
pub fn inspect_data(patterns: &[String], show: usize) -> Result<InspectReply, Error> {
    let mut files = Vec::new();
    for path in record_files(patterns)? {
        files.push(trainwright_records::inspect(&path, show)?);
    }
    Ok(InspectReply { files })
}

fn record_files(patterns: &[String]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for pattern in patterns {
        files.extend(trainwright_records::shard_paths_of_parts(pattern)?);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_becomes_one_folder_name() {
        let folder = work_folder(Path::new("s3://my-bucket/a_b/c.d")).unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, "s3%3a%2f%2fmy-bucket%2fa_b%2fc%2ed");
        assert!(folder.parent().unwrap().ends_with("preparing"));
    }

    proptest! {
        /// Two addresses never share a folder, and none leaves it.
        #[test]
        fn folders_are_told_apart(a in proptest::collection::vec(any::<u8>(), 1..20), b in proptest::collection::vec(any::<u8>(), 1..20)) {
            let folder = |bytes: &[u8]| work_folder(Path::new(OsStr::from_bytes(bytes))).unwrap();
            prop_assert_eq!(folder(&a) == folder(&b), a == b);
            prop_assert!(folder(&a).parent().unwrap().ends_with("preparing"));
        }
    }

    #[test]
    fn a_pattern_without_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = folder.path().join("none-*.tfrecord").to_str().unwrap().to_owned();
        for error in [
            verify_data(std::slice::from_ref(&pattern)).unwrap_err(),
            inspect_data(std::slice::from_ref(&pattern), 1).unwrap_err(),
        ] {
            assert!(error.to_string().contains("none-*.tfrecord"), "{error}");
        }
    }
}
