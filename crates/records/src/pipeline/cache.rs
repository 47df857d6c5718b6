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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picture(rows: usize, columns: usize, first: u8) -> Picture {
        let pixels = (0..rows * columns).map(|at| first.wrapping_add(at as u8)).collect();
        Picture { rows, columns, channels: 1, pixels }
    }

    /// What a cache gives for a record, into memory that held something else before.
    fn got(cache: &Cache, record: usize) -> Option<(i64, Picture)> {
        let mut into = picture(5, 7, 99);
        cache.get(record, &mut into).unwrap().map(|label| (label, into))
    }

    /// Caches that keep, and the folder of the one on disk.
    fn keeping(records: usize) -> (tempfile::TempDir, [Cache; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let disk = CacheKind::Disk(folder.path().to_owned());
        let caches = [CacheKind::Memory, disk].map(|kind| Cache::new(&kind, records).unwrap());
        (folder, caches)
    }

    #[test]
    fn nothing_is_found_that_was_not_kept() {
        let (_folder, caches) = keeping(3);
        for cache in caches {
            cache.put(1, 4, &picture(2, 3, 0)).unwrap();
            assert_eq!((got(&cache, 0), got(&cache, 2)), (None, None));
        }
        let none = Cache::new(&CacheKind::None, 3).unwrap();
        none.put(1, 4, &picture(2, 3, 0)).unwrap();
        assert_eq!(got(&none, 1), None);
    }

    #[test]
    fn the_first_picture_of_a_record_stays() {
        let (_folder, caches) = keeping(1);
        for cache in caches {
            cache.put(0, -4, &picture(2, 3, 10)).unwrap();
            cache.put(0, 5, &picture(2, 3, 20)).unwrap();
            assert_eq!(got(&cache, 0), Some((-4, picture(2, 3, 10))));
        }
    }

    #[test]
    fn a_picture_of_another_shape_is_kept_in_memory_but_not_on_disk() {
        let (_folder, [memory, disk]) = keeping(3);
        for cache in [&memory, &disk] {
            cache.put(1, 1, &picture(2, 3, 10)).unwrap();
            // As many pixels, and more of them, than the places in the file are made for.
            cache.put(0, 0, &picture(3, 2, 20)).unwrap();
            cache.put(2, 2, &picture(9, 9, 30)).unwrap();
            assert_eq!(got(cache, 1), Some((1, picture(2, 3, 10))));
        }
        assert_eq!(got(&memory, 0), Some((0, picture(3, 2, 20))));
        assert_eq!(got(&memory, 2), Some((2, picture(9, 9, 30))));
        assert_eq!((got(&disk, 0), got(&disk, 2)), (None, None));
    }

    #[test]
    fn the_file_of_a_cache_has_no_name_and_needs_a_folder() {
        let (folder, caches) = keeping(2);
        caches[1].put(0, 1, &picture(2, 2, 1)).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let nowhere = CacheKind::Disk("no/such/folder".into());
        let message = Cache::new(&nowhere, 2).err().unwrap().to_string();
        assert!(message.starts_with("no/such/folder: "), "{message}");
    }

    #[test]
    fn threads_that_keep_the_same_records_at_once_do_not_mix_them() {
        let (_folder, caches) = keeping(40);
        for cache in &caches {
            std::thread::scope(|scope| {
                for start in [0, 13, 26] {
                    scope.spawn(move || {
                        for record in (0..40).map(|at| (at + start) % 40) {
                            let own = picture(8, 8, record as u8);
                            cache.put(record, record as i64, &own).unwrap();
                            if let Some(found) = got(cache, record) {
                                assert_eq!(found, (record as i64, own));
                            }
                        }
                    });
                }
            });
            assert!((0..40).all(|record| got(cache, record).is_some()));
        }
    }

    proptest! {
        #[test]
        fn records_kept_in_any_order_come_back(
            rows in 1..6_usize, columns in 1..6_usize,
            order in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(), labels: [i64; 12],
        ) {
            let (_folder, caches) = keeping(12);
            for cache in caches {
                for &record in &order {
                    let own = picture(rows, columns, record as u8);
                    cache.put(record, labels[record], &own).unwrap();
                }
                for (record, &label) in labels.iter().enumerate() {
                    let expected = (label, picture(rows, columns, record as u8));
                    prop_assert_eq!(got(&cache, record), Some(expected));
                }
            }
        }
    }
}
