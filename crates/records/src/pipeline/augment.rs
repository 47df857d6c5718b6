//! Random changes of pictures that keep their class.

use trainwright_random::Random;

use crate::error::RecordsError;
use crate::pictures::Picture;

use super::zoom::Stretch;

/// Which changes are made; the default makes none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Augment {
    /// Mirrors every second picture, left to right.
    pub flip: bool,
    /// Cuts a square of this side out at a random place; `None` keeps the size.
    pub crop: Option<usize>,
    /// Takes a stretch at a random place whose area is a share of the picture from this up, and
    /// scales it to the side of `crop`, or to the picture's own size.
    pub zoom: Option<f64>,
    /// Scales the distance of each pixel from the picture's mean by a factor between these.
    pub contrast: Option<(f32, f32)>,
}

impl Augment {
    /// Whether the options are in range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), RecordsError> {
        let bad =
            |option, value, expected| Err(RecordsError::BadOption { option, value, expected });
        if self.crop == Some(0) {
            return bad("crop", "0".to_owned(), "at least 1");
        }
        if let Some(least) = self.zoom
            && !(least > 0.0 && least <= 1.0)
        {
            return bad("zoom", least.to_string(), "a share above 0 and up to 1");
        }
        match self.contrast {
            Some((low, high)) if !(low >= 0.0 && low <= high && high.is_finite()) => {
                bad("contrast", format!("{low} to {high}"), "a range of factors from 0 up")
            }
            _ => Ok(()),
        }
    }

    /// Whether every picture stays as it is.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Changes `picture` into `into`; what happens depends on `seed` and `purpose` alone.
    ///
    /// # Errors
    /// When the crop is larger than the picture.
    pub fn change(
        &self,
        picture: &Picture,
        (seed, purpose): (u64, &[u64]),
        into: &mut Picture,
    ) -> Result<(), RecordsError> {
        self.apply(picture, &mut Random::for_purpose(seed, purpose), into)
    }

    /// Cuts the crop out of the middle, as pictures are judged by that were learned from in crops.
    ///
    /// # Errors
    /// When the crop is larger than the picture.
    pub fn centre(&self, picture: &Picture, into: &mut Picture) -> Result<(), RecordsError> {
        let [rows, columns] = self.sides(picture)?;
        into.reshape(rows, columns, picture.channels);
        let place = ((picture.rows - rows) / 2, (picture.columns - columns) / 2);
        cut(picture, place, false, into);
        Ok(())
    }

    /// Rows and columns of a changed picture.
    fn sides(&self, picture: &Picture) -> Result<[usize; 2], RecordsError> {
        let (rows, columns) = (picture.rows, picture.columns);
        match self.crop {
            Some(side) if side > rows || side > columns => {
                let expected = "a side within the pictures";
                let value = format!("{side} of {rows} x {columns} pixels");
                Err(RecordsError::BadOption { option: "crop", value, expected })
            }
            Some(side) => Ok([side, side]),
            None => Ok([rows, columns]),
        }
    }

    /// Changes `picture` into `into`; what happens depends on `random` alone.
    pub(super) fn apply(
        &self,
        picture: &Picture,
        random: &mut Random,
        into: &mut Picture,
    ) -> Result<(), RecordsError> {
        let [rows, columns] = self.sides(picture)?;
        into.reshape(rows, columns, picture.channels);
        let stretch =
            self.zoom.map(|least| Stretch::random(picture.rows, picture.columns, least, random));
        let top = random.index(picture.rows - rows + 1);
        let left = random.index(picture.columns - columns + 1);
        let mirror = self.flip && random.bits() & 1 == 1;
        match stretch {
            Some(stretch) => stretch.scale(picture, mirror, into),
            None => cut(picture, (top, left), mirror, into),
        }
        if let Some((low, high)) = self.contrast {
            let factor = low + (high - low) * random.unit() as f32;
            scale_contrast(into, factor);
        }
        Ok(())
    }
}

fn cut(picture: &Picture, (top, left): (usize, usize), mirror: bool, into: &mut Picture) {
    let (channels, columns) = (picture.channels, into.columns);
    let lines = picture.pixels.chunks_exact(picture.columns * channels).skip(top);
    for (into, from) in into.pixels.chunks_exact_mut(columns * channels).zip(lines) {
        let from = &from[left * channels..(left + columns) * channels];
        if mirror {
            let pixels = from.chunks_exact(channels).rev();
            into.chunks_exact_mut(channels).zip(pixels).for_each(|(a, b)| a.copy_from_slice(b));
        } else {
            into.copy_from_slice(from);
        }
    }
}

