//! The bytes of a shard, wherever it lies: as a stream or as a whole, unpacked.
//!
//! Every reader of shards gets its bytes here, so that another kind of place needs no other
//! change.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use crate::error::RecordsError;
use crate::files::bucket::{bucket_of, is_remote};
use crate::shards::compression::{Compression, unpacked_records};
use crate::shards::framing::RecordSlices;
use crate::shards::mapped_file::MappedFile;

/// Bytes that are mapped in ahead at a time, and how near their end the next are.
const AHEAD: usize = 4 << 20;
const MARGIN: usize = 1 << 20;

/// What Linux maps in around a page that is touched.
const AROUND: usize = 1 << 16;

/// The unpacked bytes of a whole shard: mapped when it is local and not compressed, else in
/// memory.
pub enum ShardBytes {
    /// Pages of the file itself.
    Mapped(MappedFile),
    /// A copy in memory.
    Owned(Vec<u8>),
}

impl Deref for ShardBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl ShardBytes {
    /// Maps a shard, or takes one that is compressed or in an object store into memory.
    ///
    /// Shards written here are never changed under their final name; of another that is shortened
    /// while it is read, [`ShardBytes::check`] tells.
    ///
    /// # Errors
    /// When it cannot be read or unpacked; the file is named.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        if is_remote(path) {
            let (mut stream, _) = open_shard(path)?;
            let mut bytes = Vec::new();
            let read = stream.read_to_end(&mut bytes);
            read.map_err(|error| RecordsError::from(error).in_file(path))?;
            return Ok(Self::Owned(bytes));
        }
        let map = map(path)?;
        if Compression::of(&map) == Compression::None {
            return Ok(Self::Mapped(map));
        }
        let unpacked = unpack(&map);
        map.check().and(unpacked).map_err(|error| error.in_file(path))
    }

    /// Whether what was read so far is what the shard held: to be asked after bytes were used.
    ///
    /// # Errors
    /// The file was shortened since it was opened.
    pub fn check(&self) -> Result<(), RecordsError> {
        match self {
            Self::Mapped(map) => map.check(),
            Self::Owned(_) => Ok(()),
        }
    }

    /// The same with a look at the end: zeros may stand before it in a page that is still there.
    ///
    /// # Errors
    /// As [`ShardBytes::check`].
    pub(crate) fn check_to_end(&self) -> Result<(), RecordsError> {
        if let Self::Mapped(map) = self {
            black_box(map.last().copied());
        }
        self.check()
    }

    /// The checked payloads from the first to the last.
    ///
    /// Pages of a mapped file are touched some ahead, many at a time, which costs less than to
    /// come upon them amid a checksum, and less than to ask for them by `MADV_POPULATE_READ`,
    /// which looks at every single page.
    pub fn records(&self) -> impl Iterator<Item = Result<&[u8], RecordsError>> {
        let mut asked = 0;
        let mut records = RecordSlices::new(self);
        std::iter::from_fn(move || {
            if let Self::Mapped(map) = self
                && records.offset() + MARGIN > asked
                && asked < map.len()
            {
                let end = map.len().min(asked + AHEAD);
                map[asked..end].iter().step_by(AROUND).for_each(|&byte| _ = black_box(byte));
                asked = end;
            }
            let record = records.next()?;
            let sound = if record.is_ok() { self.check() } else { self.check_to_end() };
            Some(sound.and(record))
        })
    }
}

fn map(path: &Path) -> Result<MappedFile, RecordsError> {
    let map = File::open(path).and_then(|file| MappedFile::open(&file));
    map.map_err(|error| RecordsError::from(error).in_file(path))
}

fn unpack(packed: &[u8]) -> Result<ShardBytes, RecordsError> {
    let mut bytes = Vec::new();
    unpacked_records(packed)?.0.read_to_end(&mut bytes)?;
    Ok(ShardBytes::Owned(bytes))
}

/// A stream of the unpacked bytes of a shard, and how it is compressed.
///
/// # Errors
/// When it cannot be opened; the file is named.
pub fn open_shard(path: &Path) -> Result<(Box<dyn Read + Send>, Compression), RecordsError> {
    let stream = bucket_of(path)?.open(path)?;
    unpacked_records(stream).map_err(|error| RecordsError::from(error).in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::writer::{IndexFile, ShardWriter};

    #[test]
    fn the_whole_is_the_same_however_the_shard_is_compressed() {
        let folder = tempfile::tempdir().unwrap();
        for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
            let path = folder.path().join(compression.to_string());
            let mut writer = ShardWriter::create(&path, compression, IndexFile::None).unwrap();
            writer.write(b"one").unwrap();
            writer.write(&[2; 100_000]).unwrap();
            writer.finish().unwrap();
            let bytes = ShardBytes::open(&path).unwrap();
            let sizes: Vec<_> = bytes.records().map(|it| it.unwrap().len()).collect();
            assert_eq!(sizes, [3, 100_000]);
            assert_eq!(matches!(bytes, ShardBytes::Mapped(_)), compression == Compression::None);
        }
    }

    #[test]
    fn an_empty_shard_has_no_records() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(ShardBytes::open(file.path()).unwrap().records().count(), 0);
    }

    #[test]
    fn a_shard_that_is_shortened_is_an_error_at_the_records_that_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::None).unwrap();
        (0..100).for_each(|_| writer.write(&[1; 10_000]).unwrap());
        writer.finish().unwrap();
        let bytes = ShardBytes::open(&path).unwrap();
        let mut records = bytes.records();
        assert_eq!(records.next().unwrap().unwrap().len(), 10_000);
        File::options().write(true).open(&path).unwrap().set_len(50_000).unwrap();
        let error = records.find_map(Result::err).unwrap().to_string();
        assert!(error.contains("shortened while it was read"), "{error}");
        assert!(bytes.check().is_err());
    }

    #[test]
    fn many_stretches_of_pages_are_the_records_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::None).unwrap();
        let sizes: Vec<usize> = (0..90).map(|number| number * number * 17).collect();
        sizes.iter().for_each(|&size| writer.write(&vec![size as u8; size]).unwrap());
        writer.write(&vec![7; 2 * AHEAD + MARGIN]).unwrap();
        writer.write(b"last").unwrap();
        writer.finish().unwrap();
        let found = ShardBytes::open(&path).unwrap();
        let found: Vec<usize> = found.records().map(|it| it.unwrap().len()).collect();
        assert_eq!(found, [&sizes[..], &[2 * AHEAD + MARGIN, 4]].concat());
    }
}
