//! Writing one shard: framed, perhaps compressed, indexed, and visible only when it is whole.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use crc32c::{crc32c, crc32c_append};
use serde::{Deserialize, Serialize};

use crate::error::RecordsError;
use crate::files::durable::{PrivateFile, flush_folder, folder_of, write_in_folder};
use crate::shards::block_writer::BlockWriter;
use crate::shards::compression::{Compression, Packer};
use crate::shards::framing::{FRAME_BYTES, RecordWriter};
use crate::shards::index::{IndexEntry, index_path, write_index};

/// Whether a shard gets an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexFile {
    /// An index beside the shard; compressed shards never have one.
    Beside,
    /// No index.
    None,
}

/// What a finished shard holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardSize {
    /// Records.
    pub records: u64,
    /// Bytes of its records and their frames, before any compression.
    pub bytes: u64,
}

/// Writes the records of one shard.
///
/// ```
/// use trainwright_records::{Compression, IndexFile, ShardWriter};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("data-00000-of-00001.tfrecord");
/// let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside)?;
/// writer.write(b"payload")?;
/// assert!(!path.exists());
/// writer.finish()?;
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ShardWriter {
    path: PathBuf,
    output: RecordWriter<Packer<BlockWriter<Checksummed<PrivateFile>>>>,
    index: Option<Vec<IndexEntry>>,
    size: ShardSize,
}

impl ShardWriter {
    /// Begins a shard that will be at `path`.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(
        path: &Path,
        compression: Compression,
        index: IndexFile,
    ) -> Result<Self, RecordsError> {
        let file = PrivateFile::create(path);
        let file = file.map_err(|error| RecordsError::from(error).in_file(path))?;
        let file = BlockWriter::new(Checksummed { output: file, checksum: 0 });
        let indexed = index == IndexFile::Beside && compression == Compression::None;
        Ok(Self {
            path: path.to_owned(),
            output: RecordWriter::new(Packer::new(file, compression)),
            index: indexed.then(Vec::new),
            size: ShardSize { records: 0, bytes: 0 },
        })
    }

    /// Adds one record.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, payload: &[u8]) -> Result<(), RecordsError> {
        let in_file = |error: std::io::Error| RecordsError::from(error).in_file(&self.path);
        self.output.write(payload).map_err(in_file)?;
        let bytes = (payload.len() + FRAME_BYTES) as u64;
        if let Some(index) = &mut self.index {
            index.push(IndexEntry { offset: self.size.bytes, bytes });
        }
        self.size.records += 1;
        self.size.bytes += bytes;
        Ok(())
    }

    /// What it holds so far.
    pub fn size(&self) -> ShardSize {
        self.size
    }

    /// Gives index and flushed shard their final names.
    ///
    /// # Errors
    /// When either cannot be written; then neither shard nor half a shard is visible.
    pub fn finish(self) -> Result<ShardSize, RecordsError> {
        let folder = folder_of(&self.path).to_owned();
        let size = self.seal()?.publish()?;
        flush_folder(&folder).map_err(|error| RecordsError::from(error).in_file(folder))?;
        Ok(size)
    }

    /// Ends the content; nothing is visible yet.
    pub(crate) fn seal(self) -> Result<SealedShard, RecordsError> {
        let Self { path, output, index, size } = self;
        let in_file = |error: std::io::Error| RecordsError::from(error).in_file(&path);
        let file = output.into_inner().finish().map_err(in_file)?;
        let Checksummed { output, checksum } = file.finish().map_err(in_file)?;
        let index = index.map(|entries| {
            let mut content = Vec::new();
            write_index(&mut content, &entries).expect("writing to memory cannot fail");
            content
        });
        Ok(SealedShard { path, file: output, checksum, index, size })
    }
}

/// A shard that has all its records and is still private.
pub(crate) struct SealedShard {
    path: PathBuf,
    file: PrivateFile,
    checksum: u32,
    index: Option<Vec<u8>>,
    size: ShardSize,
}

impl SealedShard {
    pub(crate) fn size(&self) -> ShardSize {
        self.size
    }

    /// What its files will hold.
    pub(crate) fn content(&self) -> ShardContent {
        let index = self.index.as_ref().map(|index| crc32c(index));
        ShardContent { crc32c: self.checksum, index_crc32c: index }
    }

    /// Gives index and flushed shard their final names, which are durable once the folder is
    /// flushed.
    pub(crate) fn publish(self) -> Result<ShardSize, RecordsError> {
        if let Some(index) = &self.index {
            let beside = index_path(&self.path);
            let written = write_in_folder(&beside, index);
            written.map_err(|error| RecordsError::from(error).in_file(beside))?;
        }
        let published = self.file.publish();
        published.map_err(|error| RecordsError::from(error).in_file(self.path))?;
        Ok(self.size)
    }
}

/// CRC-32C of the files of a shard, to tell later whether they are still what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardContent {
    crc32c: u32,
    index_crc32c: Option<u32>,
}

impl ShardContent {
    /// That of a shard, and its index if there is one, as they lie on disk.
    pub(crate) fn on_disk(shard: &Path) -> io::Result<Self> {
        let index = match file_checksum(&index_path(shard)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        Ok(Self { crc32c: file_checksum(shard)?, index_crc32c: index })
    }
}

fn file_checksum(path: &Path) -> io::Result<u32> {
    let mut checksum = Checksummed { output: io::sink(), checksum: 0 };
    io::copy(&mut BufReader::with_capacity(1 << 18, File::open(path)?), &mut checksum)?;
    Ok(checksum.checksum)
}

/// Passes bytes on and takes their CRC-32C.
struct Checksummed<W> {
    output: W,
    checksum: u32,
}

impl<W: Write> Write for Checksummed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes)?;
        self.checksum = crc32c_append(self.checksum, &bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::shards::framing::RecordSlices;
    use crate::shards::index::read_index;

    #[test]
    fn the_index_beside_a_shard_is_that_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside).unwrap();
        for size in [0, 1, 1000] {
            writer.write(&vec![7; size]).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), ShardSize { records: 3, bytes: 1001 + 3 * 16 });
        let bytes = fs::read(&path).unwrap();
        let index = read_index(&index_path(&path)).unwrap();
        assert_eq!(index, RecordSlices::index(&bytes).unwrap());
    }

    #[test]
    fn the_noted_content_is_that_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        for compression in [Compression::None, Compression::Gzip] {
            let mut writer = ShardWriter::create(&path, compression, IndexFile::Beside).unwrap();
            writer.write(&[7; 3_000_000]).unwrap();
            let sealed = writer.seal().unwrap();
            let content = sealed.content();
            let _ = fs::remove_file(index_path(&path));
            sealed.publish().unwrap();
            assert_eq!(ShardContent::on_disk(&path).unwrap(), content);
            let mut bytes = fs::read(&path).unwrap();
            bytes[100] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert_ne!(ShardContent::on_disk(&path).unwrap(), content);
        }
    }

    #[test]
    fn an_abandoned_shard_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::Beside).unwrap();
        writer.write(b"payload").unwrap();
        drop(writer);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let missing = Path::new("no/such/folder/a.tfrecord");
        let error = ShardWriter::create(missing, Compression::None, IndexFile::None).err().unwrap();
        assert!(error.to_string().starts_with("no/such/folder/a.tfrecord: "), "{error}");
    }
}