/// `mean + factor * (pixel - mean)` a channel, as `tf.image.adjust_contrast` does, cut to what a
/// byte holds.
fn scale_contrast(picture: &mut Picture, factor: f32) {
    let channels = picture.channels;
    for channel in 0..channels {
        let values = picture.pixels[channel..].iter().step_by(channels);
        let sum: u64 = values.map(|&pixel| u64::from(pixel)).sum();
        let mean = sum as f32 / (picture.rows * picture.columns) as f32;
        let table: [u8; 256] = std::array::from_fn(|pixel| {
            (mean + factor * (pixel as f32 - mean)).round().clamp(0.0, 255.0) as u8
        });
        for pixel in picture.pixels[channel..].iter_mut().step_by(channels) {
            *pixel = table[usize::from(*pixel)];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picture() -> Picture {
        Picture { rows: 2, columns: 3, channels: 1, pixels: vec![1, 2, 3, 4, 5, 6] }
    }

    fn outcomes(augment: Augment) -> std::collections::BTreeSet<Vec<u8>> {
        let mut into = Picture::default();
        (0..64)
            .map(|seed| {
                augment.apply(&picture(), &mut Random::for_purpose(seed, &[]), &mut into).unwrap();
                into.pixels.clone()
            })
            .collect()
    }

    #[test]
    fn a_flip_mirrors_some_pictures() {
        let found = outcomes(Augment { flip: true, ..Augment::default() });
        assert!(found.into_iter().eq([vec![1, 2, 3, 4, 5, 6], vec![3, 2, 1, 6, 5, 4]]));
    }

    #[test]
    fn crops_reach_every_place_inside() {
        let found = outcomes(Augment { crop: Some(2), ..Augment::default() });
        assert!(found.into_iter().eq([vec![1, 2, 4, 5], vec![2, 3, 5, 6]]));
        let mut into = Picture::default();
        let too_large = Augment { crop: Some(3), ..Augment::default() };
        let error =
            too_large.apply(&picture(), &mut Random::for_purpose(1, &[]), &mut into).unwrap_err();
        assert_eq!(error.to_string(), "crop 3 of 2 x 3 pixels is not a side within the pictures");
    }

    #[test]
    fn the_middle_is_what_pictures_are_judged_by() {
        let mut into = Picture::default();
        let augment = Augment { crop: Some(2), flip: true, ..Augment::default() };
        augment.centre(&picture(), &mut into).unwrap();
        assert_eq!((into.rows, into.columns, into.pixels), (2, 2, vec![1, 2, 4, 5]));
    }

    #[test]
    fn a_zoom_of_the_whole_changes_little() {
        let even = Picture { rows: 4, columns: 4, channels: 1, pixels: vec![9; 16] };
        let mut into = Picture::default();
        let augment = Augment { zoom: Some(0.5), crop: Some(3), ..Augment::default() };
        augment.change(&even, (1, &[2]), &mut into).unwrap();
        assert_eq!(into, Picture { rows: 3, columns: 3, channels: 1, pixels: vec![9; 9] });
        let bad = Augment { zoom: Some(1.5), ..Augment::default() };
        let message = bad.check().unwrap_err().to_string();
        assert_eq!(message, "zoom 1.5 is not a share above 0 and up to 1");
    }

    #[test]
    fn contrast_keeps_the_mean() {
        let mut picture =
            Picture { rows: 1, columns: 2, channels: 2, pixels: vec![90, 1, 110, 255] };
        scale_contrast(&mut picture, 2.0);
        assert_eq!(picture.pixels, [80, 0, 120, 255]);
        scale_contrast(&mut picture, 0.0);
        assert_eq!(picture.pixels, [100, 128, 100, 128]);
    }

    #[track_caller]
    fn refused(augment: Augment, message: &str) {
        assert_eq!(augment.check().unwrap_err().to_string(), message);
    }

    #[test]
    fn options_out_of_range_are_named() {
        let none = Augment::default();
        refused(Augment { crop: Some(0), ..none }, "crop 0 is not at least 1");
        for (zoom, shown) in [(0.0, "0"), (-0.5, "-0.5"), (f64::NAN, "NaN")] {
            let expected = format!("zoom {shown} is not a share above 0 and up to 1");
            refused(Augment { zoom: Some(zoom), ..none }, &expected);
        }
        let ranges = [
            ((0.9, 0.5), "0.9 to 0.5"),
            ((-0.1, 1.0), "-0.1 to 1"),
            ((0.5, f32::INFINITY), "0.5 to inf"),
            ((f32::NAN, 1.0), "NaN to 1"),
        ];
        for (contrast, shown) in ranges {
            let expected = format!("contrast {shown} is not a range of factors from 0 up");
            refused(Augment { contrast: Some(contrast), ..none }, &expected);
        }
        let all =
            Augment { flip: true, crop: Some(1), zoom: Some(1.0), contrast: Some((0.0, 0.0)) };
        assert!(all.check().is_ok() && none.check().is_ok());
    }

    #[test]
    fn a_change_depends_on_seed_and_purpose_and_nothing_else() {
        let from = Picture { rows: 9, columns: 9, channels: 1, pixels: (0..81).collect() };
        let augment = Augment { flip: true, crop: Some(4), zoom: None, contrast: Some((0.5, 2.0)) };
        let changed = |seed, purpose: &[u64], mut into: Picture| {
            augment.change(&from, (seed, purpose), &mut into).unwrap();
            into
        };
        let first = changed(1, &[2, 3], Picture::default());
        assert_eq!(changed(1, &[2, 3], from.clone()), first, "whatever was there before");
        assert_ne!(changed(1, &[2, 4], Picture::default()), first);
        assert_ne!(changed(2, &[2, 3], Picture::default()), first);
    }

    #[test]
    fn a_contrast_of_one_leaves_every_pixel() {
        let from = Picture { rows: 16, columns: 16, channels: 1, pixels: (0..=255).collect() };
        let mut changed = from.clone();
        scale_contrast(&mut changed, 1.0);
        assert_eq!(changed, from);
    }

    /// A square window of a picture at a place, pixel by pixel, perhaps mirrored.
    fn window(from: &Picture, side: usize, [top, left]: [usize; 2], mirror: bool) -> Vec<u8> {
        let mut pixels = Vec::new();
        for (row, column) in (0..side * side).map(|at| (at / side, at % side)) {
            let column = if mirror { side - 1 - column } else { column };
            let at = ((top + row) * from.columns + left + column) * from.channels;
            pixels.extend_from_slice(&from.pixels[at..at + from.channels]);
        }
        pixels
    }

    /// Pictures of a seed must not change from version to version, so neither may the draws.
    #[test]
    fn place_mirror_and_contrast_are_drawn_in_this_order() {
        let from = Picture { rows: 9, columns: 7, channels: 1, pixels: (0..63).collect() };
        let plain = Augment { flip: true, crop: Some(3), ..Augment::default() };
        let all = Augment { contrast: Some((0.5, 2.0)), ..plain };
        for purpose in 0..20 {
            let mut random = Random::for_purpose(5, &[purpose]);
            let place = [random.index(7), random.index(5)];
            let mirror = random.bits() & 1 == 1;
            let factor = 0.5 + 1.5 * random.unit() as f32;
            let mut into = Picture::default();
            plain.change(&from, (5, &[purpose]), &mut into).unwrap();
            assert_eq!(into.pixels, window(&from, 3, place, mirror));
            scale_contrast(&mut into, factor);
            let mut both = Picture::default();
            all.change(&from, (5, &[purpose]), &mut both).unwrap();
            assert_eq!(both, into);
        }
    }

    proptest! {
        #[test]
        fn a_crop_is_one_of_all_windows_or_its_mirror(
            [rows, columns, side] in prop::array::uniform3(1..7_usize),
            channels in 1..4_usize, flip: bool, seed: u64,
        ) {
            prop_assume!(side <= rows && side <= columns);
            // No two numbers are the same, so a window tells its place.
            let pixels: Vec<u8> = (0..(rows * columns * channels) as u8).collect();
            let from = Picture { rows, columns, channels, pixels };
            let augment = Augment { flip, crop: Some(side), ..Augment::default() };
            let mut into = Picture::default();
            augment.change(&from, (seed, &[]), &mut into).unwrap();
            prop_assert_eq!([into.rows, into.columns, into.channels], [side, side, channels]);
            let tops = 0..=rows - side;
            let places = tops.flat_map(|top| (0..=columns - side).map(move |left| [top, left]));
            let is_window = |place: [usize; 2]| {
                window(&from, side, place, false) == into.pixels
                    || flip && window(&from, side, place, true) == into.pixels
            };
            prop_assert!(places.into_iter().any(is_window), "{:?}", into);
        }
    }
}
