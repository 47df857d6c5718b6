//! Pixels into JPEG and PNG files.
//!
//! JPEG is encoded with halved colour resolution (4:2:0), as TensorFlow does, by jpeg-encoder, or
//! by libjpeg-turbo with the cargo feature `turbojpeg`. The bytes depend on pixels and quality
//! alone.

use super::Picture;
use crate::error::RecordsError;

/// Encodes pictures as JPEG at one quality and keeps its memory.
pub struct JpegWriter {
    #[cfg(not(feature = "turbojpeg"))]
    quality: u8,
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
        Ok(Self { quality })
    }

    /// Appends the file to `out`.
    ///
    /// # Errors
    /// When a side is beyond 65535 pixels.
    pub fn encode(&mut self, picture: &Picture, out: &mut Vec<u8>) -> Result<(), RecordsError> {
        use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

        let side = |side: usize| {
            u16::try_from(side).map_err(|_| unencodable(format!("a side of {side} pixels")))
        };
        let (rows, columns) = (side(picture.rows)?, side(picture.columns)?);
        let color = if picture.channels == 1 { ColorType::Luma } else { ColorType::Rgb };
        let mut encoder = Encoder::new(out, self.quality);
        encoder.set_sampling_factor(SamplingFactor::F_2_2);
        encoder.encode(&picture.pixels, columns, rows, color).map_err(unencodable)
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
