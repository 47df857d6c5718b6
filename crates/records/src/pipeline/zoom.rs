//! A stretch of a picture, scaled to another size.

use trainwright_random::Random;

use crate::pictures::Picture;

/// Longest side over the other of a stretch, as in the usual "random resized crop" (Szegedy et
/// al., "Going deeper with convolutions", 2015, section 6).
const LONGEST: f64 = 4.0 / 3.0;

/// A rectangle inside a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    top: f64,
    left: f64,
    height: f64,
    width: f64,
}

impl Stretch {
    /// A rectangle at a random place whose area is a random share of the picture from `least` up.
    pub(super) fn random(rows: usize, columns: usize, least: f64, random: &mut Random) -> Self {
        let (rows, columns) = (rows as f64, columns as f64);
        let side = (least + (1.0 - least) * random.unit()).sqrt();
        let ratio = LONGEST.powf(random.unit() - 0.5);
        let (height, width) =
            ((rows * side * ratio).min(rows), (columns * side / ratio).min(columns));
        let top = (rows - height) * random.unit();
        let left = (columns - width) * random.unit();
        Self { top, left, height, width }
    }

    /// Fills `into` with the stretch, each pixel from its four neighbours.
    pub(super) fn scale(self, picture: &Picture, mirror: bool, into: &mut Picture) {
        let channels = picture.channels;
        let lines = Taps::new(self.top, self.height, picture.rows, into.rows);
        let mut places = Taps::new(self.left, self.width, picture.columns, into.columns);
        if mirror {
            places.0.reverse();
        }
        let pitch = picture.columns * channels;
        let targets = into.pixels.chunks_exact_mut(into.columns * channels);
        for (target, line) in targets.zip(&lines.0) {
            let above = &picture.pixels[line.first * pitch..][..pitch];
            let below = &picture.pixels[line.second * pitch..][..pitch];
            for (target, place) in target.chunks_exact_mut(channels).zip(&places.0) {
                let (left, right) = (place.first * channels, place.second * channels);
                for (channel, target) in target.iter_mut().enumerate() {
                    let row = |row: &[u8]| {
                        mix(row[left + channel].into(), row[right + channel].into(), place.share)
                    };
                    *target = mix(row(above), row(below), line.share).round() as u8;
                }
            }
        }
    }
}

fn mix(first: f32, second: f32, share: f32) -> f32 {
    first + share * (second - first)
}

/// The two neighbours of a place along one side, and the share of the second.
#[derive(Debug, Clone, Copy)]
struct Tap {
    first: usize,
    second: usize,
    share: f32,
}

struct Taps(Vec<Tap>);

impl Taps {
    /// Where `count` places spread over a stretch lie among `whole` pixels; pixel centres match.
    fn new(start: f64, length: f64, whole: usize, count: usize) -> Self {
        let last = (whole - 1) as f64;
        let tap = |index: usize| {
            let place = start + (index as f64 + 0.5) * length / count as f64 - 0.5;
            let place = place.clamp(0.0, last);
            let first = place as usize;
            Tap { first, second: (first + 1).min(whole - 1), share: (place - first as f64) as f32 }
        };
        Self((0..count).map(tap).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        Picture { rows: 2, columns: 4, channels: 1, pixels: vec![0, 10, 20, 30, 40, 50, 60, 70] }
    }

    fn scaled(stretch: Stretch, rows: usize, columns: usize, mirror: bool) -> Vec<u8> {
        let mut into = Picture::default();
        into.reshape(rows, columns, 1);
        stretch.scale(&picture(), mirror, &mut into);
        into.pixels
    }

    #[test]
    fn the_whole_picture_at_its_own_size_stays_as_it_is() {
        let whole = Stretch { top: 0.0, left: 0.0, height: 2.0, width: 4.0 };
        assert_eq!(scaled(whole, 2, 4, false), picture().pixels);
        assert_eq!(scaled(whole, 2, 4, true), [30, 20, 10, 0, 70, 60, 50, 40]);
    }

    #[test]
    fn half_as_many_pixels_are_the_means_of_pairs() {
        let whole = Stretch { top: 0.0, left: 0.0, height: 2.0, width: 4.0 };
        assert_eq!(scaled(whole, 1, 2, false), [25, 45]);
        let right = Stretch { top: 0.0, left: 2.0, height: 1.0, width: 2.0 };
        assert_eq!(scaled(right, 1, 2, false), [20, 30]);
    }

    #[test]
    fn stretches_lie_inside_and_are_large_enough() {
        for seed in 0..500 {
            let Stretch { top, left, height, width } =
                Stretch::random(40, 60, 0.3, &mut Random::for_purpose(seed, &[]));
            assert!(top >= 0.0 && left >= 0.0 && top + height <= 40.0 + 1e-9);
            assert!(left + width <= 60.0 + 1e-9);
            // A side that is cut off at the picture's edge makes the area smaller than drawn.
            assert!(height * width >= 0.3 * 40.0 * 60.0 / LONGEST.sqrt());
        }
    }

    #[test]
    fn a_ramp_stays_a_ramp_at_any_size() {
        // Bilinear sampling of a linear picture is exact: each place has the value of its centre.
        let from = Picture {
            rows: 1,
            columns: 26,
            channels: 1,
            pixels: (0..26).map(|column| column * 10).collect(),
        };
        let stretch = Stretch { top: 0.0, left: 3.25, height: 1.0, width: 18.5 };
        for columns in [1, 2, 7, 37, 100] {
            let mut into = Picture::default();
            into.reshape(1, columns, 1);
            stretch.scale(&from, false, &mut into);
            for (column, &found) in into.pixels.iter().enumerate() {
                let centre = 3.25 + (column as f64 + 0.5) * 18.5 / columns as f64 - 0.5;
                let expected = 10.0 * centre;
                assert!((f64::from(found) - expected).abs() <= 0.51, "{found} is not {expected}");
            }
        }
    }

    #[test]
    fn channels_stay_apart_and_move_together() {
        let pixels = vec![0, 100, 200, 50, 150, 250];
        let from = Picture { rows: 1, columns: 2, channels: 3, pixels };
        let whole = Stretch { top: 0.0, left: 0.0, height: 1.0, width: 2.0 };
        let mut into = Picture::default();
        into.reshape(1, 1, 3);
        whole.scale(&from, false, &mut into);
        assert_eq!(into.pixels, [25, 125, 225]);
        into.reshape(1, 2, 3);
        whole.scale(&from, true, &mut into);
        assert_eq!(into.pixels, [50, 150, 250, 0, 100, 200]);
    }

    #[test]
    fn beyond_the_edge_the_edge_is_repeated() {
        // Scaled up, the first and last places lie outside the outermost pixel centres.
        let from = Picture { rows: 1, columns: 2, channels: 1, pixels: vec![10, 50] };
        let whole = Stretch { top: 0.0, left: 0.0, height: 1.0, width: 2.0 };
        let mut into = Picture::default();
        into.reshape(3, 4, 1);
        whole.scale(&from, false, &mut into);
        assert_eq!(into.pixels, [10, 20, 40, 50].repeat(3));
    }
}
