//! A folder with the four IDX files of a set like MNIST, with its own train and test part.

use std::path::Path;

use sha2::Digest;

use super::Fingerprint;
use crate::data_sets::labelled_images::{LabelledImages, Splits};
use crate::data_sets::load::{find_file, load_folder};
use crate::data_sets::published::{TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS};
use crate::error::RecordsError;

/// The pictures of an IDX set, training part first; they are small and kept in memory.
pub struct IdxSet {
    splits: Splits,
    fingerprint: String,
}

impl IdxSet {
    /// Whether a folder holds the images of such a set.
    pub(crate) fn is_at(folder: &Path) -> bool {
        find_file(folder, TRAIN_IMAGES).is_ok()
    }

    /// Reads the four files, plain or compressed.
    ///
    /// # Errors
    /// When one is missing or damaged.
    pub fn open(folder: &Path) -> Result<Self, RecordsError> {
        let splits = load_folder(folder, None)?;
        let mut all = sha2::Sha256::new();
        for file in [TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS] {
            all.update(Fingerprint::of_file(&find_file(folder, file)?)?);
        }
        Ok(Self { splits, fingerprint: crate::data_sets::published::hex(&all.finalize()) })
    }

    /// How many pictures both parts have.
    pub fn items(&self) -> usize {
        self.splits.train().len() + self.splits.test().len()
    }

    /// The numbers of the classes as text.
    pub fn classes(&self) -> Vec<String> {
        (0..self.splits.train().classes()).map(|class| class.to_string()).collect()
    }

    pub(super) fn part(&self, item: usize) -> &'static str {
        if item < self.splits.train().len() { "train" } else { "test" }
    }

    pub(super) fn name(&self, item: usize) -> String {
        format!("{}/{}", self.part(item), self.find(item).1)
    }

    /// Pixels and class of a picture.
    pub fn picture(&self, item: usize) -> (&[u8], u8) {
        let (part, index) = self.find(item);
        (part.image(index), part.labels()[index])
    }

    /// Height and width of every picture.
    pub fn shape(&self) -> (usize, usize) {
        (self.splits.train().rows(), self.splits.train().columns())
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn find(&self, item: usize) -> (&LabelledImages, usize) {
        let train = self.splits.train();
        match item.checked_sub(train.len()) {
            None => (train, item),
            Some(index) => (self.splits.test(), index),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    /// Two pictures of 1 x 2 pixels to learn from and one to judge by, of classes 0, 2 and 1.
    fn set() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        write(TRAIN_IMAGES, &[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 11, 20, 21]);
        write(TRAIN_LABELS, &[0, 0, 8, 1, 0, 0, 0, 2, 0, 2]);
        write(TEST_IMAGES, &[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 30, 31]);
        write(TEST_LABELS, &[0, 0, 8, 1, 0, 0, 0, 1, 1]);
        folder
    }

    #[test]
    fn the_test_part_follows_the_training_part() {
        let set = IdxSet::open(set().path()).unwrap();
        assert_eq!((set.items(), set.shape()), (3, (1, 2)));
        assert_eq!(set.classes(), ["0", "1", "2"]);
        let all: Vec<_> = (0..3).map(|item| (set.name(item), set.picture(item))).collect();
        let expected = [
            ("train/0".to_owned(), (&[10, 11][..], 0)),
            ("train/1".to_owned(), (&[20, 21][..], 2)),
            ("test/0".to_owned(), (&[30, 31][..], 1)),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_compressed_file_is_as_good_as_a_plain_one() {
        let folder = set();
        let plain = folder.path().join(TRAIN_IMAGES);
        let packed = fs::File::create(folder.path().join(format!("{TRAIN_IMAGES}.gz"))).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
        packed.write_all(&fs::read(&plain).unwrap()).unwrap();
        packed.finish().unwrap();
        fs::remove_file(plain).unwrap();
        assert!(IdxSet::is_at(folder.path()));
        assert_eq!(IdxSet::open(folder.path()).unwrap().picture(1), (&[20, 21][..], 2));
    }

    #[test]
    fn what_is_missing_or_does_not_fit_is_told_with_the_folder() {
        let folder = set();
        let labels = folder.path().join(TEST_LABELS);
        fs::write(&labels, [0, 0, 8, 1, 0, 0, 0, 2, 1, 1]).unwrap();
        let message = IdxSet::open(folder.path()).err().unwrap().to_string();
        assert_eq!(message, format!("{}: 1 images but 2 labels", folder.path().display()));
        fs::write(&labels, [0, 0, 8, 1, 0, 0, 0, 9, 1]).unwrap();
        let message = IdxSet::open(folder.path()).err().unwrap().to_string();
        assert!(message.starts_with(&format!("{}: ", labels.display())), "{message}");
        fs::remove_file(&labels).unwrap();
        let message = IdxSet::open(folder.path()).err().unwrap().to_string();
        let expected = "has no `t10k-labels-idx1-ubyte` (plain or .gz)";
        assert!(message.ends_with(expected), "{message}");
    }
}
