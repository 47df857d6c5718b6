//! Pixels into JPEG and PNG files.
//!
//! JPEG is encoded with halved colour resolution (4:2:0), as TensorFlow does, by `jpeg.rs`, or by
//! libjpeg-turbo with the cargo feature `turbojpeg`. The bytes depend on pixels and quality alone.

use super::Picture;
use crate::error::RecordsError;

/// Encodes pictures as JPEG at one quality and keeps its memory.
pub struct JpegWriter {
    #[cfg(not(feature = "turbojpeg"))]
    encoder: super::jpeg::Encoder,
    #[cfg(feature = "turbojpeg")]
    turbo: turbojpeg::Compressor,
    /// Room for the largest file so far; clearing it each time would cost more than a copy.
    #[cfg(feature = "turbojpeg")]
    room: Vec<u8>,
}

#[cfg(not(feature = "turbojpeg"))]
impl JpegWriter {
    /// An encoder for one thread; `quality` is 1 to 100.
    ///
    /// # Errors
    /// When libjpeg-turbo cannot be set up, which needs the cargo feature `turbojpeg`.
    pub fn new(quality: u8) -> Result<Self, RecordsError> {
        Ok(Self { encoder: super::jpeg::Encoder::new(quality) })
    }

    /// Appends the file to `out`.
    ///
    /// # Errors
    /// When it has no pixels, fewer than its sides say, or a side is beyond 65535.
    pub fn encode(&mut self, picture: &Picture, out: &mut Vec<u8>) -> Result<(), RecordsError> {
        let &Picture { rows, columns, channels, ref pixels } = picture;
        let sides = 1..=usize::from(u16::MAX);
        if !sides.contains(&rows) || !sides.contains(&columns) {
            return Err(unencodable(format!("{rows} x {columns} pixels")));
        }
        if pixels.len() < rows * columns * channels {
            return Err(unencodable(format!(
                "{} bytes for {rows} x {columns} pixels",
                pixels.len()
            )));
        }
        self.encoder.encode(picture, out);
        Ok(())
    }
}

#[cfg(feature = "turbojpeg")]
impl JpegWriter {
    /// An encoder for one thread; `quality` is 1 to 100.
    ///
    /// # Errors
    /// When libjpeg-turbo cannot be set up.
    pub fn new(quality: u8) -> Result<Self, RecordsError> {
        let mut turbo = turbojpeg::Compressor::new().map_err(unencodable)?;
        turbo.set_quality(quality.into()).map_err(unencodable)?;
        Ok(Self { turbo, room: Vec::new() })
    }

    /// Appends the file to `out`.
    ///
    /// # Errors
    /// When a side is beyond 65500 pixels.
    pub fn encode(&mut self, picture: &Picture, out: &mut Vec<u8>) -> Result<(), RecordsError> {
        use turbojpeg::{PixelFormat, Subsamp};

        let grey = picture.channels == 1;
        let subsampling = if grey { Subsamp::Gray } else { Subsamp::Sub2x2 };
        self.turbo.set_subsamp(subsampling).map_err(unencodable)?;
        let bound = self.turbo.buf_len(picture.columns, picture.rows).map_err(unencodable)?;
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
        let image = turbojpeg::Image {
            pixels: &picture.pixels[..],
            width: picture.columns,
            pitch: picture.columns * picture.channels,
            height: picture.rows,
            format: if grey { PixelFormat::GRAY } else { PixelFormat::RGB },
        };
        let size = self.turbo.compress_to_slice(image, &mut self.room).map_err(unencodable)?;
        out.extend_from_slice(&self.room[..size]);
        Ok(())
    }
}

