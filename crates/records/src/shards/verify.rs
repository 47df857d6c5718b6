//! Every damage of a TFRecord file, not only the first.
//!
//! A payload that fails its checksum is stepped over by its length, which has a checksum of its
//! own. After a damaged length nothing says where the next record begins, so the rest of the file
//! is told to be unreadable. An index beside the file must agree with it.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::RecordsError;
use crate::shards::bytes::open_shard;
use crate::shards::compression::Compression;
use crate::shards::framing::{Place, RecordReader};
use crate::shards::index::{IndexEntry, index_beside, index_path};

/// What a scan of one file found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileVerdict {
    /// The file.
    pub path: PathBuf,
    /// `none`, `gzip` or `zlib`.
    pub compression: String,
    /// Records whose two checksums are right.
    pub records: u64,
    /// Unpacked bytes that were read.
    pub bytes: u64,
    /// Everything that is wrong, in the order of the file.
    pub damages: Vec<Damage>,
}

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Number of the record, counting from 0.
    pub record: u64,
    /// Unpacked byte at which the record begins.
    pub offset: u64,
    /// What kind of damage it is.
    pub kind: DamageKind,
    /// The damage in words.
    pub message: String,
    /// Bytes from here to the end that cannot be read because of it.
    pub unreadable_bytes: Option<u64>,
}

/// Kinds of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DamageKind {
    /// A payload does not fit its checksum.
    Data,
    /// A length does not fit its checksum, or is absurd.
    Length,
    /// The file ends inside a record.
    Truncated,
    /// The compressed stream is damaged or cut off.
    Compression,
    /// The index beside the file does not agree with it.
    Index,
}

/// Reads a whole file and lists what is wrong with it.
///
/// # Errors
/// When the file cannot be opened or read, which is no damage.
pub fn verify(path: &Path) -> Result<FileVerdict, RecordsError> {
    let (input, compression) = open_shard(path)?;
    let mut scan = Scan::default();
    scan.read(RecordReader::new(input), compression).map_err(|error| error.in_file(path))?;
    if compression == Compression::None {
        scan.check_index(path)?;
    }
    Ok(FileVerdict {
        path: path.to_owned(),
        compression: compression.to_string(),
        records: scan.sound,
        bytes: scan.bytes,
        damages: scan.damages,
    })
}

#[derive(Default)]
struct Scan {
    sound: u64,
    bytes: u64,
    entries: Vec<IndexEntry>,
    damages: Vec<Damage>,
}

impl Scan {
    fn read(
        &mut self,
        mut reader: RecordReader<impl io::Read>,
        compression: Compression,
    ) -> Result<(), RecordsError> {
        loop {
            let place = reader.place();
            self.bytes = place.offset;
            let problem = match reader.next_unchecked() {
                Ok(None) => return Ok(()),
                Ok(Some(record)) => {
                    self.record(record.place, record.check());
                    let bytes = reader.place().offset - place.offset;
                    self.entries.push(IndexEntry { offset: place.offset, bytes });
                    continue;
                }
                Err(problem) => problem,
            };
            let kind = match &problem {
                RecordsError::TruncatedRecord { .. } => DamageKind::Truncated,
                RecordsError::ChecksumMismatch { .. } | RecordsError::RecordTooLong { .. } => {
                    DamageKind::Length
                }
                RecordsError::Io(error) if is_bad_stream(error, compression) => {
                    DamageKind::Compression
                }
                _ => return Err(problem),
            };
            let rest = match kind {
                DamageKind::Length => Some(self.rest(&mut reader, compression)?),
                _ => None,
            };
            self.bytes += rest.unwrap_or(0);
            self.damage(place, kind, problem.to_string(), rest);
            return Ok(());
        }
    }

    fn record(&mut self, place: Place, data: Result<&[u8], RecordsError>) {
        match data {
            Ok(_) => self.sound += 1,
            Err(problem) => self.damage(place, DamageKind::Data, problem.to_string(), None),
        }
    }

    /// Length of what follows a damaged length; a stream that breaks there too ends it.
    fn rest(
        &self,
        reader: &mut RecordReader<impl io::Read>,
        compression: Compression,
    ) -> Result<u64, RecordsError> {
        match reader.drain() {
            Err(error) if is_bad_stream(&error, compression) => Ok(0),
            other => Ok(other?),
        }
    }

    fn damage(&mut self, place: Place, kind: DamageKind, problem: String, rest: Option<u64>) {
        let message = match (kind, rest) {
            (DamageKind::Compression, _) => format!(
                "record {} (counting from 0) at unpacked byte {} cannot be unpacked: {problem}",
                place.record, place.offset
            ),
            (_, Some(rest)) => format!(
                "{problem}; nothing tells where the next record begins, so the last {rest} bytes \
                 are unreadable"
            ),
            _ => problem,
        };
        let Place { record, offset } = place;
        self.damages.push(Damage { record, offset, kind, message, unreadable_bytes: rest });
    }

    /// Compares the index beside the file with the records; one that cannot be read as an index is
    /// damage like any other.
    fn check_index(&mut self, path: &Path) -> Result<(), RecordsError> {
        match index_beside(path) {
            Ok(None) => {}
            Ok(Some(entries)) => self.compare(entries, &index_path(path)),
            Err(problem) if problem.is_bad_index_line() => {
                let (kind, message) = (DamageKind::Index, problem.to_string());
                let damage = Damage { record: 0, offset: 0, kind, message, unreadable_bytes: None };
                self.damages.push(damage);
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Compares the index with the records as far as both go.
    fn compare(&mut self, index: Vec<IndexEntry>, path: &Path) {
        let differs = index.iter().zip(&self.entries).position(|(a, b)| a != b);
        let path = path.display();
        let complaint = match differs {
            Some(record) => {
                let (said, found) = (index[record], self.entries[record]);
                Some((
                    record,
                    format!(
                        "{path} says record {record} is {} bytes at byte {}, it is {} bytes at \
                         byte {}",
                        said.bytes, said.offset, found.bytes, found.offset
                    ),
                ))
            }
            None if index.len() != self.entries.len() => Some((
                index.len().min(self.entries.len()),
                format!("{path} lists {} records, {} are there", index.len(), self.entries.len()),
            )),
            None => None,
        };
        if let Some((record, message)) = complaint {
            let after = self.entries.last().map_or(0, |last| last.offset + last.bytes);
            let offset = self.entries.get(record).map_or(after, |entry| entry.offset);
            let (record, kind) = (record as u64, DamageKind::Index);
            self.damages.push(Damage { record, offset, kind, message, unreadable_bytes: None });
        }
    }
}

/// Errors of a decompressor, as against those of the disk.
fn is_bad_stream(error: &io::Error, compression: Compression) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    compression != Compression::None
        && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

#[cfg(test)]
mod tests;
