//! Training and test pictures that are read while they are needed: prepared shards, or a folder of
//! picture files.
//!
//! Sets that fit in memory as they are (IDX files) are not streamed; see [`crate::load`].

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::RecordsError;
use crate::files::bucket::is_remote;
use crate::pictures::Framing;
use crate::pipeline::{CacheKind, FolderPart, Pipeline, PipelineOptions};
use crate::prepare::PartShares;
use crate::shards::paths::shard_paths;
use crate::sources::{IdxSet, PictureFolder};

/// Folders of the parts, as `data prepare --split` writes them.
const PARTS: [&str; 2] = ["train", "test"];

/// Decoded pictures up to this size are kept in memory, so that later epochs need not decode.
const CACHED_BYTES: u64 = 1 << 30;

/// Shares of a folder that is in no parts: those of `data prepare --split 0.8,0,0.2 --seed 1`.
const SHARES: [f64; 3] = [0.8, 0.0, 0.2];
const SPLIT_SEED: u64 = 1;

/// Names of the classes beside prepared shards, one a line.
const CLASSES: &str = "classes.txt";

/// A training and a test part.
pub struct StreamedPictures {
    /// The pictures to learn from.
    pub train: Pipeline,
    /// The pictures to judge by.
    pub test: Pipeline,
    /// Rows, columns and channels of each picture before any change.
    pub shape: [usize; 3],
    /// How many classes there are.
    pub classes: usize,
}

/// What a path holds that can be streamed.
enum Found {
    Shards([Vec<PathBuf>; 2]),
    Folder([FolderPart; 2]),
}

impl StreamedPictures {
    /// Opens what `data prepare --split` wrote, or a folder of pictures: `train` and `test` in it
    /// with a folder a class each, or such folders right in it, of which a fifth is the test part.
    /// Files of pictures are scaled and cut to squares of `size`. `None` when the path is neither.
    ///
    /// # Errors
    /// When something there cannot be read, or the two parts do not fit together.
    pub fn open(
        path: &Path,
        size: usize,
        options: &PipelineOptions,
    ) -> Result<Option<Self>, RecordsError> {
        let Some(found) = find(path, size)? else { return Ok(None) };
        let (train, test) = (found.open(0, options)?, found.open(1, options)?);
        let in_path = |error: RecordsError| error.in_file(path);
        let (shape, other) = (train.shape()?, test.shape()?);
        if shape[..2] != other[..2] {
            let (train, test) = ((shape[0], shape[1]), (other[0], other[1]));
            return Err(in_path(RecordsError::SplitShape { train, test }));
        }
        if shape[2] != other[2] {
            let (train, test) = (shape[2], other[2]);
            return Err(in_path(RecordsError::SplitChannels { train, test }));
        }
        let classes = found.classes(path, [&train, &test])?;
        let pictures = (train.records() + test.records()) as u64;
        if pictures * shape.iter().product::<usize>() as u64 > CACHED_BYTES {
            return Ok(Some(Self { train, test, shape, classes }));
        }
        let kept = |part: Pipeline| part.with_cache(CacheKind::Memory);
        Ok(Some(Self { train: kept(train)?, test: kept(test)?, shape, classes }))
    }
}

