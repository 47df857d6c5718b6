//! A text file that rows are taken out of by their places.
//!
//! It is read, never mapped: a mapped file that somebody shortens would end the program, where a
//! read past the end is an error that can be told. What fits is kept in memory: rows are taken in a
//! random order, and a call of the system for each would take longer than the row itself.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::RecordsError;
use crate::files::regular_file::open_regular;
use crate::shards::compression::{Compression, unpacked_records};

/// What is read in one go from the first byte to the last.
const BUFFER_BYTES: usize = 1 << 18;

/// Longest text that is kept in memory.
const KEPT_BYTES: u64 = 1 << 30;

/// A file, or the unpacked content of a GZIP-compressed one.
pub(super) struct TextFile {
    path: PathBuf,
    text: Text,
    bytes: u64,
}

enum Text {
    InFile(File),
    InMemory(Vec<u8>),
}

impl TextFile {
    pub(super) fn open(path: &Path) -> Result<Self, RecordsError> {
        Self::open_keeping(path, KEPT_BYTES)
    }

    /// The same, kept in memory up to a length of its own choice.
    fn open_keeping(path: &Path, most: u64) -> Result<Self, RecordsError> {
        let in_file = |error: io::Error| RecordsError::from(error).in_file(path);
        let mut file = open_regular(path).map_err(in_file)?;
        let mut start = Vec::new();
        (&mut file).take(16).read_to_end(&mut start).map_err(in_file)?;
        file.rewind().map_err(in_file)?;
        // A text may begin like a ZLIB stream, but not like a GZIP one.
        if Compression::of(&start) == Compression::Gzip {
            let mut text = Vec::new();
            let unpacked = unpacked_records(file).and_then(|(mut it, _)| it.read_to_end(&mut text));
            let bytes = unpacked.map_err(in_file)? as u64;
            return Ok(Self { path: path.to_owned(), text: Text::InMemory(text), bytes });
        }
        let bytes = file.metadata().map_err(in_file)?.len();
        if bytes <= most {
            let mut text = vec![0; bytes as usize];
            let path = path.to_owned();
            return match file.read_exact(&mut text) {
                Ok(()) => Ok(Self { path, text: Text::InMemory(text), bytes }),
                Err(error) => Err(short_or(error, bytes).in_file(path)),
            };
        }
        Ok(Self { path: path.to_owned(), text: Text::InFile(file), bytes })
    }

    /// How long the text was when it was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The text from its first byte on; one such reader at a time.
    pub(super) fn whole(&self) -> Result<BufReader<Box<dyn Read + '_>>, RecordsError> {
        let input: Box<dyn Read + '_> = match &self.text {
            Text::InFile(file) => {
                let mut file = file;
                file.rewind().map_err(|error| self.named(error))?;
                Box::new(file)
            }
            Text::InMemory(text) => Box::new(Cursor::new(text)),
        };
        Ok(BufReader::with_capacity(BUFFER_BYTES, input))
    }

    /// Some of the text, in `into`.
    ///
    /// # Errors
    /// When it cannot be read, or was shortened since it was opened; the file is named.
    pub(super) fn read<'a>(
        &'a self,
        range: Range<u64>,
        into: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], RecordsError> {
        match &self.text {
            Text::InMemory(text) => Ok(&text[range.start as usize..range.end as usize]),
            Text::InFile(file) => {
                into.resize((range.end - range.start) as usize, 0);
                match file.read_exact_at(into, range.start) {
                    Ok(()) => Ok(into),
                    Err(error) => Err(short_or(error, self.bytes).in_file(&self.path)),
                }
            }
        }
    }

    fn named(&self, error: io::Error) -> RecordsError {
        RecordsError::from(error).in_file(&self.path)
    }
}

/// The end of the file before its end means that it was shortened.
fn short_or(error: io::Error, before: u64) -> RecordsError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => RecordsError::Shortened { before },
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_shortened_while_it_is_read_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "+1 1:0.5\n".repeat(10_000)).unwrap();
        let text = TextFile::open_keeping(file.path(), 0).unwrap();
        file.as_file().set_len(9).unwrap();
        let mut memory = Vec::new();
        assert_eq!(text.read(0..9, &mut memory).unwrap(), b"+1 1:0.5\n");
        let message = text.read(89_991..90_000, &mut memory).unwrap_err().to_string();
        let name = file.path().display();
        assert!(message.starts_with(&format!("{name}: it was 90000 bytes long")), "{message}");
    }

    #[test]
    fn what_is_kept_in_memory_stays_as_it_was() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\ntwo\n").unwrap();
        let text = TextFile::open(file.path()).unwrap();
        file.as_file().set_len(0).unwrap();
        assert_eq!(text.read(4..8, &mut Vec::new()).unwrap(), b"two\n");
    }
}
