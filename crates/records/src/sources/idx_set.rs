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
