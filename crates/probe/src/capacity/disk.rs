//! The disk under a folder: a file written and flushed, forgotten by the system, read again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use trainwright_random::number_at;
use trainwright_study::{DiskCapacity, ReadFrom, Repeated};

use crate::ProbeError;
use crate::process::parse_io;

/// Bytes of one write or read.
const BLOCK: usize = 1 << 20;

/// What the disk does with a file of so many bytes.
pub(super) fn capacity(
    folder: &Path,
    bytes: usize,
    repetitions: u32,
) -> Result<DiskCapacity, ProbeError> {
    let failed = |source| ProbeError::Disk { folder: folder.to_owned(), source };
    let blocks = bytes.div_ceil(BLOCK).max(1);
    let (mut writes, mut reads, mut from_storage) = (Vec::new(), Vec::new(), true);
    for _ in 0..repetitions.max(1) {
        let (write, read, storage) = once(folder, blocks).map_err(failed)?;
        writes.push((blocks * BLOCK) as f64 / write);
        reads.push((blocks * BLOCK) as f64 / read);
        from_storage &= storage;
    }
    let repeated = |values: &[f64]| Repeated::of(values).expect("no time is zero");
    Ok(DiskCapacity {
        folder: folder.display().to_string(),
        write_bytes_per_s: repeated(&writes),
        read_bytes_per_s: repeated(&reads),
        read_from: if from_storage { ReadFrom::Storage } else { ReadFrom::PageCache },
    })
}

/// Seconds to write and to read, and whether the read bytes came from storage.
fn once(folder: &Path, blocks: usize) -> io::Result<(f64, f64, bool)> {
    let path = Temporary::new(folder)?;
    let block = unlike_bytes();
    let mut file = File::options().read(true).write(true).create_new(true).open(&path.0)?;
    let begun = Instant::now();
    for _ in 0..blocks {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    let write = begun.elapsed().as_secs_f64();
    // What the system still holds of the file would be measured instead of the disk.
    posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    file.seek(SeekFrom::Start(0))?;
    let before = read_from_storage();
    let mut read_block = vec![0; BLOCK];
    let begun = Instant::now();
    for _ in 0..blocks {
        file.read_exact(&mut read_block)?;
    }
    let read = begun.elapsed().as_secs_f64();
    let fetched = read_from_storage().zip(before).map(|(after, before)| after - before);
    let most = fetched.is_some_and(|bytes| bytes >= (blocks * BLOCK / 2) as u64);
    Ok((write, read, most))
}

/// Bytes that this thread's process has fetched from storage.
fn read_from_storage() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    parse_io(&text).map(|io| io.read_bytes)
}

/// A block that no disk can store as fewer bytes.
fn unlike_bytes() -> Vec<u8> {
    (0..BLOCK as u64 / 8).flat_map(|place| number_at(0x5eed, place).to_le_bytes()).collect()
}

/// A file that is taken away at the end, whatever happens.
struct Temporary(PathBuf);

impl Temporary {
    fn new(folder: &Path) -> io::Result<Self> {
        if !folder.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such folder"));
        }
        Ok(Self(folder.join(format!(".trainwright-disk-{}", std::process::id()))))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = std::fs::remove_file(&self.0);
    }
}
