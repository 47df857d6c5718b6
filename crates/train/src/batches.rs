//! Batches of pictures as the rows of numbers that a network takes.

use trainwright_networks::Batch;
use trainwright_records::LabelledImages;

/// Scales a pixel to [0, 1].
const PIXEL_SCALE: f32 = 1.0 / 255.0;

/// Room for one batch, filled again and again.
pub(crate) struct BatchBuffer<'a> {
    images: &'a LabelledImages,
    inputs: Vec<f32>,
    labels: Vec<u32>,
}

impl<'a> BatchBuffer<'a> {
    /// Room for batches of up to `capacity` of these pictures.
    pub(crate) fn new(images: &'a LabelledImages, capacity: usize) -> Self {
        let inputs =
            Vec::with_capacity(capacity * images.rows() * images.columns() * images.channels());
        Self { images, inputs, labels: Vec::with_capacity(capacity) }
    }

    /// The chosen pictures, with pixels scaled to [0, 1].
    pub(crate) fn gather(&mut self, chosen: impl Iterator<Item = usize>) -> Batch<'_> {
        self.inputs.clear();
        self.labels.clear();
        for index in chosen {
            let pixels = self.images.image(index);
            self.inputs.extend(pixels.iter().map(|&pixel| f32::from(pixel) * PIXEL_SCALE));
            self.labels.push(self.images.labels()[index].into());
        }
        Batch { inputs: &self.inputs, labels: &self.labels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_span_zero_to_one() {
        let images = LabelledImages::new(vec![0, 255, 51, 102], (1, 2), vec![1, 0], 2).unwrap();
        let mut buffer = BatchBuffer::new(&images, 2);
        let batch = buffer.gather([1, 0].into_iter());
        assert_eq!(batch.inputs[2..], [0.0, 1.0]);
        // Multiplying by a rounded 1/255 may miss the quotient by one unit in the last place.
        assert!((batch.inputs[0] - 0.2).abs() < 2e-8 && (batch.inputs[1] - 0.4).abs() < 4e-8);
        assert_eq!(batch.labels, [0, 1]);
    }
}
