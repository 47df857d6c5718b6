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
            Self::Shards { .. } => {
                let label = self.example(record).and_then(|example| example.int("label"));
                self.checked(record, label)
            }
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

    /// What was made of a record of shards, if the file was there to its end all the while.
    fn checked<T>(&self, record: usize, made: Result<T, RecordsError>) -> Result<T, RecordsError> {
        let (shard, _) = self.shard_of(record);
        let sound = if made.is_ok() { shard.bytes.check() } else { shard.bytes.check_to_end() };
        sound.map_err(|error| error.in_file(&shard.path)).and(made)
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
                let label = origin.example(record).and_then(|example| {
                    picture_of(&example, &mut self.decoder, room)?;
                    example.int("label")
                });
                origin.checked(record, label)
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
            let index = RecordSlices::index(&bytes);
            bytes.check().and(index).map_err(|error| error.in_file(path))?
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::messages::example::{Example, Feature};
    use crate::pictures::encode_png;
    use crate::shards::compression::Compression;
    use crate::shards::writer::{IndexFile, ShardWriter};

    /// Writes a shard of examples with nothing but these labels.
    fn shard(path: &Path, compression: Compression, labels: &[i64]) -> PathBuf {
        let mut writer = ShardWriter::create(path, compression, IndexFile::Beside).unwrap();
        for &label in labels {
            let example = Example::from([("label", Feature::Ints(vec![label]))]);
            writer.write(&example.encode()).unwrap();
        }
        writer.finish().unwrap();
        path.to_owned()
    }

    fn shards(folder: &Path, labels: &[&[i64]]) -> Vec<PathBuf> {
        let numbered = labels.iter().enumerate();
        let path = |number| folder.join(format!("{number}.tfrecord"));
        numbered.map(|(number, own)| shard(&path(number), Compression::None, own)).collect()
    }

    #[test]
    fn a_shard_that_is_shortened_later_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let labels: Vec<i64> = (0..2000).collect();
        let paths = shards(folder.path(), &[&labels]);
        let origin = Origin::shards(&paths).unwrap();
        assert_eq!(origin.label(1999).unwrap(), 1999);
        fs::File::options().write(true).open(&paths[0]).unwrap().set_len(100).unwrap();
        let error = origin.label(1999).unwrap_err().to_string();
        assert!(error.contains("0.tfrecord") && error.contains("shortened"), "{error}");
    }

    #[test]
    fn records_are_counted_through_all_shards_and_past_empty_ones() {
        let folder = tempfile::tempdir().unwrap();
        let paths = shards(folder.path(), &[&[], &[5, 6], &[], &[7]]);
        let origin = Origin::shards(&paths).unwrap();
        assert_eq!((origin.records(), origin.starts()), (3, vec![0, 0, 2, 2, 3]));
        let labels: Vec<_> = (0..3).map(|record| origin.label(record).unwrap()).collect();
        assert_eq!(labels, [5, 6, 7]);
    }

    #[test]
    fn no_index_is_needed_and_that_of_a_compressed_shard_is_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let plain = shard(&folder.path().join("a.tfrecord"), Compression::None, &[1, 2]);
        fs::remove_file(index_path(&plain)).unwrap();
        let packed = shard(&folder.path().join("b.tfrecord"), Compression::Zlib, &[3]);
        fs::write(index_path(&packed), "nonsense").unwrap();
        let origin = Origin::shards(&[plain, packed]).unwrap();
        assert_eq!((origin.label(1).unwrap(), origin.label(2).unwrap()), (2, 3));
    }

    #[test]
    fn an_index_that_ends_elsewhere_than_its_file_is_to_be_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let paths = shards(folder.path(), &[&[1, 2]]);
        let (beside, bytes) = (index_path(&paths[0]), fs::metadata(&paths[0]).unwrap().len());
        let ends = [("", 0), ("0 20\n", 20), ("0 20\n18446744073709551615 9", u64::MAX)];
        for (text, end) in ends {
            fs::write(&beside, text).unwrap();
            let expected = format!(
                "{}: the index ends at byte {end}, its file at byte {bytes}; delete the index",
                beside.display()
            );
            assert_eq!(Origin::shards(&paths).err().unwrap().to_string(), expected);
        }
    }

    #[test]
    fn an_index_with_wrong_places_gives_an_error_and_never_another_record() {
        let folder = tempfile::tempdir().unwrap();
        let paths = shards(folder.path(), &[&[1, 2]]);
        let bytes = fs::metadata(&paths[0]).unwrap().len();
        let half = bytes / 2;
        // Both records are as long, and the index ends where the file does.
        fs::write(index_path(&paths[0]), format!("1 {half}\n{half} {half}\n")).unwrap();
        let origin = Origin::shards(&paths).unwrap();
        let message = origin.label(0).unwrap_err().to_string();
        assert!(message.contains("0.tfrecord: record 0 (counting from 0) at byte 1 "), "{message}");
        assert_eq!(origin.label(1).unwrap(), 2);
    }

    #[test]
    fn errors_get_the_place_of_their_record_once() {
        let folder = tempfile::tempdir().unwrap();
        let paths = shards(folder.path(), &[&[1, 2], &[3, 4]]);
        let origin = Origin::shards(&paths).unwrap();
        let placed = origin.placed(3, RecordsError::NoExamples);
        let expected = format!(
            "{}: record 1 (counting from 0): the data set has no examples",
            paths[1].display()
        );
        assert_eq!(placed.to_string(), expected);
        assert_eq!(origin.placed(0, placed).to_string(), expected);
    }

    #[test]
    fn a_record_without_a_label_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let mut writer = ShardWriter::create(&path, Compression::None, IndexFile::None).unwrap();
        writer.write(&Example::from([("x", Feature::Ints(vec![1]))]).encode()).unwrap();
        writer.finish().unwrap();
        let message = Origin::shards(&[path]).unwrap().label(0).unwrap_err().to_string();
        let expected = "a.tfrecord: record 0 (counting from 0): feature `label` is missing";
        assert!(message.ends_with(expected), "{message}");
    }

    #[test]
    fn files_are_numbered_by_the_chosen_items_and_each_lies_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/1.png", "b/1.png", "b/2.png"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let shade = name.as_bytes()[0];
            let picture = Picture { rows: 2, columns: 2, channels: 3, pixels: vec![shade; 12] };
            fs::write(path, encode_png(&picture).unwrap()).unwrap();
        }
        let opened = Arc::new(PictureFolder::open(folder.path()).unwrap());
        let items = vec![2, 0];
        let part = FolderPart { folder: opened, items, size: 1, framing: Framing::Crop };
        let origin = Origin::Folder(part);
        assert_eq!((origin.records(), origin.starts()), (2, vec![0, 1, 2]));
        assert_eq!((origin.label(0).unwrap(), origin.label(1).unwrap()), (1, 0));
        let mut reader = PictureReader::new(PixelLimit::default()).unwrap();
        let mut picture = Picture::default();
        assert_eq!(reader.read(&origin, 0, picture.room()).unwrap(), 1);
        assert_eq!(picture.pixels, [b'b'; 3]);
        let message = origin.placed(1, RecordsError::NoExamples).to_string();
        assert!(message.ends_with("a/1.png: the data set has no examples"), "{message}");
    }
}
