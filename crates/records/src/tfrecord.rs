//! TFRecord framing: a checksummed length, then a checksummed payload.
//!
//! A record is `u64` length, `u32` masked CRC-32C of those eight bytes, the payload and `u32`
//! masked CRC-32C of the payload, all little-endian. What the payload means is not known here;
//! see [`crate::example`] and [`crate::events`].

use std::io::{self, Read, Write};

use crate::error::{RecordPart, RecordsError};

/// Longest payload that is read, the size limit of a protocol buffer message.
pub const MAX_RECORD_BYTES: u64 = 1 << 31;

const HEADER_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;

/// Reads framed records one after another and checks both checksums of each.
///
/// ```
/// use trainwright_records::{RecordReader, RecordWriter};
///
/// let mut file = Vec::new();
/// RecordWriter::new(&mut file).write(b"payload")?;
/// let mut reader = RecordReader::new(file.as_slice());
/// assert_eq!(reader.next_record()?, Some(b"payload".as_slice()));
/// assert_eq!(reader.next_record()?, None);
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
pub struct RecordReader<R> {
    input: R,
    buffer: Vec<u8>,
    record: u64,
    offset: u64,
}

impl<R: Read> RecordReader<R> {
    /// A reader at the first record of `input`; give it a buffered input.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), record: 0, offset: 0 }
    }

    /// How many records have been read whole.
    pub fn records_read(&self) -> u64 {
        self.record
    }

    /// The next payload, or `None` after the last record.
    ///
    /// # Errors
    /// When the record is cut off, fails a checksum or claims more than [`MAX_RECORD_BYTES`].
    /// The reader must not be used after an error.
    pub fn next_record(&mut self) -> Result<Option<&[u8]>, RecordsError> {
        let Some(length) = self.read_header()? else { return Ok(None) };
        let payload = length as usize;
        self.fill(length + CHECKSUM_BYTES as u64, RecordPart::Data)?;
        let (data, stored) = self.buffer.split_at(payload);
        self.check(RecordPart::Data, data, stored)?;
        self.offset += HEADER_BYTES as u64 + length + CHECKSUM_BYTES as u64;
        self.record += 1;
        Ok(Some(&self.buffer[..payload]))
    }

    fn read_header(&mut self) -> Result<Option<u64>, RecordsError> {
        match self.fill(HEADER_BYTES as u64, RecordPart::Header) {
            Err(RecordsError::TruncatedRecord { found: 0, .. }) => return Ok(None),
            other => other?,
        }
        let (length, stored) = self.buffer.split_at(8);
        self.check(RecordPart::Header, length, stored)?;
        let length = u64::from_le_bytes(length.try_into().expect("the header splits after 8"));
        if length > MAX_RECORD_BYTES {
            return Err(RecordsError::RecordTooLong {
                record: self.record,
                offset: self.offset,
                length,
                limit: MAX_RECORD_BYTES,
            });
        }
        Ok(Some(length))
    }

    /// Reads `expected` bytes; the buffer grows with what arrives, not with what is claimed.
    fn fill(&mut self, expected: u64, part: RecordPart) -> Result<(), RecordsError> {
        self.buffer.clear();
        let found = self.input.by_ref().take(expected).read_to_end(&mut self.buffer)? as u64;
        if found < expected {
            let (record, offset) = (self.record, self.offset);
            return Err(RecordsError::TruncatedRecord { record, offset, part, expected, found });
        }
        Ok(())
    }

    fn check(&self, part: RecordPart, bytes: &[u8], stored: &[u8]) -> Result<(), RecordsError> {
        let stored = u32::from_le_bytes(stored.try_into().expect("a checksum has 4 bytes"));
        let computed = masked_crc(bytes);
        if stored != computed {
            let (record, offset) = (self.record, self.offset);
            return Err(RecordsError::ChecksumMismatch { record, offset, part, stored, computed });
        }
        Ok(())
    }
}

/// Frames payloads and writes them one after another.
pub struct RecordWriter<W> {
    output: W,
}

