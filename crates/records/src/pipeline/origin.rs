//! Where pictures come from: shards, or files of a folder.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fill::picture_of;
use crate::error::RecordsError;
use crate::files::regular_file::open_regular;
use crate::messages::example_view::ExampleView;
use crate::pictures::{Decoder, Framing, Picture, PixelLimit, Scaler};
use crate::shards::bytes::ShardBytes;
use crate::shards::framing::RecordSlices;
use crate::shards::index::{IndexEntry, index_path, read_index};
use crate::sources::PictureFolder;

/// A numbered list of labelled pictures.
pub(super) enum Origin {
    Shards {
        shards: Vec<Shard>,
        /// Number of the first record of each shard, and at the end that of all records.
        starts: Vec<usize>,
    },
    Folder(FolderPart),
}

/// Some of the pictures of a folder, to be made squares.
#[derive(Clone)]
pub struct FolderPart {
    /// The folder.
    pub folder: Arc<PictureFolder>,
    /// Its pictures that count.
    pub items: Vec<u32>,
    /// Side of the squares in pixels.
    pub size: usize,
    /// How they become squares.
    pub framing: Framing,
}

pub(super) struct Shard {
    path: PathBuf,
    bytes: ShardBytes,
    index: Vec<IndexEntry>,
}

/// What one thread needs to get pictures.
pub(super) struct PictureReader {
    decoder: Decoder,
    scaler: Scaler,
    file: Vec<u8>,
    whole: Picture,
    square: Picture,
}

impl Origin {
    pub(super) fn shards(paths: &[PathBuf]) -> Result<Self, RecordsError> {
        let shards = paths.iter().map(|path| Shard::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut starts = vec![0];
        for shard in &shards {
            starts.push(starts.last().expect("it begins with 0") + shard.index.len());
        }
        Ok(Self::Shards { shards, starts })
    }

    pub(super) fn records(&self) -> usize {
        match self {
            Self::Shards { starts, .. } => *starts.last().expect("it begins with 0"),
            Self::Folder(part) => part.items.len(),
        }
    }

    /// Where each stretch of records that lie together begins, and where the last ends.
    pub(super) fn starts(&self) -> Vec<usize> {
        match self {
            Self::Shards { starts, .. } => starts.clone(),
            // Files lie nowhere together, and their order is that of the classes.
            Self::Folder(part) => (0..=part.items.len()).collect(),
        }
    }

    pub(super) fn label(&self, record: usize) -> Result<i64, RecordsError> {
        match self {
            Self::Shards { .. } => self.example(record)?.int("label"),
            Self::Folder(part) => Ok(part.folder.label(part.items[record] as usize).into()),
        }
        .map_err(|error| self.placed(record, error))
    }

    /// The checked example of a record of shards.
    fn example(&self, record: usize) -> Result<ExampleView<'_>, RecordsError> {
        let (shard, within) = self.shard_of(record);
        RecordSlices::at(&shard.bytes, shard.index[within], within as u64)
            .map(ExampleView::new)
            .map_err(|error| error.in_file(&shard.path))
    }

    fn shard_of(&self, record: usize) -> (&Shard, usize) {
        let Self::Shards { shards, starts } = self else { unreachable!("a folder has no shards") };
        let shard = starts.partition_point(|&start| start <= record) - 1;
        (&shards[shard], record - starts[shard])
    }

    /// An error with the place of the record it happened in.
    pub(super) fn placed(&self, record: usize, error: RecordsError) -> RecordsError {
        if matches!(error, RecordsError::InFile { .. }) {
            return error;
        }
        match self {
            Self::Folder(part) => error.in_file(part.folder.path(part.items[record] as usize)),
            Self::Shards { .. } => {
                let (shard, within) = self.shard_of(record);
                error.in_record(within as u64).in_file(&shard.path)
            }
        }
    }
}

impl PictureReader {
    pub(super) fn new(limit: PixelLimit) -> Result<Self, RecordsError> {
        let (scaler, file) = (Scaler::new(), Vec::new());
        let (whole, square) = (Picture::default(), Picture::default());
        Ok(Self { decoder: Decoder::new(limit)?, scaler, file, whole, square })
    }

    /// Puts the pixels of a record where `room` says, given their shape; gives the label.
    pub(super) fn read<'a>(
        &mut self,
        origin: &Origin,
        record: usize,
        room: impl FnOnce([usize; 3]) -> Result<&'a mut [u8], RecordsError>,
    ) -> Result<i64, RecordsError> {
        match origin {
            Origin::Shards { .. } => {
                let example = origin.example(record)?;
                picture_of(&example, &mut self.decoder, room)?;
                example.int("label")
            }
            Origin::Folder(part) => {
                let item = part.items[record] as usize;
                self.file.clear();
                open_regular(&part.folder.path(item))?.read_to_end(&mut self.file)?;
                self.decoder.decode(&self.file, &mut self.whole)?;
                self.scaler.square(&self.whole, part.size, part.framing, &mut self.square);
                self.whole.forget_if_huge();
                room([part.size, part.size, 3])?.copy_from_slice(&self.square.pixels);
                Ok(part.folder.label(item).into())
            }
        }
    }
}

impl Shard {
    fn open(path: &Path) -> Result<Self, RecordsError> {
        let bytes = ShardBytes::open(path)?;
        let beside = index_path(path);
        let index = if matches!(bytes, ShardBytes::Mapped(_)) && beside.is_file() {
            read_index(&beside)?
        } else {
            RecordSlices::index(&bytes).map_err(|error| error.in_file(path))?
        };
        // An index of another version of the file would hide records.
        let end = index.last().map_or(0, |last| last.offset.saturating_add(last.bytes));
        if end != bytes.len() as u64 {
            let found = bytes.len() as u64;
            return Err(RecordsError::IndexEnd { expected: end, found }.in_file(beside));
        }
        Ok(Self { path: path.to_owned(), bytes, index })
    }
}
