//! Data sets by name or folder.
//!
//! Names are looked up in the given data folder, or else in the fetch cache and in the folder of
//! Debian's package; nothing is downloaded here (see [`crate::fetch`]).

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::data_sets::idx::{IdxBytes, read_idx, unpacked};
use crate::data_sets::labelled_images::{LabelledImages, Splits};
use crate::data_sets::published::{
    FASHION_MNIST, TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS,
};
use crate::data_sets::sample;
use crate::error::RecordsError;

/// Where Debian's `dataset-fashion-mnist` puts its files.
pub const DEBIAN_FASHION_MNIST: &str = "/usr/share/datasets/fashion-mnist";

pub(crate) const FASHION: &str = "fashion-mnist";
const FASHION_SAMPLE: &str = "fashion-mnist-sample";
const MNIST: &str = "mnist";
const CLASSES: usize = 10;

/// Loads a data set: `fashion-mnist-sample` (part of the program), `fashion-mnist` or `mnist`
/// (full sets on disk), or a folder with the four IDX files, plain or compressed. Shards and
/// folders of pictures are streamed instead; see [`crate::StreamedPictures`].
///
/// With `data_dir` a full set is looked for there only, as `data_dir` itself or the folder of the
/// set's name in it. The content of `fashion-mnist` is checked against the published one.
///
/// ```
/// let splits = trainwright_records::load("fashion-mnist-sample", None)?;
/// assert_eq!((splits.train().len(), splits.test().len()), (6000, 1000));
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
///
/// # Errors
/// When the name is unknown, the set is not there, or a file is damaged; the file is named.
pub fn load(name_or_path: &str, data_dir: Option<&Path>) -> Result<Splits, RecordsError> {
    match name_or_path {
        FASHION_SAMPLE => sample::fashion_mnist_sample(),
        FASHION => load_fashion_mnist(&locate_fashion_mnist(data_dir)?),
        MNIST => {
            let advice = "put its four IDX files into one of them or give a data folder";
            let searched = match data_dir {
                Some(folder) => inside(folder, MNIST),
                None => cache_folder().map(|cache| cache.join(MNIST)).into_iter().collect(),
            };
            let folder = first_with_set(searched, MNIST, advice)?;
            load_folder(&folder, Some(CLASSES))
        }
        path if Path::new(path).is_dir() => load_folder(Path::new(path), None),
        name => Err(RecordsError::UnknownData {
            name: name.to_owned(),
            known: vec![FASHION_SAMPLE, FASHION, MNIST],
        }),
    }
}

/// Whether a name or path is a data set with a training and a test part.
pub fn is_data_set(name_or_path: &str) -> bool {
    let path = Path::new(name_or_path);
    [FASHION_SAMPLE, FASHION, MNIST].contains(&name_or_path)
        || ["train", "test"].iter().all(|part| path.join(part).is_dir())
        || find_file(path, TRAIN_IMAGES).is_ok()
}

/// The folder that fetched data sets are kept in: `TRAINWRIGHT_CACHE`, or else `trainwright` in
/// the user's cache folder.
///
/// # Errors
/// When no variable says where that is.
pub fn cache_folder() -> Result<PathBuf, RecordsError> {
    cache_folder_from(|name| std::env::var_os(name))
}

fn cache_folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, RecordsError> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("TRAINWRIGHT_CACHE")
        .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("trainwright")))
        .or_else(|| folder("HOME").map(|home| home.join(".cache/trainwright")))
        .ok_or(RecordsError::NoCacheFolder)
}

fn locate_fashion_mnist(data_dir: Option<&Path>) -> Result<PathBuf, RecordsError> {
    let searched = match data_dir {
        Some(folder) => inside(folder, FASHION),
        None => cache_folder()
            .map(|cache| cache.join(FASHION))
            .into_iter()
            .chain([PathBuf::from(DEBIAN_FASHION_MNIST)])
            .collect(),
    };
    first_with_set(searched, FASHION, "`trainwright data fetch fashion-mnist` gets it")
}

fn inside(folder: &Path, name: &str) -> Vec<PathBuf> {
    vec![folder.join(name), folder.to_owned()]
}

fn first_with_set(
    searched: Vec<PathBuf>,
    name: &'static str,
    advice: &'static str,
) -> Result<PathBuf, RecordsError> {
    let files = [TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS];
    let whole = |folder: &&PathBuf| files.iter().all(|file| find_file(folder, file).is_ok());
    match searched.iter().find(whole) {
        Some(folder) => Ok(folder.clone()),
        None => Err(RecordsError::DataNotFound { name, searched, advice }),
    }
}

/// The plain file, or else the compressed one.
pub(crate) fn find_file(folder: &Path, file: &'static str) -> Result<PathBuf, RecordsError> {
    [folder.join(file), folder.join(format!("{file}.gz"))]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| RecordsError::FileMissing { folder: folder.to_owned(), file })
}