/// The picture as a PNG file.
///
/// # Errors
/// When the picture has no pixels.
pub fn encode_png(picture: &Picture) -> Result<Vec<u8>, RecordsError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, picture.columns as u32, picture.rows as u32);
    let grey = picture.channels == 1;
    encoder.set_color(if grey { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    let mut writer = encoder.write_header().map_err(unencodable)?;
    writer.write_image_data(&picture.pixels).map_err(unencodable)?;
    writer.finish().map_err(unencodable)?;
    Ok(out)
}

fn unencodable(reason: impl std::fmt::Display) -> RecordsError {
    RecordsError::PictureEncode { reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Decoder, PixelLimit, read_picture_header};
    use super::*;

    fn jpeg(picture: &Picture, quality: u8) -> Result<Vec<u8>, RecordsError> {
        let mut bytes = Vec::new();
        JpegWriter::new(quality)?.encode(picture, &mut bytes).map(|()| bytes)
    }

    /// A picture that no encoder finds dull.
    fn noise(rows: usize, columns: usize, channels: usize) -> Picture {
        let mut random = trainwright_random::Random::new(1);
        let pixels = (0..rows * columns * channels).map(|_| random.bits() as u8).collect();
        Picture { rows, columns, channels, pixels }
    }

    #[test]
    fn a_file_is_put_behind_what_is_there() {
        let mut out = b"before".to_vec();
        let mut writer = JpegWriter::new(90).unwrap();
        writer.encode(&noise(9, 5, 3), &mut out).unwrap();
        let first = out.len();
        writer.encode(&noise(9, 5, 3), &mut out).unwrap();
        assert_eq!(out[..6], *b"before");
        assert_eq!(out[6..first], out[first..], "the bytes follow from the picture alone");
        let header = read_picture_header(&out[6..]).unwrap();
        assert_eq!((header.rows, header.columns, header.channels), (9, 5, 3));
    }

    #[test]
    fn a_grey_picture_is_stored_with_one_channel() {
        let grey = noise(8, 8, 1);
        assert_eq!(read_picture_header(&jpeg(&grey, 90).unwrap()).unwrap().channels, 1);
        assert_eq!(read_picture_header(&encode_png(&grey).unwrap()).unwrap().channels, 1);
    }

    #[test]
    fn more_quality_takes_more_bytes_and_loses_less() {
        // Shades change so slowly that most of the loss is that of the quality.
        let pixels = (0..64 * 64).flat_map(|at| [(at / 64 + at % 64) as u8 * 2; 3]).collect();
        let picture = Picture { rows: 64, columns: 64, channels: 3, pixels };
        let mut decoder = Decoder::new(PixelLimit::default()).unwrap();
        let mut found = [10, 50, 95].map(|quality| {
            let file = jpeg(&picture, quality).unwrap();
            let mut back = Picture::default();
            decoder.decode(&file, &mut back).unwrap();
            let pairs = picture.pixels.iter().zip(&back.pixels);
            let lost: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
            (file.len(), lost)
        });
        assert!(found.is_sorted_by(|a, b| a.0 < b.0), "{found:?}");
        found.reverse();
        assert!(found.is_sorted_by(|a, b| a.1 < b.1), "{found:?}");
    }

    #[test]
    fn what_no_file_can_hold_is_told() {
        let empty = Picture { rows: 0, columns: 4, channels: 3, pixels: Vec::new() };
        let short = Picture { rows: 2, columns: 2, channels: 3, pixels: vec![0; 11] };
        for picture in [&empty, &short] {
            for file in [encode_png(picture), jpeg(picture, 90)] {
                let message = file.unwrap_err().to_string();
                assert!(message.starts_with("the picture cannot be encoded: "), "{message}");
            }
        }
        let long = Picture { rows: 65_536, columns: 1, channels: 1, pixels: vec![0; 65_536] };
        let message = jpeg(&long, 90).unwrap_err().to_string();
        assert!(message.starts_with("the picture cannot be encoded: "), "{message}");
    }

    proptest! {
        #[test]
        fn png_keeps_every_pixel(
            rows in 1..12_usize, columns in 1..12_usize, grey: bool, seed: u64,
        ) {
            let channels = if grey { 1 } else { 3 };
            let mut random = trainwright_random::Random::new(seed);
            let pixels: Vec<u8> =
                (0..rows * columns * channels).map(|_| random.bits() as u8).collect();
            let picture = Picture { rows, columns, channels, pixels };
            let mut back = Picture::default();
            let file = encode_png(&picture).unwrap();
            Decoder::new(PixelLimit::default()).unwrap().decode(&file, &mut back).unwrap();
            // Decoded pictures always have three channels.
            let expected: Vec<u8> = if grey {
                picture.pixels.iter().flat_map(|&grey| [grey; 3]).collect()
            } else {
                picture.pixels
            };
            prop_assert_eq!((back.rows, back.columns, back.pixels), (rows, columns, expected));
        }
    }
}
