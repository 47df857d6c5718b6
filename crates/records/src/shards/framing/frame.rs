//! The bytes around a payload, and what is wrong with them.

use super::MAX_RECORD_BYTES;
use crate::error::{RecordPart, RecordsError};

/// Length and its checksum.
pub(crate) const HEADER_BYTES: usize = 12;
pub(crate) const CHECKSUM_BYTES: usize = 4;
/// Everything around a payload.
pub(crate) const FRAME_BYTES: usize = HEADER_BYTES + CHECKSUM_BYTES;

/// Which record, and where it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) record: u64,
    pub(crate) offset: u64,
}

impl Place {
    /// The place after a record with a payload of `length` bytes.
    pub(super) fn after(self, length: u64) -> Self {
        Self { record: self.record + 1, offset: self.offset + length + FRAME_BYTES as u64 }
    }

    pub(super) fn truncated(self, part: RecordPart, expected: u64, found: u64) -> RecordsError {
        let Self { record, offset } = self;
        RecordsError::TruncatedRecord { record, offset, part, expected, found }
    }
}

/// The header of a payload.
pub(super) fn header(length: usize) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (bytes, checksum) = header.split_at_mut(8);
    bytes.copy_from_slice(&(length as u64).to_le_bytes());
    checksum.copy_from_slice(&masked_crc(bytes).to_le_bytes());
    header
}

/// The length that a sound header gives.
pub(super) fn length(header: &[u8], place: Place) -> Result<u64, RecordsError> {
    let bytes = checked(header, RecordPart::Header, place)?;
    let length = u64::from_le_bytes(bytes.try_into().expect("a header is 8 bytes and a checksum"));
    if length > MAX_RECORD_BYTES {
        let Place { record, offset } = place;
        let limit = MAX_RECORD_BYTES;
        return Err(RecordsError::RecordTooLong { record, offset, length, limit });
    }
    Ok(length)
}

/// The payload, when it fits the checksum that follows it.
pub(super) fn checked_data(framed: &[u8], place: Place) -> Result<&[u8], RecordsError> {
    checked(framed, RecordPart::Data, place)
}

fn checked(framed: &[u8], part: RecordPart, place: Place) -> Result<&[u8], RecordsError> {
    let (bytes, stored) = framed
        .split_last_chunk::<CHECKSUM_BYTES>()
        .expect("whoever cuts a frame out leaves the checksum in it");
    let (stored, computed) = (u32::from_le_bytes(*stored), masked_crc(bytes));
    if stored != computed {
        let Place { record, offset } = place;
        return Err(RecordsError::ChecksumMismatch { record, offset, part, stored, computed });
    }
    Ok(bytes)
}

/// CRC-32C rotated and offset, so that a checksum of data that holds checksums stays strong.
pub(crate) fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { record: 3, offset: 70 };

    // Checksums by a few lines of Python after RFC 3720, rotated and offset as TensorFlow does.

    #[test]
    fn a_header_is_the_length_and_its_checksum() {
        assert_eq!(header(0), *b"\x00\x00\x00\x00\x00\x00\x00\x00\x29\x03\x98\x07");
        assert_eq!(header(5), *b"\x05\x00\x00\x00\x00\x00\x00\x00\xea\xb2\x04\x3e");
        assert_eq!(length(&header(5), PLACE).unwrap(), 5);
    }

    #[test]
    fn the_longest_record_is_allowed_and_one_byte_more_is_not() {
        let limit = MAX_RECORD_BYTES as usize;
        assert_eq!(length(&header(limit), PLACE).unwrap(), MAX_RECORD_BYTES);
        assert_eq!(
            length(&header(limit + 1), PLACE).unwrap_err().to_string(),
            "record 3 (counting from 0) at byte 70 claims 2147483649 bytes, over the limit of \
             2147483648"
        );
    }

    #[test]
    fn a_payload_that_does_not_fit_its_checksum_is_told_with_both() {
        assert_eq!(checked_data(b"hello\xbb\x1f\x1c\x19", PLACE).unwrap(), b"hello");
        assert_eq!(
            checked_data(b"hellp\xbb\x1f\x1c\x19", PLACE).unwrap_err().to_string(),
            "record 3 (counting from 0) at byte 70 is damaged: its data has checksum 22929350, \
             the file says 191c1fbb"
        );
        let mut damaged = header(5);
        damaged[0] = 0;
        assert_eq!(
            length(&damaged, PLACE).unwrap_err().to_string(),
            "record 3 (counting from 0) at byte 70 is damaged: its header has checksum 07980329, \
             the file says 3e04b2ea"
        );
    }

    #[test]
    fn the_next_record_begins_after_payload_and_frame() {
        assert_eq!(PLACE.after(0), Place { record: 4, offset: 86 });
        assert_eq!(Place::default().after(100).after(1), Place { record: 2, offset: 133 });
    }
}
