//! Reading a file that must not become shorter meanwhile.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::Error;

/// A file whose reading fails where it ends before the length that it had when it was opened: half a
/// table must not pass for the whole.
#[derive(Debug)]
pub(crate) struct WholeFile {
    file: File,
    /// Bytes at the beginning; none of a pipe.
    length: Option<u64>,
    read: u64,
}

impl WholeFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let open = || {
            let file = File::open(path)?;
            let about = file.metadata()?;
            Ok(Self { file, length: about.is_file().then_some(about.len()), read: 0 })
        };
        open().map_err(|source| Error::Input { path: path.to_owned(), source })
    }
}

impl Read for WholeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.file.read(buffer)?;
        self.read += found as u64;
        match self.length {
            Some(length) if found == 0 && !buffer.is_empty() && self.read < length => {
                Err(io::Error::other(format!(
                    "it was {length} bytes long and was shortened while it was read; begin again"
                )))
            }
            _ => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_becomes_shorter_is_no_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "x,y\n1,2\n3,4\n").unwrap();
        let mut text = String::new();
        WholeFile::open(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), 12);
        let mut own = WholeFile::open(&path).unwrap();
        own.read_exact(&mut [0; 5]).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(6).unwrap();
        let error = own.read_to_string(&mut text).unwrap_err().to_string();
        assert!(error.contains("12 bytes long and was shortened"), "{error}");
    }
}
