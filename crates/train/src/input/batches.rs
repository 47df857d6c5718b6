//! Batches of pictures as the rows of numbers that a network takes.

use trainwright_networks::{Batch, Network, Numbers, Team, scale_bytes, scale_rows};
use trainwright_records::LabelledImages;
use trainwright_records::pictures::Picture;
use trainwright_records::pipeline::Augment;
use trainwright_study::{Augmentation, Seed};

use crate::error::TrainError;

/// Scales a pixel to [0, 1].
const PIXEL_SCALE: f32 = 1.0 / 255.0;

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
    /// Numbers of a picture.
    size: usize,
    inputs: Numbers,
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
        let (inputs, labels) = (Numbers::zeros(capacity * size), Vec::with_capacity(capacity));
        Ok(Self { images, changer, scale, size, inputs, labels })
    }

    /// The chosen pictures, with pixels scaled to [0, 1].
    pub(crate) fn gather(&mut self, chosen: &[u32], view: View, team: &mut Team) -> Batch<'_> {
        let Self { images, changer, inputs, .. } = self;
        let chosen = chosen.iter().map(|&index| index as usize);
        self.labels.clear();
        self.labels.extend(chosen.clone().map(|index| u32::from(images.labels()[index])));
        let inputs = &mut inputs[..chosen.len() * self.size];
        if changer.changes(view) {
            for (index, inputs) in chosen.zip(inputs.chunks_exact_mut(self.size)) {
                scale_bytes(changer.changed(images, index, view), self.scale, inputs);
            }
        } else {
            let pictures: Vec<&[u8]> = chosen.map(|index| images.image(index)).collect();
            scale_rows(&pictures, self.scale, inputs, team);
        }
        Batch { inputs: &self.inputs[..self.labels.len() * self.size], labels: &self.labels }
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

    /// Whether pictures are wanted other than they are.
    fn changes(&self, view: View) -> bool {
        match view {
            View::Judged => self.augment.crop.is_some(),
            View::Learned(_) => !self.augment.is_nothing(),
        }
    }

    /// The pixels of a picture as they are wanted.
    fn changed(&mut self, images: &LabelledImages, index: usize, view: View) -> &[u8] {
        let Self { augment, picture, changed } = self;
        picture.pixels.copy_from_slice(images.image(index));
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

    fn team() -> Team {
        Team::new(1).unwrap()
    }

    #[test]
    fn pixels_span_zero_to_one() {
        let images = LabelledImages::new(vec![0, 255, 51, 102], (1, 2), vec![1, 0], 2).unwrap();
        let mut buffer = BatchBuffer::new(&images, Augmentation::default(), 2, &network()).unwrap();
        let batch = buffer.gather(&[1, 0], View::Judged, &mut team());
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
        let middle = bytes(buffer.gather(&[0], View::Judged, &mut team()));
        assert_eq!(middle, [5, 6, 9, 10]);
        let seen: std::collections::BTreeSet<Vec<u8>> = (0..200)
            .map(|seed| bytes(buffer.gather(&[0], View::Learned(Seed::new(seed)), &mut team())))
            .collect();
        assert_eq!(seen.len(), 18, "nine places, each also mirrored");
        let alone = bytes(buffer.gather(&[1], View::Learned(Seed::new(3)), &mut team()));
        let together = bytes(buffer.gather(&[0, 1], View::Learned(Seed::new(3)), &mut team()));
        assert_eq!(together[4..], alone, "a picture's change does not depend on its neighbours");
    }

    #[test]
    fn a_crop_larger_than_the_pictures_is_refused() {
        let error = check_changes([4, 4, 1], "crop:5".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "crop 5 of 4 x 4 pixels is not a side within the pictures");
    }
}
