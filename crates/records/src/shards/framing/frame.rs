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
