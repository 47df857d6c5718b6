//! Decoded pictures kept for later epochs, in memory or in a file without a name.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::RecordsError;
use crate::pictures::Picture;

/// Whether decoded pictures are kept for later epochs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheKind {
    /// Every epoch decodes anew.
    None,
    /// In memory; it must hold the pixels of all pictures.
    Memory,
    /// In a file of this folder that goes with the pipeline.
    Disk(PathBuf),
}

const EMPTY: u8 = 0;
const WRITING: u8 = 1;
const FULL: u8 = 2;

/// The pictures kept so far, with their labels; all have the same shape.
pub(super) enum Cache {
    None,
    Memory(Vec<OnceLock<(i64, Picture)>>),
    Disk { file: File, states: Vec<AtomicU8>, shape: OnceLock<[usize; 3]> },
}

impl Cache {
    pub(super) fn new(kind: &CacheKind, records: usize) -> Result<Self, RecordsError> {
        Ok(match kind {
            CacheKind::None => Self::None,
            CacheKind::Memory => Self::Memory((0..records).map(|_| OnceLock::new()).collect()),
            CacheKind::Disk(folder) => Self::Disk {
                file: tempfile::tempfile_in(folder)
                    .map_err(|error| RecordsError::from(error).in_file(folder))?,
                states: (0..records).map(|_| AtomicU8::new(EMPTY)).collect(),
                shape: OnceLock::new(),
            },
        })
    }

    /// Fills `picture` and gives its label, when the record is kept.
    pub(super) fn get(
        &self,
        record: usize,
        picture: &mut Picture,
    ) -> Result<Option<i64>, RecordsError> {
        match self {
            Self::None => Ok(None),
            Self::Memory(kept) => Ok(kept[record].get().map(|(label, kept)| {
                picture.reshape(kept.rows, kept.columns, kept.channels);
                picture.pixels.copy_from_slice(&kept.pixels);
                *label
            })),
            Self::Disk { file, states, shape } => {
                if states[record].load(Ordering::Acquire) != FULL {
                    return Ok(None);
                }
                let &[rows, columns, channels] = shape.get().expect("set before any is full");
                picture.reshape(rows, columns, channels);
                let place = place(record, shape.get().expect("set before any is full"));
                let mut label = [0; 8];
                file.read_exact_at(&mut label, place)?;
                file.read_exact_at(&mut picture.pixels, place + 8)?;
                Ok(Some(i64::from_le_bytes(label)))
            }
        }
    }

    /// Keeps a picture; one of another shape than the first is not kept on disk.
    pub(super) fn put(
        &self,
        record: usize,
        label: i64,
        picture: &Picture,
    ) -> Result<(), RecordsError> {
        match self {
            Self::None => {}
            Self::Memory(kept) => {
                // Another thread may have kept the same record in an epoch that overlaps.
                let _ = kept[record].set((label, picture.clone()));
            }
            Self::Disk { file, states, shape } => {
                let own = [picture.rows, picture.columns, picture.channels];
                let taken = states[record].compare_exchange(
                    EMPTY,
                    WRITING,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                if *shape.get_or_init(|| own) == own && taken.is_ok() {
                    let place = place(record, &own);
                    file.write_all_at(&label.to_le_bytes(), place)?;
                    file.write_all_at(&picture.pixels, place + 8)?;
                    states[record].store(FULL, Ordering::Release);
                }
            }
        }
        Ok(())
    }
}

fn place(record: usize, shape: &[usize; 3]) -> u64 {
    record as u64 * (8 + shape.iter().product::<usize>() as u64)
}
