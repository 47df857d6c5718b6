//! Pictures that need not belong to a data set: files, folders of them, and records.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::RecordsError;
use crate::files::regular_file::open_regular;
use crate::pictures::{Decoder, Framing, Picture, PixelLimit, Scaler};
use crate::pipeline::{Images, Pipeline, PipelineOptions, PixelKind};
use crate::shards::paths::shard_paths;
use crate::sources::PictureFolder;

/// Pictures that are decoded at a time.
const BATCH: usize = 64;

/// Pictures of one size, each with a name and perhaps a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoosePictures {
    /// Bytes of all pictures, one after another, channels last.
    pub pixels: Vec<u8>,
    /// The path of each below the folder, or its number among the records.
    pub names: Vec<String>,
    /// The class of each, where the pictures lie in a folder a class or are records.
    pub labels: Option<Vec<u32>>,
    /// Names of the classes, where folders have named them.
    pub classes: Option<Vec<String>>,
}

/// Loads pictures of `[rows, columns, channels]`: a picture file, a folder of them, a folder with a
/// folder a class, or TFRecord files (a file, a folder or a pattern).
///
/// Picture files are cut to the square in the middle and scaled, as `data prepare` does. Records
/// must have the size. `classes` names the classes of folders in the order of their labels; without
/// it they are in the order of the folders' names.
///
/// # Errors
/// When there is no picture, one cannot be decoded, has more pixels than `limit`, has another size,
/// or lies in the folder of an unknown class.
pub fn load_pictures(
    path: &Path,
    shape: [usize; 3],
    classes: Option<&[String]>,
    limit: PixelLimit,
) -> Result<LoosePictures, RecordsError> {
    if is_picture(path) {
        return decoded(&[path.to_owned()], shape, None, limit);
    }
    if path.is_dir() && !has_records(path) {
        let flat = flat_pictures(path)?;
        if !flat.is_empty() {
            return decoded(&flat, shape, Some(path), limit);
        }
        return of_folders(path, shape, classes, limit);
    }
    of_records(path, shape, limit)
}

fn is_picture(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ["jpg", "jpeg", "png"].iter().any(|known| ending == *known))
}

fn has_records(folder: &Path) -> bool {
    shard_paths(&folder.to_string_lossy()).is_ok_and(|paths| !paths.is_empty())
}

