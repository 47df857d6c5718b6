//! Batches of pictures as the rows of numbers that a network takes.

use trainwright_networks::{Batch, Network, prefetch, scale_bytes};
use trainwright_records::LabelledImages;
use trainwright_records::pictures::Picture;
use trainwright_records::pipeline::Augment;
use trainwright_study::{Augmentation, Seed};

use crate::error::TrainError;

/// Scales a pixel to [0, 1].
const PIXEL_SCALE: f32 = 1.0 / 255.0;

/// Pictures between the one that is fetched from memory and the one that is scaled.
const PREFETCHED: usize = 6;

/// Rows, columns and channels of pictures once they are changed.
pub(crate) fn changed_shape(
    [rows, columns, channels]: [usize; 3],
    augmentation: Augmentation,
) -> [usize; 3] {
    let side = |whole| augmentation.crop.map_or(whole, |side| side as usize);
    [side(rows), side(columns), channels]
}

/// Whether pictures can be changed so.
///
/// # Errors
/// When they cannot.
pub(crate) fn check_changes(
    [rows, columns, channels]: [usize; 3],
    augmentation: Augmentation,
) -> Result<(), TrainError> {
    let augment = changes(augmentation);
    augment.check().map_err(TrainError::Pictures)?;
    let picture = Picture { rows, columns, channels, pixels: vec![0; rows * columns * channels] };
    augment.centre(&picture, &mut Picture::default()).map_err(TrainError::Pictures)
}

/// Room for one batch, filled again and again.
pub(crate) struct BatchBuffer<'a> {
    images: &'a LabelledImages,
    changer: Changer,
    scale: f32,
    inputs: Vec<f32>,
    labels: Vec<u32>,
}

impl<'a> BatchBuffer<'a> {
    /// Room for batches of up to `capacity` of these pictures, changed in this way; a network that
    /// begins with a table takes bytes as the numbers of rows.
    ///
    /// # Errors
    /// When the pictures cannot be changed so.
    pub(crate) fn new(
        images: &'a LabelledImages,
        augmentation: Augmentation,
        capacity: usize,
        network: &Network,
    ) -> Result<Self, TrainError> {
        let scale = if network.input_rows().is_some() { 1.0 } else { PIXEL_SCALE };
        let changer = Changer::new(images, augmentation)?;
        let shape = [images.rows(), images.columns(), images.channels()];
        let size: usize = changed_shape(shape, augmentation).iter().product();
        let (inputs, labels) = (Vec::with_capacity(capacity * size), Vec::with_capacity(capacity));
        Ok(Self { images, changer, scale, inputs, labels })
    }

    /// The chosen pictures, with pixels scaled to [0, 1].
    pub(crate) fn gather(
        &mut self,
        chosen: impl Iterator<Item = usize> + Clone,
        view: View,
    ) -> Batch<'_> {
        self.labels.clear();
        let mut filled = 0;
        let mut coming = chosen.clone().skip(PREFETCHED);
        for index in chosen {
            if let Some(index) = coming.next() {
                prefetch(self.images.image(index));
            }
            let pixels = self.changer.pixels(self.images, index, view);
            let end = filled + pixels.len();
            if self.inputs.len() < end {
                self.inputs.resize(end, 0.0);
            }
            scale_bytes(pixels, self.scale, &mut self.inputs[filled..end]);
            filled = end;
            self.labels.push(self.images.labels()[index].into());
        }
        self.inputs.truncate(filled);
        Batch { inputs: &self.inputs, labels: &self.labels }
    }
}

/// What pictures are wanted for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum View {
    /// To judge by: cropped in the middle.
    Judged,
    /// To learn from: changed by this seed and the picture's number.
    Learned(Seed),
}

/// Changes pictures one by one.
struct Changer {
    augment: Augment,
    picture: Picture,
    changed: Picture,
}

