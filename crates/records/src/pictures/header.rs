//! Format and size of a picture file from its first bytes.
//!
//! JPEG: ITU-T T.81, annex B. PNG: ISO/IEC 15948, clause 11.2.2.

use std::fmt;

use crate::error::RecordsError;

const PNG_SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// A kind of picture file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// JPEG, with all its pixels in one scan or progressively.
    Jpeg,
    /// PNG.
    Png,
}

/// What a picture file says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureHeader {
    /// Kind of file.
    pub format: PictureFormat,
    /// Height in pixels.
    pub rows: usize,
    /// Width in pixels.
    pub columns: usize,
    /// Whether a decoder has to hold coefficients of the whole picture.
    pub progressive: bool,
    /// Channels as stored.
    pub channels: usize,
}

impl PictureHeader {
    /// How many pixels it claims; more than can be counted are as many as can.
    pub fn pixels(&self) -> u64 {
        (self.rows as u64).saturating_mul(self.columns as u64)
    }
}

impl fmt::Display for PictureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
        })
    }
}

/// Reads the header of a JPEG or PNG file.
///
/// # Errors
/// When it is neither, or ends or breaks inside its header, or claims no pixels.
pub fn read_picture_header(bytes: &[u8]) -> Result<PictureHeader, RecordsError> {
    let header = if bytes.starts_with(&[0xff, 0xd8]) {
        jpeg(bytes).ok_or(RecordsError::PictureHeader { format: PictureFormat::Jpeg })?
    } else if bytes.starts_with(&PNG_SIGNATURE) {
        png(bytes).ok_or(RecordsError::PictureHeader { format: PictureFormat::Png })?
    } else {
        return Err(RecordsError::NoPicture { start: bytes[..bytes.len().min(4)].to_vec() });
    };
    if header.rows == 0 || header.columns == 0 {
        return Err(RecordsError::PictureHeader { format: header.format });
    }
    Ok(header)
}

fn png(bytes: &[u8]) -> Option<PictureHeader> {
    let header = bytes.get(8..26)?;
    if header[4..8] != *b"IHDR" {
        return None;
    }
    let word = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let size = |at| word(at).filter(|&size| size < 1 << 31).map(|size| size as usize);
    let channels = match header[17] {
        0 | 3 => 1,
        2 => 3,
        4 => 2,
        6 => 4,
        _ => return None,
    };
    let (columns, rows) = (size(8)?, size(12)?);
    Some(PictureHeader { format: PictureFormat::Png, rows, columns, progressive: false, channels })
}

/// Steps from segment to segment until a frame header.
fn jpeg(bytes: &[u8]) -> Option<PictureHeader> {
    let mut rest = &bytes[2..];
    loop {
        // Any number of 0xff may come before a marker; other bytes before it are tolerated by
        // every decoder, so they are passed over here too.
        let at = rest.iter().position(|&byte| byte == 0xff)?;
        let fill = rest[at..].iter().position(|&byte| byte != 0xff)?;
        let marker = rest[at + fill];
        rest = &rest[at + fill + 1..];
        match marker {
            // Stuffing, restarts and the like stand alone.
            0x00 | 0x01 | 0xd0..=0xd8 => continue,
            0xd9 | 0xda => return None,
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
        let segment = rest.get(2..length.max(2))?;
        // Frame headers are C0 to CF without C4 (Huffman), C8 (reserved) and CC (arithmetic).
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [_, rows_high, rows_low, columns_high, columns_low, channels, ..] = *segment else {
                return None;
            };
            return Some(PictureHeader {
                format: PictureFormat::Jpeg,
                rows: u16::from_be_bytes([rows_high, rows_low]).into(),
                columns: u16::from_be_bytes([columns_high, columns_low]).into(),
                progressive: !matches!(marker, 0xc0 | 0xc1),
                channels: channels.into(),
            });
        }
        rest = rest.get(length.max(2)..)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_are_read() {
        let jpeg =
            b"\xff\xd8\xff\xe0\x00\x04xx\xff\xff\xc2\x00\x0b\x08\x00\x10\x00\x20\x01\x01\x11\x00";
        let header = read_picture_header(jpeg).unwrap();
        assert_eq!((header.rows, header.columns, header.channels), (16, 32, 1));
        assert!(header.progressive);
        let png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x05\x00\x00\x00\x07\x08\x06";
        let header = read_picture_header(png).unwrap();
        assert_eq!((header.rows, header.columns, header.channels), (7, 5, 4));
    }

    #[track_caller]
    fn check(bytes: &[u8], message: &str) {
        assert_eq!(read_picture_header(bytes).unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_no_picture_is_told_by_its_first_bytes() {
        check(b"GIF89a", "neither JPEG nor PNG: it starts with [47, 49, 46, 38]");
        check(b"", "neither JPEG nor PNG: it starts with []");
        check(b"\xff\xd8\xff", "the JPEG header is damaged or cut off");
        check(b"\x89PNG\r\n\x1a\n\x00", "the PNG header is damaged or cut off");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, kind in 0..3_u8) {
            let start: &[u8] = match kind {
                0 => &[],
                1 => &[0xff, 0xd8],
                _ => &PNG_SIGNATURE,
            };
            let _ = read_picture_header(&[start, &bytes].concat());
        }
    }
}