impl<W: Write> RecordWriter<W> {
    /// A writer that appends to `output`; give it a buffered output.
    pub fn new(output: W) -> Self {
        Self { output }
    }

    /// Writes one record.
    ///
    /// # Errors
    /// When the output fails.
    pub fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        let length = (payload.len() as u64).to_le_bytes();
        self.output.write_all(&length)?;
        self.output.write_all(&masked_crc(&length).to_le_bytes())?;
        self.output.write_all(payload)?;
        self.output.write_all(&masked_crc(payload).to_le_bytes())
    }

    /// Hands the output back.
    pub fn into_inner(self) -> W {
        self.output
    }
}

/// CRC-32C rotated and offset, so that a checksum of data that holds checksums stays strong.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(payloads: &[Vec<u8>]) -> Vec<u8> {
        let mut writer = RecordWriter::new(Vec::new());
        for payload in payloads {
            writer.write(payload).unwrap();
        }
        writer.into_inner()
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RecordsError> {
        let mut reader = RecordReader::new(bytes);
        let mut payloads = Vec::new();
        while let Some(payload) = reader.next_record()? {
            payloads.push(payload.to_vec());
        }
        Ok(payloads)
    }

    /// CRC-32C bit by bit from its definition (RFC 3720, appendix B.4), to check the crate.
    fn slow_masked_crc(bytes: &[u8]) -> u32 {
        let mut crc = !0_u32;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
            }
        }
        (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
    }

    #[test]
    fn checksum_of_the_rfc_3720_vectors_is_right() {
        // RFC 3720 B.4: 32 zero bytes give aa 36 91 8a in transmission order.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c::crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn absurd_length_with_a_good_checksum_is_refused() {
        let length = (MAX_RECORD_BYTES + 1).to_le_bytes();
        let mut bytes = length.to_vec();
        bytes.extend(masked_crc(&length).to_le_bytes());
        let error = read_all(&bytes).unwrap_err();
        assert_eq!(
            error.to_string(),
            "record 0 (counting from 0) at byte 0 claims 2147483649 bytes, over the limit of \
             2147483648"
        );
    }

    #[test]
    fn errors_name_record_and_byte() {
        let mut bytes = framed(&[vec![1, 2, 3], vec![4, 5]]);
        bytes.truncate(bytes.len() - 1);
        assert_eq!(
            read_all(&bytes).unwrap_err().to_string(),
            "record 1 (counting from 0) at byte 19 is cut off: 5 of 6 bytes of its data are there"
        );
        bytes.truncate(22);
        assert_eq!(
            read_all(&bytes).unwrap_err().to_string(),
            "record 1 (counting from 0) at byte 19 is cut off: 3 of 12 bytes of its header are \
             there"
        );
    }

    proptest! {
        #[test]
        fn checksum_agrees_with_the_bitwise_version(bytes: Vec<u8>) {
            prop_assert_eq!(masked_crc(&bytes), slow_masked_crc(&bytes));
        }

        #[test]
        fn records_survive_the_round_trip(payloads: Vec<Vec<u8>>) {
            prop_assert_eq!(read_all(&framed(&payloads)).unwrap(), payloads);
        }

        #[test]
        fn any_flipped_bit_is_detected(
            payloads in prop::collection::vec(any::<Vec<u8>>(), 1..4),
            place: prop::sample::Index,
            bit in 0..8_u32,
        ) {
            let mut bytes = framed(&payloads);
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
            prop_assert!(read_all(&bytes).is_err());
        }

        #[test]
        fn any_cut_inside_a_record_is_detected(payload: Vec<u8>, cut: prop::sample::Index) {
            let bytes = framed(&[payload]);
            let kept = 1 + cut.index(bytes.len() - 1);
            let truncated =
                matches!(read_all(&bytes[..kept]), Err(RecordsError::TruncatedRecord { .. }));
            prop_assert!(truncated);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = read_all(&bytes);
        }
    }
}
