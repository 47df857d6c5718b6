//! Another size: scaled with antialiasing, then cut or bordered to a square.
//!
//! Scaling down is convolution with a triangle as wide as the scale, what PIL and torchvision
//! call bilinear with antialias. (`tf.image.resize` by default leaves the antialias out.)

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use super::Picture;

/// How a picture becomes a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Framing {
    /// The largest square in the middle, scaled; what lies beyond it is lost.
    Crop,
    /// The whole picture, scaled, with black borders.
    Fit,
}

/// Scales pictures one after another and keeps its memory.
#[derive(Default)]
pub struct Scaler {
    resizer: Resizer,
    inner: Vec<u8>,
}

impl Scaler {
    /// A scaler for one thread.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a square of `size` pixels a side.
    ///
    /// # Panics
    /// When `from` has no pixels or `size` is 0.
    pub fn square(&mut self, from: &Picture, size: usize, framing: Framing, into: &mut Picture) {
        assert!(size > 0, "a picture has at least one pixel");
        if from.channels == 1 {
            return self.grey_square(from, size, framing, into);
        }
        into.reshape(size, size, 3);
        match framing {
            Framing::Crop => {
                let side = from.rows.min(from.columns) as f64;
                let left = (from.columns as f64 - side) / 2.0;
                let top = (from.rows as f64 - side) / 2.0;
                let cut = options().crop(left, top, side, side);
                resize(&mut self.resizer, from, (size, size), &cut, &mut into.pixels);
            }
            Framing::Fit => self.fit(from, size, into),
        }
    }

    /// Grey pictures are rare and small, and a second kind of pixel would double what the
    /// compiler has to make of the resizer.
    fn grey_square(&mut self, from: &Picture, size: usize, framing: Framing, into: &mut Picture) {
        let pixels = from.pixels.iter().flat_map(|&grey| [grey; 3]).collect();
        let spread = Picture { channels: 3, pixels, ..*from };
        self.square(&spread, size, framing, into);
        into.channels = 1;
        into.pixels = into.pixels.iter().copied().step_by(3).collect();
    }

    fn fit(&mut self, from: &Picture, size: usize, into: &mut Picture) {
        let (rows, columns) = fitted(from.rows, from.columns, size);
        let line = 3 * columns;
        self.inner.resize(rows * line, 0);
        resize(&mut self.resizer, from, (rows, columns), &options(), &mut self.inner);
        into.pixels.fill(0);
        let (top, left) = ((size - rows) / 2, (size - columns) / 2 * 3);
        let lines = into.pixels.chunks_exact_mut(3 * size).skip(top);
        for (into, from) in lines.zip(self.inner.chunks_exact(line)) {
            into[left..left + line].copy_from_slice(from);
        }
    }
}

/// The larger side becomes `size`, the other keeps the proportion and at least one pixel.
fn fitted(rows: usize, columns: usize, size: usize) -> (usize, usize) {
    let larger = rows.max(columns);
    let scaled = |side: usize| ((side * size + larger / 2) / larger).max(1);
    (scaled(rows), scaled(columns))
}

fn options() -> ResizeOptions {
    ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).use_alpha(false)
}

fn resize(
    resizer: &mut Resizer,
    from: &Picture,
    (rows, columns): (usize, usize),
    options: &ResizeOptions,
    into: &mut [u8],
) {
    let shape = (from.columns as u32, from.rows as u32);
    let from = TypedImageRef::<U8x3>::from_buffer(shape.0, shape.1, &from.pixels)
        .expect("a picture has as many pixels as its shape says");
    let mut into = TypedImage::<U8x3>::from_buffer(columns as u32, rows as u32, into)
        .expect("the target was given its shape");
    resizer.resize_typed(&from, &mut into, options).expect("the crop lies inside the picture");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picture(rows: usize, columns: usize, pixel: impl Fn(usize, usize) -> u8) -> Picture {
        let pixels =
            (0..rows * columns).flat_map(|at| [pixel(at / columns, at % columns); 3]).collect();
        Picture { rows, columns, channels: 3, pixels }
    }

    fn square(from: &Picture, size: usize, framing: Framing) -> Picture {
        let mut into = Picture::default();
        Scaler::new().square(from, size, framing, &mut into);
        into
    }

    #[test]
    fn a_crop_without_scaling_is_the_middle() {
        let from = picture(2, 6, |row, column| (10 * row + column) as u8);
        let cut = square(&from, 2, Framing::Crop);
        assert_eq!(cut, picture(2, 2, |row, column| (10 * row + column + 2) as u8));
    }

    #[test]
    fn a_fit_has_black_borders_on_the_shorter_side() {
        let framed = square(&picture(2, 4, |_, _| 9), 4, Framing::Fit);
        assert_eq!(framed, picture(4, 4, |row, _| if row == 1 || row == 2 { 9 } else { 0 }));
    }

    #[test]
    fn scaling_down_averages_over_a_triangle() {
        // The slow obvious version: weights fall linearly to 0 at `scale` from the centre.
        let (columns, scale) = (32, 4.0_f64);
        let values: Vec<u8> = (0..columns).map(|column| (column * 37 % 251) as u8).collect();
        let from = picture(columns, columns, |_, column| values[column]);
        let into = square(&from, 8, Framing::Crop);
        for column in 0..8 {
            let centre = (column as f64 + 0.5) * scale;
            let weight = |at: usize| (1.0 - ((at as f64 + 0.5 - centre) / scale).abs()).max(0.0);
            let total: f64 = (0..columns).map(weight).sum();
            let sum: f64 = (0..columns).map(|at| weight(at) * f64::from(values[at])).sum();
            // Fixed-point weights and two roundings.
            let found = f64::from(into.pixels[3 * column]);
            assert!((found - sum / total).abs() <= 1.0, "{found} against {}", sum / total);
        }
    }

    #[test]
    fn a_grey_picture_is_scaled_like_one_of_three_equal_channels() {
        let colour = picture(9, 13, |row, column| (20 * row + column) as u8);
        let pixels = colour.pixels.iter().copied().step_by(3).collect();
        let grey = square(&Picture { channels: 1, pixels, ..colour }, 5, Framing::Fit);
        let expected = square(&colour, 5, Framing::Fit).pixels;
        assert_eq!((grey.channels, grey.pixels.len()), (1, 25));
        assert!(grey.pixels.iter().eq(expected.iter().step_by(3)));
    }

    proptest! {
        #[test]
        fn any_shape_of_one_colour_stays_that_colour(
            rows in 1..70_usize, columns in 1..70_usize, size in 1..70_usize, value: u8,
        ) {
            let cut = square(&picture(rows, columns, |_, _| value), size, Framing::Crop);
            prop_assert_eq!(cut, picture(size, size, |_, _| value));
            let fit = square(&picture(rows, columns, |_, _| value), size, Framing::Fit);
            prop_assert_eq!(fit.pixels.len(), 3 * size * size);
            prop_assert!(fit.pixels.contains(&value));
        }
    }
}