fn find(path: &Path, size: usize) -> Result<Option<Found>, RecordsError> {
    let shards = PARTS.map(|part| shard_paths(&path.join(part).to_string_lossy()));
    match shards {
        [Ok(train), Ok(test)] => return Ok(Some(Found::Shards([train, test]))),
        [Err(error), _] | [_, Err(error)] if is_remote(path) => return Err(error),
        _ if !path.is_dir() || IdxSet::is_at(path) => return Ok(None),
        _ => {}
    }
    let part = |folder: &Arc<PictureFolder>, items| FolderPart {
        folder: Arc::clone(folder),
        items,
        size,
        framing: Framing::Crop,
    };
    if PARTS.iter().all(|part| path.join(part).is_dir()) {
        let [train, test] = PARTS.map(|part| PictureFolder::open(&path.join(part)).map(Arc::new));
        let (train, test) = (train?, test?);
        if train.classes() != test.classes() {
            let [train, test] = [train, test].map(|folder| folder.classes().join(", "));
            return Err(RecordsError::SplitClasses { train, test }.in_file(path));
        }
        let all = |folder: &Arc<PictureFolder>| part(folder, (0..folder.items() as u32).collect());
        return Ok(Some(Found::Folder([all(&train), all(&test)])));
    }
    let folder = match PictureFolder::open(path) {
        Ok(folder) => Arc::new(folder),
        Err(RecordsError::NoPictures { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let shares = PartShares::new(SHARES).expect("the shares sum to 1");
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for item in 0..folder.items() {
        let name = shares.part(SPLIT_SEED, folder.name(item));
        if name == PARTS[0] { &mut train } else { &mut test }.push(item as u32);
    }
    Ok(Some(Found::Folder([part(&folder, train), part(&folder, test)])))
}

impl Found {
    fn open(&self, part: usize, options: &PipelineOptions) -> Result<Pipeline, RecordsError> {
        match self {
            Self::Shards(paths) => Pipeline::open(&paths[part], options.clone()),
            Self::Folder(parts) => Pipeline::open_folder(parts[part].clone(), options.clone()),
        }
    }

    /// The number of classes: that of the folders, or of the names beside the shards, or else one
    /// more than the highest label.
    fn classes(&self, path: &Path, parts: [&Pipeline; 2]) -> Result<usize, RecordsError> {
        if let Self::Folder([train, _]) = self {
            return Ok(train.folder.classes().len());
        }
        let named = fs::read_to_string(path.join(CLASSES)).map_or(0, |text| text.lines().count());
        if named > 0 {
            return Ok(named);
        }
        let mut highest = 0;
        for part in parts {
            for record in 0..part.records() {
                highest = highest.max(part.label(record)?);
            }
        }
        Ok(highest as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::{Picture, PixelLimit, encode_png};
    use crate::pipeline::{PictureUse, PixelKind};
    use crate::prepare::{OnCorrupt, PrepareOptions, Storage, prepare};
    use crate::sources::Source;

    /// Pictures of three classes, whose shade is ten times the class.
    fn pictures(folder: &Path, each: usize) {
        for number in 0..3 * each {
            let shade = 10 * (number % 3) as u8;
            let picture = Picture { rows: 6, columns: 5, channels: 3, pixels: vec![shade; 90] };
            let path = folder.join(format!("class-{}/{number}.png", number % 3));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, encode_png(&picture).unwrap()).unwrap();
        }
    }

    fn options() -> PipelineOptions {
        PipelineOptions { pixels: PixelKind::U8, ..PipelineOptions::default() }
    }

    fn opened(path: &Path) -> StreamedPictures {
        StreamedPictures::open(path, 4, &options()).unwrap().unwrap()
    }

    /// Labels of both parts, after a look at the pixels.
    fn labels(set: &StreamedPictures) -> [Vec<i64>; 2] {
        [&set.train, &set.test].map(|part| {
            let all: Vec<u32> = (0..part.records() as u32).collect();
            let mut labels = Vec::new();
            for batch in part.batches(&all, PictureUse::Judging).unwrap() {
                let batch = batch.unwrap();
                let crate::pipeline::Images::U8(pixels) = &batch.images else { panic!("bytes") };
                for (picture, label) in pixels.chunks(48).zip(&batch.labels) {
                    assert_eq!(picture, [10 * *label as u8; 48]);
                }
                labels.extend(batch.labels);
            }
            labels.sort_unstable();
            labels
        })
    }

    #[test]
    fn a_folder_is_split_as_preparing_would_split_it() {
        let (folder, shards) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        pictures(folder.path(), 20);
        let from_files = opened(folder.path());
        assert_eq!((from_files.shape, from_files.classes), ([4, 4, 3], 3));
        let options = PrepareOptions {
            size: Some(4),
            framing: Framing::Crop,
            storage: Storage::Pixels,
            shards: 2,
            seed: SPLIT_SEED,
            split: Some(PartShares::new(SHARES).unwrap()),
            threads: 1,
            corrupt: OnCorrupt::Refuse,
            max_pixels: PixelLimit::default(),
        };
        let source = Source::open(folder.path()).unwrap();
        prepare(source, shards.path(), &options, &mut |_| ()).unwrap();
        let from_shards = opened(shards.path());
        assert_eq!((from_shards.shape, from_shards.classes), ([4, 4, 3], 3));
        let found = labels(&from_files);
        assert_eq!(found, labels(&from_shards));
        assert!((30..57).contains(&found[0].len()), "{}", found[0].len());
    }

    #[test]
    fn parts_of_a_folder_must_have_the_same_classes() {
        let folder = tempfile::tempdir().unwrap();
        pictures(&folder.path().join("train"), 2);
        pictures(&folder.path().join("test"), 1);
        assert_eq!(labels(&opened(folder.path())), [vec![0, 0, 1, 1, 2, 2], vec![0, 1, 2]]);
        fs::remove_dir_all(folder.path().join("test/class-1")).unwrap();
        let error = StreamedPictures::open(folder.path(), 4, &options()).err().unwrap();
        let expected = "the classes of the training part are class-0, class-1, class-2, those of \
                        the test part class-0, class-2";
        assert!(error.to_string().ends_with(expected), "{error}");
    }

    #[test]
    fn other_folders_are_left_to_others() {
        let folder = tempfile::tempdir().unwrap();
        assert!(StreamedPictures::open(folder.path(), 4, &options()).unwrap().is_none());
        let nowhere = folder.path().join("nowhere");
        assert!(StreamedPictures::open(&nowhere, 4, &options()).unwrap().is_none());
    }
}
