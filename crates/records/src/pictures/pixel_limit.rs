//! How large a picture may be.
//!
//! A file of a few bytes can claim billions of pixels. What a header claims is compared with one
//! limit, the same for every reader, before any memory is asked for.

use std::str::FromStr;

use super::PictureHeader;
use crate::error::RecordsError;

/// Most pixels that a picture may have.
///
/// ```
/// use trainwright_records::pictures::PixelLimit;
///
/// assert_eq!(PixelLimit::default().pixels(), 100_000_000);
/// assert!("0".parse::<PixelLimit>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PixelLimit(u64);

/// The variable that sets the limit where no option does.
const VARIABLE: &str = "TRAINWRIGHT_MAX_PIXELS";

/// As many as 10,000 x 10,000; decoding that many takes up to 0.9 GB.
const DEFAULT: u64 = 100_000_000;

/// Beyond this no format goes on both sides, and no number here can overflow.
const LARGEST: u64 = 1 << 32;

impl Default for PixelLimit {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl PixelLimit {
    /// A limit from 1 to 2^32 pixels.
    ///
    /// # Errors
    /// When it is another number.
    pub fn new(pixels: u64) -> Result<Self, RecordsError> {
        if (1..=LARGEST).contains(&pixels) {
            return Ok(Self(pixels));
        }
        let (value, expected) = (pixels.to_string(), "a number of pixels from 1 to 4294967296");
        Err(RecordsError::BadOption { option: "--max-pixels", value, expected })
    }

    /// The limit that `TRAINWRIGHT_MAX_PIXELS` sets, or the default of 100 million pixels.
    ///
    /// # Errors
    /// When the variable is no such number.
    pub fn from_environment() -> Result<Self, RecordsError> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse(),
            _ => Ok(Self::default()),
        }
    }

    /// The number of pixels.
    pub fn pixels(self) -> u64 {
        self.0
    }

    /// # Errors
    /// When the picture is larger; its size, the limit and the option are named.
    pub(crate) fn check(self, header: &PictureHeader) -> Result<(), RecordsError> {
        let (rows, columns, pixels) = (header.rows, header.columns, header.pixels());
        if pixels > self.0 {
            return Err(RecordsError::PictureTooLarge { rows, columns, pixels, limit: self.0 });
        }
        Ok(())
    }
}

impl FromStr for PixelLimit {
    type Err = RecordsError;

    fn from_str(text: &str) -> Result<Self, RecordsError> {
        let bad = || RecordsError::BadOption {
            option: "--max-pixels",
            value: text.to_owned(),
            expected: "a whole number of pixels",
        };
        Self::new(text.trim().parse().map_err(|_| bad())?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PictureFormat;
    use super::*;

    #[track_caller]
    fn check(limit: u64, rows: usize, columns: usize, fits: bool) {
        let format = PictureFormat::Png;
        let header = PictureHeader { format, rows, columns, progressive: false, channels: 3 };
        assert_eq!(PixelLimit::new(limit).unwrap().check(&header).is_ok(), fits);
    }

    #[test]
    fn the_product_of_the_sides_counts_and_never_wraps() {
        check(12, 3, 4, true);
        check(11, 3, 4, false);
        check(LARGEST, 1_167_130_070, 1_436_837_913, false);
        check(LARGEST, usize::MAX, usize::MAX, false);
        check(1 << 32, 1 << 16, 1 << 16, true);
    }

    #[test]
    fn limits_out_of_range_are_named() {
        let fails = |text: &str| text.parse::<PixelLimit>().unwrap_err().to_string();
        let expected = "--max-pixels 0 is not a number of pixels from 1 to 4294967296";
        assert_eq!(fails("0"), expected);
        assert_eq!(fails("many"), "--max-pixels many is not a whole number of pixels");
        assert!("4294967297".parse::<PixelLimit>().is_err());
    }
}
