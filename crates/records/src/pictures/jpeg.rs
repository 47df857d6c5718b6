//! Baseline JPEG files: grey, or three channels with halved colour resolution (4:2:0).
//!
//! All arithmetic is on whole numbers, so that every processor writes the same bytes; one with AVX2
//! only takes less time.

mod codes;
mod planes;
mod tables;
mod transform;

use codes::{Bits, Codes};
use planes::Planes;
use transform::{Quantizer, coefficients};

use super::Picture;

/// Encodes pictures one after another at one quality, and keeps its tables and memory.
pub(super) struct Encoder {
    /// Of brightness and of colours, as the next two.
    quantizers: [Quantizer; 2],
    first_codes: [Codes; 2],
    other_codes: [Codes; 2],
    planes: Planes,
}

impl Encoder {
    /// `quality` is 1 to 100.
    pub(super) fn new(quality: u8) -> Self {
        Self {
            quantizers: [&tables::BRIGHTNESS, &tables::COLORS]
                .map(|it| Quantizer::new(it, quality)),
            first_codes: tables::FIRST.map(|(lengths, values)| Codes::new(lengths, values)),
            other_codes: tables::OTHERS.map(|(lengths, values)| Codes::new(lengths, values)),
            planes: Planes::default(),
        }
    }

    /// Appends the file; the picture has pixels, and no side beyond 65535 of them.
    pub(super) fn encode(&mut self, picture: &Picture, out: &mut Vec<u8>) {
        self.header(picture, out);
        #[cfg(target_arch = "x86_64")]
        if has_wide_instructions() {
            // SAFETY: the processor has what the function is compiled for.
            unsafe { self.scan_widely(picture, out) };
            return out.extend_from_slice(&END);
        }
        self.scan(picture, out);
        out.extend_from_slice(&END);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn scan_widely(&mut self, picture: &Picture, out: &mut Vec<u8>) {
        self.scan(picture, out);
    }

    /// The coded blocks, row by row; of colour, four of brightness and then one of each colour.
    #[inline(always)]
    fn scan(&mut self, picture: &Picture, out: &mut Vec<u8>) {
        let mut bits = Bits::new(out);
        let mut last = [0; 3];
        let grey = picture.channels == 1;
        let side = if grey { 8 } else { 16 };
        for top in (0..picture.rows).step_by(side) {
            if grey {
                self.planes.fill_grey(picture, top);
            } else {
                self.planes.fill(picture, top);
            }
            for left in (0..picture.columns).step_by(side) {
                for (down, right) in [(0, 0), (0, 8), (8, 0), (8, 8)] {
                    if down.max(right) < side {
                        let block = self.planes.brightness.block(down, left + right);
                        self.block(&block, 0, &mut last[0], &mut bits);
                    }
                }
                if !grey {
                    let [blue, red] = self.planes.colors.each_ref().map(|it| it.block(0, left / 2));
                    self.block(&blue, 1, &mut last[1], &mut bits);
                    self.block(&red, 1, &mut last[2], &mut bits);
                }
            }
        }
        bits.end();
    }

    #[inline(always)]
    fn block(&self, pixels: &[[i32; 8]; 8], kind: usize, last: &mut i16, bits: &mut Bits<'_>) {
        let block = coefficients(pixels, &self.quantizers[kind]);
        bits.block(&block, last, &self.first_codes[kind], &self.other_codes[kind]);
    }

    fn header(&self, picture: &Picture, out: &mut Vec<u8>) {
        let [rows, columns] =
            [picture.rows, picture.columns].map(|side| (side as u16).to_be_bytes());
        let grey = picture.channels == 1;
        let channels: &[[u8; 3]] =
            if grey { &[[0, 0x11, 0]] } else { &[[0, 0x22, 0], [1, 0x11, 1], [2, 0x11, 1]] };
        out.extend_from_slice(b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x02\0\0\x01\0\x01\0\0");
        let count = channels.len() as u8;
        out.extend_from_slice(&[0xff, 0xc0, 0, 8 + 3 * count, 8]);
        out.extend_from_slice(&[rows, columns].concat());
        out.push(count);
        out.extend_from_slice(&channels.concat());
        for (number, quantizer) in self.quantizers.iter().enumerate() {
            out.extend_from_slice(&[0xff, 0xdb, 0, 67, number as u8]);
            out.extend(quantizer.in_zigzag());
        }
        for number in 0..if grey { 1 } else { 2 } {
            self.first_codes[number].append(0, number as u8, out);
            self.other_codes[number].append(1, number as u8, out);
        }
        out.extend_from_slice(&[0xff, 0xda, 0, 6 + 2 * count, count]);
        for &[name, _, table] in channels {
            out.extend_from_slice(&[name, table << 4 | table]);
        }
        out.extend_from_slice(&[0, 63, 0]);
    }
}

const END: [u8; 2] = [0xff, 0xd9];

#[cfg(target_arch = "x86_64")]
fn has_wide_instructions() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

#[cfg(test)]
mod tests {
    use jpeg_encoder::{ColorType, SamplingFactor};
    use proptest::prelude::*;

    use super::*;

    /// What another encoder makes of it, in arithmetic without wide instructions.
    fn by_another(picture: &Picture, quality: u8) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = jpeg_encoder::Encoder::new(&mut out, quality);
        encoder.set_sampling_factor(SamplingFactor::F_2_2);
        let color = if picture.channels == 1 { ColorType::Luma } else { ColorType::Rgb };
        let (rows, columns) = (picture.rows as u16, picture.columns as u16);
        encoder.encode(&picture.pixels, columns, rows, color).unwrap();
        out
    }

    /// Slopes with some noise, as photographs have: `rough` is 1 for slopes, 256 for noise alone.
    fn photograph([rows, columns, channels]: [usize; 3], rough: u64, seed: u64) -> Picture {
        let mut random = trainwright_random::Random::new(seed);
        let pixel = |at: usize| {
            let (row, column) = (at / channels / columns, at / channels % columns);
            let slope = (row * (1 + at % channels) + 2 * column) as u64;
            (slope + random.bits() % rough) as u8
        };
        let pixels = (0..rows * columns * channels).map(pixel).collect();
        Picture { rows, columns, channels, pixels }
    }

    fn check(picture: &Picture, quality: u8) {
        let expected = by_another(picture, quality);
        let mut encoder = Encoder::new(quality);
        let (mut out, mut plain) = (Vec::new(), Vec::new());
        encoder.encode(picture, &mut out);
        assert!(out == expected, "{} x {} at {quality}", picture.rows, picture.columns);
        encoder.header(picture, &mut plain);
        encoder.scan(picture, &mut plain);
        assert!(plain == expected[..expected.len() - 2], "without wide instructions");
    }

    #[test]
    fn white_and_black_squares_have_the_largest_values_there_are() {
        for quality in [1, 49, 50, 95, 100] {
            for channels in [1, 3] {
                let mut picture = photograph([32, 48, channels], 1, 0);
                for (at, pixel) in picture.pixels.iter_mut().enumerate() {
                    let (row, column) = (at / channels / 48, at / channels % 48);
                    *pixel = if (row / 8 + column / 8) % 2 == 0 { 255 } else { 0 };
                }
                check(&picture, quality);
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_are_those_of_another_encoder(
            rows in 1..70_usize, columns in 1..70_usize, grey: bool, seed: u64,
            quality in 1..=100_u8, rough in prop::sample::select(vec![1_u64, 4, 40, 256]),
        ) {
            let channels = if grey { 1 } else { 3 };
            check(&photograph([rows, columns, channels], rough, seed), quality);
        }
    }
}
