//! Labelled pictures in memory, and the pair of training and test part.

use crate::error::RecordsError;

/// Pictures of one size, each with a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledImages {
    pixels: Vec<u8>,
    rows: usize,
    columns: usize,
    channels: usize,
    labels: Vec<u8>,
    classes: usize,
}

/// A data set's training and test part; both have the same picture size and classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splits {
    train: LabelledImages,
    test: LabelledImages,
}

impl LabelledImages {
    /// Grey pictures from their pixels, one after another, row by row.
    ///
    /// # Errors
    /// When there are none, the counts disagree, or a label is not below `classes`.
    pub fn new(
        pixels: Vec<u8>,
        (rows, columns): (usize, usize),
        labels: Vec<u8>,
        classes: usize,
    ) -> Result<Self, RecordsError> {
        Self::with_channels(pixels, [rows, columns, 1], labels, classes)
    }

    /// Pictures of rows, columns and channels from their bytes, channels last.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_channels(
        pixels: Vec<u8>,
        [rows, columns, channels]: [usize; 3],
        labels: Vec<u8>,
        classes: usize,
    ) -> Result<Self, RecordsError> {
        let size = rows.checked_mul(columns).and_then(|size| size.checked_mul(channels));
        let size = size.unwrap_or(0);
        if size == 0 || !pixels.len().is_multiple_of(size) {
            return Err(RecordsError::PixelCount { bytes: pixels.len(), rows, columns });
        }
        let images = pixels.len() / size;
        if images != labels.len() {
            return Err(RecordsError::LabelCount { images, labels: labels.len() });
        }
        if images == 0 {
            return Err(RecordsError::NoExamples);
        }
        if let Some(example) = labels.iter().position(|&label| usize::from(label) >= classes) {
            let label = labels[example].into();
            return Err(RecordsError::LabelRange { example, label, classes });
        }
        Ok(Self { pixels, rows, columns, channels, labels, classes })
    }

    /// How many pictures there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Height of each picture.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Width of each picture.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Numbers of each pixel: 1 for grey pictures, 3 for coloured ones.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Bytes of one picture, row by row, channels last.
    ///
    /// # Panics
    /// When `index` is not below [`Self::len`].
    pub fn image(&self, index: usize) -> &[u8] {
        let size = self.rows * self.columns * self.channels;
        &self.pixels[index * size..(index + 1) * size]
    }

    /// Pixels of all pictures, one after another.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The class of each picture.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// How many classes there may be; every label is below it.
    pub fn classes(&self) -> usize {
        self.classes
    }
}

impl Splits {
    /// A training and a test part that fit together; classes are the larger count of the two.
    ///
    /// # Errors
    /// When the pictures differ in size.
    pub fn new(mut train: LabelledImages, mut test: LabelledImages) -> Result<Self, RecordsError> {
        let shape = |images: &LabelledImages| (images.rows, images.columns);
        if shape(&train) != shape(&test) {
            return Err(RecordsError::SplitShape { train: shape(&train), test: shape(&test) });
        }
        if train.channels != test.channels {
            let (train, test) = (train.channels, test.channels);
            return Err(RecordsError::SplitChannels { train, test });
        }
        let classes = train.classes.max(test.classes);
        (train.classes, test.classes) = (classes, classes);
        Ok(Self { train, test })
    }

    /// The pictures to learn from.
    pub fn train(&self) -> &LabelledImages {
        &self.train
    }

    /// The pictures to judge by.
    pub fn test(&self) -> &LabelledImages {
        &self.test
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pixels: usize, labels: &[u8], message: &str) {
        let error = LabelledImages::new(vec![0; pixels], (2, 3), labels.to_vec(), 10).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn counts_and_labels_are_checked() {
        check(13, &[0, 0], "13 bytes of pixels are no whole number of 2 x 3 images");
        check(12, &[0], "2 images but 1 labels");
        check(12, &[9, 10], "label 10 of example 1 is not below the 10 classes");
        check(0, &[], "the data set has no examples");
    }

    #[test]
    fn an_image_is_its_own_stretch_of_pixels() {
        let images = LabelledImages::new((0..12).collect(), (2, 3), vec![1, 0], 2).unwrap();
        assert_eq!(images.image(1), [6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn splits_share_size_and_classes() {
        let part = |size, classes| {
            LabelledImages::new(vec![0; size * size], (size, size), vec![0], classes).unwrap()
        };
        assert_eq!(Splits::new(part(2, 3), part(2, 5)).unwrap().train().classes(), 5);
        assert_eq!(
            Splits::new(part(2, 2), part(3, 2)).unwrap_err().to_string(),
            "training images are 2 x 2, test images 3 x 3"
        );
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused_and_never_wrap() {
        for shape in [[usize::MAX, 2, 1], [1 << 32, 1 << 31, 2], [0, 3, 1], [2, 3, 0]] {
            let error = LabelledImages::with_channels(vec![0; 12], shape, vec![0], 1).unwrap_err();
            let [rows, columns, _] = shape;
            let expected =
                format!("12 bytes of pixels are no whole number of {rows} x {columns} images");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn parts_of_other_channels_do_not_fit_together() {
        let part = |channels: usize| {
            let pixels = vec![0; 4 * channels];
            LabelledImages::with_channels(pixels, [2, 2, channels], vec![0], 1).unwrap()
        };
        assert_eq!(part(3).image(0).len(), 12);
        assert_eq!(
            Splits::new(part(3), part(1)).unwrap_err().to_string(),
            "pictures of the training part have 3 channels, those of the test part 1"
        );
    }
}