/// Picture files right in a folder, sorted.
fn flat_pictures(folder: &Path) -> Result<Vec<PathBuf>, RecordsError> {
    let in_folder = |error: std::io::Error| RecordsError::from(error).in_file(folder);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        if path.is_file() && is_picture(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn of_folders(
    path: &Path,
    shape: [usize; 3],
    classes: Option<&[String]>,
    limit: PixelLimit,
) -> Result<LoosePictures, RecordsError> {
    let folder = PictureFolder::open(path)?;
    let classes = classes.unwrap_or(folder.classes());
    let numbers: Vec<u32> = folder
        .classes()
        .iter()
        .map(|class| match classes.iter().position(|known| known == class) {
            Some(number) => Ok(number as u32),
            None => Err(RecordsError::UnknownClass {
                folder: path.join(class),
                classes: classes.to_vec(),
            }),
        })
        .collect::<Result<_, _>>()?;
    let paths: Vec<PathBuf> = (0..folder.items()).map(|item| folder.path(item)).collect();
    let labels = (0..folder.items()).map(|item| numbers[folder.label(item) as usize]).collect();
    let pictures = decoded(&paths, shape, Some(path), limit)?;
    Ok(LoosePictures { labels: Some(labels), classes: Some(classes.to_vec()), ..pictures })
}

/// Picture files, scaled; names are below `root`.
fn decoded(
    paths: &[PathBuf],
    [rows, columns, channels]: [usize; 3],
    root: Option<&Path>,
    limit: PixelLimit,
) -> Result<LoosePictures, RecordsError> {
    if rows != columns {
        return Err(RecordsError::NotSquare { rows, columns });
    }
    let (mut decoder, mut scaler) = (Decoder::new(limit)?, Scaler::new());
    let (mut picture, mut scaled) = (Picture::default(), Picture::default());
    let (mut file, mut pixels, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        let in_file = |error: RecordsError| error.in_file(path);
        file.clear();
        let read = open_regular(path).and_then(|mut open| open.read_to_end(&mut file));
        read.map_err(|error| in_file(error.into()))?;
        decoder.decode(&file, &mut picture).map_err(in_file)?;
        scaler.square(&picture, rows, Framing::Crop, &mut scaled);
        match channels {
            1 => pixels.extend(scaled.pixels.chunks_exact(3).map(grey)),
            _ => pixels.extend_from_slice(&scaled.pixels),
        }
        let name = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        names.push(name.to_string_lossy().into_owned());
    }
    Ok(LoosePictures { pixels, names, labels: None, classes: None })
}

/// The luma of ITU-R BT.601, as other programs turn colours to grey.
fn grey(pixel: &[u8]) -> u8 {
    let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(f32::from);
    (0.299 * red + 0.587 * green + 0.114 * blue).round() as u8
}

fn of_records(
    path: &Path,
    shape: [usize; 3],
    limit: PixelLimit,
) -> Result<LoosePictures, RecordsError> {
    let paths = shard_paths(&path.to_string_lossy())?;
    let options = PipelineOptions {
        batch: BATCH,
        shuffle: 1,
        interleave: 1,
        pixels: PixelKind::U8,
        max_pixels: limit,
        ..PipelineOptions::default()
    };
    let (mut pixels, mut labels, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for path in &paths {
        let in_file = |error: RecordsError| match error {
            named @ RecordsError::InFile { .. } => named,
            other => other.in_file(path),
        };
        let pipeline =
            Pipeline::open(std::slice::from_ref(path), options.clone()).map_err(in_file)?;
        let first = names.len();
        for batch in pipeline.epoch(0).map_err(in_file)? {
            let batch = batch.map_err(in_file)?;
            if batch.shape != shape {
                let (expected, found) = (shape, batch.shape);
                return Err(in_file(RecordsError::BatchShape { expected, found }));
            }
            let Images::U8(own) = &batch.images else { unreachable!("bytes were asked for") };
            pixels.extend_from_slice(own);
            for &label in &batch.labels {
                let example = names.len() - first;
                let beyond = |_| RecordsError::ClassRange { label, classes: 1 << 32 };
                let label = u32::try_from(label).map_err(beyond);
                labels.push(label.map_err(|error| in_file(error.in_record(example as u64)))?);
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                names.push(format!("{file}:{example}"));
            }
        }
    }
    Ok(LoosePictures { pixels, names, labels: Some(labels), classes: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::example::{Example, Feature};
    use crate::pictures::encode_png;
    use crate::shards::compression::Compression;
    use crate::shards::writer::{IndexFile, ShardWriter};

    fn load(
        path: &Path,
        shape: [usize; 3],
        classes: Option<&[String]>,
    ) -> Result<LoosePictures, RecordsError> {
        load_pictures(path, shape, classes, PixelLimit::default())
    }

    fn write(path: &Path, shade: [u8; 3]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let picture = Picture { rows: 4, columns: 6, channels: 3, pixels: shade.repeat(24) };
        fs::write(path, encode_png(&picture).unwrap()).unwrap();
    }

    #[test]
    fn folders_are_classes_in_the_order_that_is_told() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("rose/a.png"), [200, 0, 0]);
        write(&folder.path().join("tulip/b.png"), [0, 200, 0]);
        let found = load(folder.path(), [2, 2, 3], None).unwrap();
        assert_eq!(found.names, ["rose/a.png", "tulip/b.png"]);
        assert_eq!(found.labels, Some(vec![0, 1]));
        assert_eq!(found.pixels[..12], [200, 0, 0].repeat(4));
        let known = ["tulip", "daisy", "rose"].map(str::to_owned);
        let found = load(folder.path(), [2, 2, 1], Some(&known)).unwrap();
        assert_eq!(found.labels, Some(vec![2, 0]));
        assert_eq!(found.pixels, [60, 60, 60, 60, 117, 117, 117, 117]);
        let message = load(folder.path(), [2, 2, 3], Some(&known[..2])).unwrap_err();
        assert!(
            message.to_string().contains("rose is none of the classes tulip, daisy"),
            "{message}"
        );
    }

    #[test]
    fn loose_pictures_have_no_class() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("b.png"), [9, 9, 9]);
        write(&folder.path().join("a.png"), [8, 8, 8]);
        let found = load(folder.path(), [1, 1, 3], None).unwrap();
        assert_eq!(
            (found.names.as_slice(), &found.labels),
            (&["a.png", "b.png"].map(str::to_owned)[..], &None)
        );
        let one = load(&folder.path().join("b.png"), [1, 1, 3], None).unwrap();
        assert_eq!(one.pixels, [9, 9, 9]);
        fs::write(folder.path().join("c.png"), "no picture").unwrap();
        let message = load(folder.path(), [1, 1, 3], None).unwrap_err().to_string();
        assert!(message.contains("c.png"), "{message}");
        assert!(load(&folder.path().join("none"), [1, 1, 3], None).is_err());
    }

    /// A shard of grey pictures of 1 x 2 pixels, each with its label and with pixels that follow.
    fn write_shard(path: &Path, labels: &[i64]) {
        let mut writer = ShardWriter::create(path, Compression::None, IndexFile::None).unwrap();
        for &label in labels {
            let pixels = [label as u8, 7];
            let example = Example::from([
                ("image/raw", Feature::Bytes(vec![&pixels])),
                ("image/height", Feature::Ints(vec![1])),
                ("image/width", Feature::Ints(vec![2])),
                ("image/channels", Feature::Ints(vec![1])),
                ("label", Feature::Ints(vec![label])),
            ]);
            writer.write(&example.encode()).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn records_come_in_the_order_of_their_files_with_numbers_for_names() {
        let folder = tempfile::tempdir().unwrap();
        write_shard(&folder.path().join("b.tfrecord"), &[3]);
        // More than are decoded at a time.
        write_shard(&folder.path().join("a.tfrecord"), &(0..70).collect::<Vec<i64>>());
        let found = load(folder.path(), [1, 2, 1], None).unwrap();
        let labels: Vec<u32> = (0..70).chain([3]).collect();
        assert_eq!(found.names[..2], ["a.tfrecord:0", "a.tfrecord:1"]);
        assert_eq!(found.names[69..], ["a.tfrecord:69", "b.tfrecord:0"]);
        assert!(found.pixels.chunks(2).eq(labels.iter().map(|&label| [label as u8, 7])));
        assert_eq!((found.labels, found.classes), (Some(labels), None));
    }

    #[test]
    fn records_that_do_not_fit_are_told_with_their_file_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let fails = |shape| {
            let message = load(&path, shape, None).unwrap_err().to_string();
            message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
        };
        write_shard(&path, &[1, -3]);
        assert_eq!(
            fails([1, 2, 1]),
            "record 1 (counting from 0): label -3 is not one of the 4294967296 classes, which \
             count from 0"
        );
        assert_eq!(
            fails([2, 2, 1]),
            "the picture is [1, 2, 1] (rows, columns, channels) where its batch has [2, 2, 1]"
        );
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        let message = fails([1, 2, 1]);
        assert!(message.starts_with("record 1 (counting from 0) at byte "), "{message}");
        write_shard(&path, &[]);
        assert_eq!(fails([1, 2, 1]), "the data set has no examples");
    }

    #[test]
    fn files_are_squares_and_grey_is_the_luma() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        write(&path, [10, 20, 30]);
        assert_eq!(
            load(&path, [2, 3, 3], None).unwrap_err().to_string(),
            "picture files become squares, but pictures of 2 x 3 are wanted; prepare records of \
             that size"
        );
        // 0.299, 0.587 and 0.114 of each add up to 1, and give the values of BT.601 alone.
        let shades = [[255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255]];
        assert_eq!(shades.map(|shade| grey(&shade)), [255, 76, 150, 29]);
    }
}