impl Changer {
    fn new(images: &LabelledImages, augmentation: Augmentation) -> Result<Self, TrainError> {
        let augment = changes(augmentation);
        augment.check()?;
        let (rows, columns, channels) = (images.rows(), images.columns(), images.channels());
        let picture = Picture { rows, columns, channels, pixels: images.image(0).to_vec() };
        let mut changed = Picture::default();
        augment.centre(&picture, &mut changed)?;
        Ok(Self { augment, picture, changed })
    }

    /// The pixels of a picture as they are wanted.
    fn pixels<'b>(&'b mut self, images: &'b LabelledImages, index: usize, view: View) -> &'b [u8] {
        let Self { augment, picture, changed } = self;
        let pixels = images.image(index);
        let stays = match view {
            View::Judged => augment.crop.is_none(),
            View::Learned(_) => augment.is_nothing(),
        };
        if stays {
            return pixels;
        }
        picture.pixels.copy_from_slice(pixels);
        let done = match view {
            View::Judged => augment.centre(picture, changed),
            View::Learned(seed) => {
                augment.change(picture, (seed.value(), &[index as u64]), changed)
            }
        };
        done.expect("the changes were tried on the first picture, and all have one size");
        &changed.pixels
    }
}

/// The changes as the pipeline makes them.
pub(crate) fn changes(augmentation: Augmentation) -> Augment {
    Augment {
        flip: augmentation.flip,
        crop: augmentation.crop.map(|side| side as usize),
        zoom: augmentation.zoom,
        contrast: augmentation.contrast.map(|(low, high)| (low as f32, high as f32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        Network::perceptron(4, &[], 2).unwrap()
    }

    #[test]
    fn pixels_span_zero_to_one() {
        let images = LabelledImages::new(vec![0, 255, 51, 102], (1, 2), vec![1, 0], 2).unwrap();
        let mut buffer = BatchBuffer::new(&images, Augmentation::default(), 2, &network()).unwrap();
        let batch = buffer.gather([1, 0].into_iter(), View::Judged);
        assert_eq!(batch.inputs[2..], [0.0, 1.0]);
        // Multiplying by a rounded 1/255 may miss the quotient by one unit in the last place.
        assert!((batch.inputs[0] - 0.2).abs() < 2e-8 && (batch.inputs[1] - 0.4).abs() < 4e-8);
        assert_eq!(batch.labels, [0, 1]);
    }

    #[test]
    fn pictures_are_changed_to_learn_from_and_cropped_to_be_judged() {
        let pixels: Vec<u8> = (0..32).collect();
        let images = LabelledImages::new(pixels, (4, 4), vec![0, 1], 2).unwrap();
        let augmentation: Augmentation = "flip,crop:2".parse().unwrap();
        let mut buffer = BatchBuffer::new(&images, augmentation, 2, &network()).unwrap();
        let bytes = |batch: Batch<'_>| -> Vec<u8> {
            batch.inputs.iter().map(|&pixel| (pixel * 255.0).round() as u8).collect()
        };
        let middle = bytes(buffer.gather(0..1, View::Judged));
        assert_eq!(middle, [5, 6, 9, 10]);
        let seen: std::collections::BTreeSet<Vec<u8>> = (0..200)
            .map(|seed| bytes(buffer.gather(0..1, View::Learned(Seed::new(seed)))))
            .collect();
        assert_eq!(seen.len(), 18, "nine places, each also mirrored");
        let alone = bytes(buffer.gather(1..2, View::Learned(Seed::new(3))));
        let together = bytes(buffer.gather(0..2, View::Learned(Seed::new(3))));
        assert_eq!(together[4..], alone, "a picture's change does not depend on its neighbours");
    }

    #[test]
    fn a_crop_larger_than_the_pictures_is_refused() {
        let error = check_changes([4, 4, 1], "crop:5".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "crop 5 of 4 x 4 pixels is not a side within the pictures");
    }
}
