//! Preparing into an object store: made in a folder of this machine, then copied.
//!
//! The folder outlives an interrupted run, so that the next one goes on: with shards that are not
//! made yet, then with files that are not copied yet. What tells of the set is copied last.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use trainwright_records::RecordsError;
use trainwright_records::bucket::{Bucket, LocalBucket};
use trainwright_records::prepare::{PrepareOptions, PrepareProgress, Prepared, prepare};
use trainwright_records::sources::Source;

use crate::Error;

/// Prepares a source in the folder `work` and copies the result to `out` in a bucket.
///
/// # Errors
/// The source cannot be read, `out` holds something that `work` knows nothing of, or something
/// cannot be written.
pub(super) fn prepare_into(
    bucket: &dyn Bucket,
    (source, out): (&Path, &Path),
    work: &Path,
    options: &PrepareOptions,
    progress: &mut dyn FnMut(PrepareProgress),
) -> Result<Prepared, Error> {
    // Fails before the work where the store cannot be used at all.
    let there: BTreeMap<PathBuf, u64> =
        bucket.list(out)?.into_iter().map(|object| (object.address, object.bytes)).collect();
    if !there.is_empty() && !work.is_dir() {
        return Err(Error::Exists { path: out.to_owned() });
    }
    let in_work = |source| Error::Folder { path: work.to_owned(), source };
    let prepared = match prepare(Source::open(source)?, work, options, progress) {
        // Nothing was copied of what another wish left here, or all of it was and a run ended
        // while it tidied up.
        Err(error) if is_stale(&error, there.is_empty()) => {
            fs::remove_dir_all(work).map_err(in_work)?;
            prepare(Source::open(source)?, work, options, progress)?
        }
        other => other?,
    };
    let mut files = LocalBucket.list(work)?;
    files.sort_by_key(|file| file.address.extension().is_none_or(|it| it != "tfrecord"));
    let mut bytes = Vec::new();
    for file in files {
        let name = file.address.strip_prefix(work).expect("the file was listed below the folder");
        let address = out.join(name);
        // Objects appear whole or not at all, and the same files were made before.
        if there.get(&address) != Some(&file.bytes) {
            LocalBucket.read(&file.address, &mut bytes)?;
            bucket.write(&address, &bytes)?;
        }
    }
    fs::remove_dir_all(work).map_err(in_work)?;
    Ok(prepared)
}

/// Whether what lies in the folder of the work is of no use.
fn is_stale(error: &RecordsError, nothing_copied: bool) -> bool {
    match error {
        RecordsError::PreparedOtherwise { .. } => nothing_copied,
        RecordsError::FinishedChanged { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use trainwright_records::bucket::Object;
    use trainwright_records::pictures::{Framing, PixelLimit};
    use trainwright_records::prepare::{OnCorrupt, Storage};

    use super::*;

    /// A place whose writes fail after some.
    struct Failing {
        left: AtomicUsize,
    }

    impl Bucket for Failing {
        fn list(&self, folder: &Path) -> Result<Vec<Object>, RecordsError> {
            LocalBucket.list(folder)
        }

        fn open(&self, address: &Path) -> Result<Box<dyn std::io::Read + Send>, RecordsError> {
            LocalBucket.open(address)
        }

        fn read_range(
            &self,
            address: &Path,
            range: std::ops::Range<u64>,
        ) -> Result<Vec<u8>, RecordsError> {
            LocalBucket.read_range(address, range)
        }

        fn write(&self, address: &Path, bytes: &[u8]) -> Result<(), RecordsError> {
            match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1))
            {
                Ok(_) => LocalBucket.write(address, bytes),
                Err(_) => Err(RecordsError::from(std::io::Error::other("the line is cut"))),
            }
        }
    }

    fn options(seed: u64) -> PrepareOptions {
        PrepareOptions {
            size: None,
            framing: Framing::Crop,
            storage: Storage::Pixels,
            shards: 3,
            seed,
            split: None,
            threads: 1,
            corrupt: OnCorrupt::Refuse,
            max_pixels: PixelLimit::default(),
        }
    }

    fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let read = |object: Object| {
            let name = object.address.strip_prefix(folder).unwrap().to_owned();
            (name, fs::read(object.address).unwrap())
        };
        LocalBucket.list(folder).unwrap().into_iter().map(read).collect()
    }

    #[test]
    fn an_interrupted_copy_goes_on_to_what_one_run_would_have_made() {
        let scratch = tempfile::tempdir().unwrap();
        let [table, work, out, whole] =
            ["t.csv", "work", "out", "whole"].map(|name| scratch.path().join(name));
        fs::create_dir(&out).unwrap();
        let rows: String = (0..20).map(|row| format!("{row},{}\n", row % 2)).collect();
        fs::write(&table, format!("x,label\n{rows}")).unwrap();
        prepare(Source::open(&table).unwrap(), &whole, &options(1), &mut |_| ()).unwrap();
        for cut_after in 0..4 {
            let bucket = Failing { left: cut_after.into() };
            let places = (table.as_path(), out.as_path());
            let error = prepare_into(&bucket, places, &work, &options(1), &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains("the line is cut"), "{error}");
            assert!(!out.join("dataset.json").exists());
        }
        let other = prepare_into(&LocalBucket, (&table, &out), &work, &options(2), &mut |_| ());
        assert!(other.unwrap_err().to_string().contains("--seed"));
        prepare_into(&LocalBucket, (&table, &out), &work, &options(1), &mut |_| ()).unwrap();
        assert_eq!(content(&out), content(&whole));
        assert!(!work.exists());
        let again = prepare_into(&LocalBucket, (&table, &out), &work, &options(1), &mut |_| ());
        assert!(matches!(again, Err(Error::Exists { .. })));
    }

    #[test]
    fn another_wish_before_anything_was_copied_starts_anew() {
        let scratch = tempfile::tempdir().unwrap();
        let [table, work, out] = ["t.csv", "work", "out"].map(|name| scratch.path().join(name));
        fs::create_dir(&out).unwrap();
        fs::write(&table, "x,label\n1,0\n2,1\n").unwrap();
        let cut = Failing { left: 0.into() };
        prepare_into(&cut, (&table, &out), &work, &options(1), &mut |_| ()).unwrap_err();
        let made = prepare_into(&LocalBucket, (&table, &out), &work, &options(2), &mut |_| ());
        assert_eq!(made.unwrap().records, 2);
    }
}
