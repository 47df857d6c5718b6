//! Pictures: what a file says it is, its pixels, another size, and back into a file.
//!
//! JPEG and PNG are read. An orientation noted in EXIF data is ignored, as TensorFlow and
//! torchvision do: pixels come out in the order in which they are stored. Every decoded picture
//! has three channels; grey ones are repeated, transparency is dropped.

mod decode;
mod encode;
mod header;
#[cfg(not(feature = "turbojpeg"))]
mod jpeg;
mod pixel_limit;
mod scale;

pub use decode::Decoder;
pub use encode::{JpegWriter, encode_png};
pub use header::{PictureFormat, PictureHeader, read_picture_header};
pub use pixel_limit::PixelLimit;
pub use scale::{Framing, Scaler};

use crate::error::RecordsError;

/// Memory of pictures beyond this size is not kept for the next.
const HUGE_BYTES: usize = 16 << 20;

/// Pixels of one picture, row by row, channels together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// Height in pixels.
    pub rows: usize,
    /// Width in pixels.
    pub columns: usize,
    /// 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// The pixels; `rows * columns * channels` of them.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Takes the shape of a picture that is to be decoded into it, and gives room for its pixels.
    pub(crate) fn room<'a>(
        &'a mut self,
    ) -> impl FnOnce([usize; 3]) -> Result<&'a mut [u8], RecordsError> {
        |[rows, columns, channels]| {
            self.reshape(rows, columns, channels);
            Ok(&mut self.pixels)
        }
    }

    /// Gives back the memory of a huge picture, which few after it will need.
    pub(crate) fn forget_if_huge(&mut self) {
        if self.pixels.capacity() > HUGE_BYTES {
            *self = Self::default();
        }
    }

    /// Makes it a picture of this shape, keeping its memory; the pixels are whatever they were.
    pub(crate) fn reshape(&mut self, rows: usize, columns: usize, channels: usize) {
        (self.rows, self.columns, self.channels) = (rows, columns, channels);
        self.pixels.resize(rows * columns * channels, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_another_shape_is_made_in_the_memory_there_is() {
        let mut picture = Picture { rows: 2, columns: 2, channels: 3, pixels: vec![9; 12] };
        let memory = picture.pixels.as_ptr();
        assert_eq!(picture.room()([1, 3, 1]).unwrap().len(), 3);
        assert_eq!((picture.rows, picture.columns, picture.channels), (1, 3, 1));
        assert_eq!(picture.room()([2, 2, 3]).unwrap().len(), 12);
        assert_eq!(picture.pixels.as_ptr(), memory);
    }

    #[test]
    fn only_a_huge_picture_gives_its_memory_back() {
        let mut picture = Picture::default();
        picture.reshape(1, HUGE_BYTES, 1);
        picture.forget_if_huge();
        assert_eq!(picture.pixels.len(), HUGE_BYTES);
        picture.reshape(1, HUGE_BYTES + 1, 1);
        picture.forget_if_huge();
        assert_eq!((picture.pixels.capacity(), picture.rows), (0, 0));
    }
}
