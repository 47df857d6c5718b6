//! Pixels out of JPEG and PNG files.
//!
//! JPEG is decoded by zune-jpeg. With the cargo feature `turbojpeg` libjpeg-turbo comes first, and
//! zune-jpeg gets what that refuses. Either way a file that ends too early or breaks in the middle
//! is an error, never a picture with grey parts.

use std::io::Cursor;

use png::Transformations;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::{HUGE_BYTES, Picture, PictureFormat, PictureHeader, PixelLimit, read_picture_header};
use crate::error::RecordsError;

/// Memory for what a PNG file holds beside its pixels, such as texts and colour profiles.
const OTHER_CHUNKS_BYTES: usize = 64 << 20;

/// Decodes pictures one after another and keeps its memory.
pub struct Decoder {
    limit: PixelLimit,
    options: DecoderOptions,
    expanded: Vec<u8>,
    #[cfg(feature = "turbojpeg")]
    turbo: turbojpeg::Decompressor,
}

impl Decoder {
    /// A decoder for one thread, which refuses pictures beyond a limit by their headers.
    ///
    /// # Errors
    /// When libjpeg-turbo cannot be set up, which needs the cargo feature `turbojpeg`.
    pub fn new(limit: PixelLimit) -> Result<Self, RecordsError> {
        let options = DecoderOptions::default()
            .set_strict_mode(true)
            .jpeg_set_out_colorspace(ColorSpace::RGB);
        Ok(Self {
            limit,
            options,
            expanded: Vec::new(),
            #[cfg(feature = "turbojpeg")]
            turbo: turbojpeg::Decompressor::new().map_err(|e| damaged(PictureFormat::Jpeg, e))?,
        })
    }

    /// Decodes a file into `picture`, which gets three channels.
    ///
    /// # Errors
    /// When the bytes are no JPEG or PNG, are damaged anywhere, or claim more pixels than the limit
    /// allows.
    pub fn decode(
        &mut self,
        bytes: &[u8],
        picture: &mut Picture,
    ) -> Result<PictureHeader, RecordsError> {
        self.decode_to(bytes, picture.room())
    }

    /// Decodes a file to where `room` says a picture of its rows, columns and channels has room.
    pub(crate) fn decode_to<'a>(
        &mut self,
        bytes: &[u8],
        room: impl FnOnce([usize; 3]) -> Result<&'a mut [u8], RecordsError>,
    ) -> Result<PictureHeader, RecordsError> {
        let header = read_picture_header(bytes)?;
        self.limit.check(&header)?;
        let shape = [header.rows, header.columns, 3];
        match header.format {
            PictureFormat::Jpeg => self.jpeg(bytes, &header, room(shape)?)?,
            // A header may claim any size, so room is asked for once all pixels have been found.
            PictureFormat::Png => {
                spread_out(self.png(bytes, &header)?, room(shape)?);
                if self.expanded.capacity() > HUGE_BYTES {
                    self.expanded = Vec::new();
                }
            }
        }
        Ok(header)
    }

    fn jpeg(
        &mut self,
        bytes: &[u8],
        header: &PictureHeader,
        pixels: &mut [u8],
    ) -> Result<(), RecordsError> {
        #[cfg(feature = "turbojpeg")]
        if self.turbo(bytes, header, pixels) {
            return Ok(());
        }
        // A second header that claims more than the first, which was checked, is refused by this.
        let options = self.options.set_max_width(header.columns).set_max_height(header.rows);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_into(pixels).map_err(|e| damaged(PictureFormat::Jpeg, e))
    }

    /// Whether libjpeg-turbo decodes the picture without a remark.
    ///
    /// It remarks on oddities that harm nothing (bytes between segments) just as on lost pixels,
    /// so the other decoder, which tells them apart, has the last word on such pictures. Pictures
    /// for print have four channels, which libjpeg-turbo does not turn into three.
    #[cfg(feature = "turbojpeg")]
    fn turbo(&mut self, bytes: &[u8], header: &PictureHeader, pixels: &mut [u8]) -> bool {
        if header.channels == 4 {
            return false;
        }
        let image = turbojpeg::Image {
            pixels,
            width: header.columns,
            pitch: 3 * header.columns,
            height: header.rows,
            format: turbojpeg::PixelFormat::RGB,
        };
        self.turbo.decompress(bytes, image).is_ok()
    }

    /// The pixels, of as many channels as they have, and the number of channels.
    fn png(
        &mut self,
        bytes: &[u8],
        header: &PictureHeader,
    ) -> Result<(&[u8], usize), RecordsError> {
        let bad = |error: png::DecodingError| damaged(PictureFormat::Png, error);
        // One line in sixteen bits of four channels may take as much as the whole picture.
        let bytes_limit = OTHER_CHUNKS_BYTES + 8 * header.pixels() as usize;
        let limits = png::Limits { bytes: bytes_limit };
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
        decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
        let mut reader = decoder.read_info().map_err(bad)?;
        let size = reader
            .output_buffer_size()
            .ok_or_else(|| damaged(PictureFormat::Png, "more pixels than can be addressed"))?;
        self.expanded.resize(size, 0);
        let info = reader.next_frame(&mut self.expanded).map_err(bad)?;
        reader.finish().map_err(bad)?;
        Ok((&self.expanded[..info.buffer_size()], info.color_type.samples()))
    }
}

/// Pixels with three channels out of ones with any number.
fn spread_out((from, channels): (&[u8], usize), into: &mut [u8]) {
    match channels {
        1 => spread::<1>(from, into, |&[grey]| [grey; 3]),
        2 => spread::<2>(from, into, |&[grey, _]| [grey; 3]),
        3 => into.copy_from_slice(from),
        _ => spread::<4>(from, into, |&[red, green, blue, _]| [red, green, blue]),
    }
}

fn spread<const N: usize>(from: &[u8], into: &mut [u8], pixel: impl Fn(&[u8; N]) -> [u8; 3]) {
    for (into, from) in into.as_chunks_mut::<3>().0.iter_mut().zip(from.as_chunks::<N>().0) {
        *into = pixel(from);
    }
}

fn damaged(format: PictureFormat, reason: impl std::fmt::Display) -> RecordsError {
    RecordsError::PictureDamaged { format, reason: reason.to_string() }
}

#[cfg(test)]
mod tests;
