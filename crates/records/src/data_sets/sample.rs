//! The Fashion-MNIST sample that is part of the program: 6,000 training and 1,000 test pictures.
//!
//! `examples/make_sample.rs` made the two files; origin and licence are in `data/README.md`.

use std::io::Read;

use crate::data_sets::idx::unpacked;
use crate::data_sets::labelled_images::{LabelledImages, Splits};
use crate::error::RecordsError;
use crate::messages::example::Example;
use crate::shards::framing::RecordReader;

const TRAIN: &[u8] = include_bytes!("../../data/fashion-mnist-sample-train.tfrecord.gz");
const TEST: &[u8] = include_bytes!("../../data/fashion-mnist-sample-test.tfrecord.gz");
const SIDE: usize = 28;
const CLASSES: usize = 10;

pub(crate) fn fashion_mnist_sample() -> Result<Splits, RecordsError> {
    Splits::new(read_raw_images(unpacked(TRAIN)?)?, read_raw_images(unpacked(TEST)?)?)
}

/// Reads examples with features `image/raw` (the pixels) and `label`.
fn read_raw_images(input: impl Read) -> Result<LabelledImages, RecordsError> {
    let mut reader = RecordReader::new(input);
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    loop {
        let number = reader.records_read();
        let Some(record) = reader.next_record()? else { break };
        let (image, label) = raw_image(record).map_err(|error| error.in_record(number))?;
        pixels.extend_from_slice(image);
        labels.push(label);
    }
    LabelledImages::new(pixels, (SIDE, SIDE), labels, CLASSES)
}

fn raw_image(record: &[u8]) -> Result<(&[u8], u8), RecordsError> {
    let example = Example::parse(record)?;
    let image = example.bytes("image/raw")?;
    if image.len() != SIDE * SIDE {
        let bytes = image.len();
        return Err(RecordsError::PixelCount { bytes, rows: SIDE, columns: SIDE });
    }
    let label = u8::try_from(example.int("label")?)
        .map_err(|_| RecordsError::FeatureShape { feature: "label", expected: "small integer" })?;
    Ok((image, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_share() {
        let splits = fashion_mnist_sample().unwrap();
        for (part, share) in [(splits.train(), 600), (splits.test(), 100)] {
            for class in 0..10 {
                let count = part.labels().iter().filter(|&&label| label == class).count();
                assert_eq!(count, share, "class {class}");
            }
        }
    }

    #[test]
    fn a_wrong_picture_size_is_refused() {
        use crate::messages::example::Feature;
        let example = Example::from([
            ("image/raw", Feature::Bytes(vec![&[0; 783]])),
            ("label", Feature::Ints(vec![1])),
        ]);
        assert_eq!(
            raw_image(&example.encode()).unwrap_err().to_string(),
            "783 bytes of pixels are no whole number of 28 x 28 images"
        );
    }
}