fn load_fashion_mnist(folder: &Path) -> Result<Splits, RecordsError> {
    let read = |file: usize, dimensions| {
        let published = FASHION_MNIST[file];
        let path = find_file(folder, published.name)?;
        let input = open(&path)?;
        let content = published.read(input, &path.display().to_string())?;
        read_idx(&content[..], dimensions).map_err(|error| error.in_file(path))
    };
    Splits::new(
        images(read(0, 3)?, read(1, 1)?, Some(CLASSES))?,
        images(read(2, 3)?, read(3, 1)?, Some(CLASSES))?,
    )
}

pub(crate) fn load_folder(folder: &Path, classes: Option<usize>) -> Result<Splits, RecordsError> {
    let read = |file, dimensions| {
        let path = find_file(folder, file)?;
        open(&path)
            .and_then(|input| unpacked(input).and_then(|input| read_idx(input, dimensions)))
            .map_err(|error| error.in_file(path))
    };
    let in_folder = |error: RecordsError| error.in_file(folder);
    let train = images(read(TRAIN_IMAGES, 3)?, read(TRAIN_LABELS, 1)?, classes);
    let test = images(read(TEST_IMAGES, 3)?, read(TEST_LABELS, 1)?, classes);
    Splits::new(train.map_err(in_folder)?, test.map_err(in_folder)?).map_err(in_folder)
}

fn open(path: &Path) -> Result<File, RecordsError> {
    File::open(path).map_err(|error| RecordsError::from(error).in_file(path))
}

/// Without a known number of classes it is one more than the highest label.
fn images(
    pixels: IdxBytes,
    labels: IdxBytes,
    classes: Option<usize>,
) -> Result<LabelledImages, RecordsError> {
    let highest = labels.values.iter().max().map_or(0, |&label| usize::from(label));
    let shape = (pixels.dimensions[1], pixels.dimensions[2]);
    LabelledImages::new(pixels.values, shape, labels.values, classes.unwrap_or(highest + 1))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn cache(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let find = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        };
        cache_folder_from(find).ok()
    }

    #[test]
    fn the_cache_folder_follows_the_most_specific_variable() {
        let home = ("HOME", "/h");
        let xdg = ("XDG_CACHE_HOME", "/x");
        assert_eq!(cache(&[]), None);
        assert_eq!(cache(&[home]).unwrap(), Path::new("/h/.cache/trainwright"));
        assert_eq!(cache(&[home, xdg]).unwrap(), Path::new("/x/trainwright"));
        assert_eq!(cache(&[home, xdg, ("TRAINWRIGHT_CACHE", "/t")]).unwrap(), Path::new("/t"));
        assert_eq!(
            cache(&[home, ("XDG_CACHE_HOME", "")]).unwrap(),
            Path::new("/h/.cache/trainwright")
        );
    }

    fn write_set(folder: &Path) {
        fs::write(
            folder.join(TRAIN_IMAGES),
            [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 7, 8],
        )
        .unwrap();
        fs::write(folder.join(TRAIN_LABELS), [0, 0, 8, 1, 0, 0, 0, 2, 0, 3]).unwrap();
        fs::write(folder.join(TEST_IMAGES), [0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 9])
            .unwrap();
        fs::write(folder.join(TEST_LABELS), [0, 0, 8, 1, 0, 0, 0, 1, 1]).unwrap();
    }

    #[test]
    fn a_folder_of_idx_files_is_a_data_set() {
        let folder = tempfile::tempdir().unwrap();
        write_set(folder.path());
        let splits = load(folder.path().to_str().unwrap(), None).unwrap();
        assert_eq!((splits.train().pixels(), splits.train().labels()), (&[7, 8][..], &[0, 3][..]));
        assert_eq!((splits.test().len(), splits.test().classes()), (1, 4));
    }

    #[test]
    fn mnist_is_found_in_the_data_folder_or_its_subfolder() {
        let folder = tempfile::tempdir().unwrap();
        write_set(folder.path());
        assert_eq!(load("mnist", Some(folder.path())).unwrap().train().classes(), 10);
        let outer = tempfile::tempdir().unwrap();
        fs::rename(folder.path(), outer.path().join("mnist")).unwrap();
        assert_eq!(load("mnist", Some(outer.path())).unwrap().train().len(), 2);
    }

    #[test]
    fn a_missing_label_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write_set(folder.path());
        fs::remove_file(folder.path().join(TEST_LABELS)).unwrap();
        let message = load(folder.path().to_str().unwrap(), None).unwrap_err().to_string();
        assert!(message.ends_with("has no `t10k-labels-idx1-ubyte` (plain or .gz)"), "{message}");
    }

    #[test]
    fn other_content_is_not_taken_for_fashion_mnist() {
        let folder = tempfile::tempdir().unwrap();
        write_set(folder.path());
        let message = load("fashion-mnist", Some(folder.path())).unwrap_err().to_string();
        assert!(message.contains("train-images-idx3-ubyte: SHA-256"), "{message}");
    }

    #[test]
    fn a_missing_set_names_the_command_that_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let message = load("fashion-mnist", Some(folder.path())).unwrap_err().to_string();
        assert!(message.contains("`trainwright data fetch fashion-mnist` gets it"), "{message}");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            load("fashon-mnist", None).unwrap_err().to_string(),
            "`fashon-mnist` is neither a data set (fashion-mnist-sample, fashion-mnist, mnist) \
             nor a folder with the four IDX files"
        );
    }
}
