//! Files of this machine.

use std::fs;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Bucket, Object};
use crate::error::RecordsError;
use crate::files::durable::write_durably;
use crate::files::regular_file::open_regular;

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalBucket;

impl Bucket for LocalBucket {
    fn list(&self, folder: &Path) -> Result<Vec<Object>, RecordsError> {
        let mut objects = Vec::new();
        add_files(folder, &mut objects)?;
        objects.sort_by(|a, b| a.address.cmp(&b.address));
        Ok(objects)
    }

    fn open(&self, address: &Path) -> Result<Box<dyn Read + Send>, RecordsError> {
        match open_regular(address) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(RecordsError::from(error).in_file(address)),
        }
    }

    fn read_range(&self, address: &Path, range: Range<u64>) -> Result<Vec<u8>, RecordsError> {
        let read = || {
            let file = open_regular(address)?;
            // Compared first: a range may be longer than any memory.
            if range.end > file.metadata()?.len() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let mut bytes = vec![0; range.end.saturating_sub(range.start) as usize];
            file.read_exact_at(&mut bytes, range.start).map(|()| bytes)
        };
        match read() {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err(RecordsError::RangeBeyondEnd { range }.in_file(address))
            }
            Err(error) => Err(RecordsError::from(error).in_file(address)),
        }
    }

    fn write(&self, address: &Path, bytes: &[u8]) -> Result<(), RecordsError> {
        if let Some(folder) = address.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| RecordsError::from(error).in_file(folder))?;
        }
        write_durably(address, bytes)
    }
}

fn add_files(folder: &Path, objects: &mut Vec<Object>) -> Result<(), RecordsError> {
    let in_folder = |error: std::io::Error| RecordsError::from(error).in_file(folder);
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let entry = entry.map_err(in_folder)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let address = entry.path();
        // Follows links, as reading does.
        let about = fs::metadata(&address).map_err(|e| RecordsError::from(e).in_file(&address))?;
        if about.is_dir() {
            add_files(&address, objects)?;
        } else if about.is_file() {
            objects.push(Object { address, bytes: about.len() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::bucket::contract;

    #[test]
    fn the_file_system_keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        contract::check(&LocalBucket, folder.path());
    }

    #[test]
    fn hidden_files_are_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".a.tfrecord.trainwright-partial"), b"half").unwrap();
        assert_eq!(LocalBucket.list(folder.path()).unwrap(), []);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let error = LocalBucket.list(Path::new("no/such/folder")).unwrap_err().to_string();
        assert!(error.starts_with("no/such/folder: "), "{error}");
    }

    #[test]
    fn a_range_far_beyond_the_end_is_told_and_asks_for_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        fs::write(&path, b"1234567").unwrap();
        for range in [3..8, 8..9, 0..u64::MAX, u64::MAX - 1..u64::MAX] {
            let expected = format!("{}: it ends before byte {}", path.display(), range.end);
            let error = LocalBucket.read_range(&path, range).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(LocalBucket.read_range(&path, 7..7).unwrap(), b"");
        assert_eq!(LocalBucket.read_range(&path, 5..7).unwrap(), b"67");
    }
}
