//! TFRecord framing: a checksummed length, then a checksummed payload.
//!
//! A record is `u64` length, `u32` masked CRC-32C of those eight bytes, the payload and `u32`
//! masked CRC-32C of the payload, all little-endian. What the payload means is not known here;
//! see [`crate::example`] and [`crate::events`]. [`RecordReader`] reads a stream through a small
//! buffer, [`RecordSlices`] bytes that are in memory or mapped; neither copies payloads.

mod frame;
mod slices;

use std::io::{self, Read, Write};

use crate::error::{RecordPart, RecordsError};
pub(crate) use frame::{CHECKSUM_BYTES, FRAME_BYTES, HEADER_BYTES, Place, masked_crc};
pub use slices::RecordSlices;

/// Longest payload that is read, the size limit of a protocol buffer message.
pub const MAX_RECORD_BYTES: u64 = 1 << 31;

/// Half of a second-level cache: larger reads leave it, smaller ones move the beginnings of
/// records about more often; both were measured to be slower.
const BUFFER_BYTES: usize = 1 << 18;

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
    start: usize,
    end: usize,
    place: Place,
}

/// A payload whose own checksum has not been looked at yet.
pub(crate) struct Unchecked<'a> {
    pub(crate) place: Place,
    /// The payload and its checksum.
    framed: &'a [u8],
}

impl<'a> Unchecked<'a> {
    pub(crate) fn check(&self) -> Result<&'a [u8], RecordsError> {
        frame::checked_data(self.framed, self.place)
    }
}

impl<R: Read> RecordReader<R> {
    /// A reader at the first record of `input`, which it buffers itself.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), start: 0, end: 0, place: Place::default() }
    }

    /// How many records have been read whole.
    pub fn records_read(&self) -> u64 {
        self.place.record
    }

    /// The next payload, or `None` after the last record.
    ///
    /// # Errors
    /// When the record is cut off, fails a checksum or claims more than [`MAX_RECORD_BYTES`].
    /// The reader must not be used after an error.
    pub fn next_record(&mut self) -> Result<Option<&[u8]>, RecordsError> {
        self.next_unchecked()?.map(|record| record.check()).transpose()
    }

    /// The next record, whose length is sound; its payload may be damaged.
    pub(crate) fn next_unchecked(&mut self) -> Result<Option<Unchecked<'_>>, RecordsError> {
        let place = self.place;
        let found = self.buffered(HEADER_BYTES)?;
        if found == 0 {
            return Ok(None);
        }
        if found < HEADER_BYTES {
            return Err(place.truncated(RecordPart::Header, HEADER_BYTES as u64, found as u64));
        }
        let length = frame::length(&self.buffer[self.start..self.start + HEADER_BYTES], place)?;
        let framed = length as usize + FRAME_BYTES;
        let found = self.buffered(framed)?;
        if found < framed {
            let expected = length + CHECKSUM_BYTES as u64;
            return Err(place.truncated(RecordPart::Data, expected, (found - HEADER_BYTES) as u64));
        }
        let start = self.start + HEADER_BYTES;
        self.start += framed;
        self.place = place.after(length);
        Ok(Some(Unchecked { place, framed: &self.buffer[start..self.start] }))
    }

    /// Where the next record begins.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Reads and forgets the rest; gives its length from the start of the current record.
    pub(crate) fn drain(&mut self) -> io::Result<u64> {
        let held = (self.end - self.start) as u64;
        self.start = self.end;
        Ok(held + io::copy(&mut self.input, &mut io::sink())?)
    }

    /// Sees to it that `wanted` bytes lie in the buffer from `start` on; gives how many really do,
    /// which is fewer at the end of the input only. The buffer grows with what arrives, not with
    /// what a record claims.
    fn buffered(&mut self, wanted: usize) -> io::Result<usize> {
        if self.end - self.start >= wanted {
            return Ok(wanted);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < wanted {
            if self.end == self.buffer.len() {
                self.buffer.resize((2 * self.end).max(BUFFER_BYTES), 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(self.end),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(wanted)
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
        self.output.write_all(&frame::header(payload.len()))?;
        self.output.write_all(payload)?;
        self.output.write_all(&masked_crc(payload).to_le_bytes())
    }

    /// The output, such as to flush it.
    pub fn output_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// Hands the output back.
    pub fn into_inner(self) -> W {
        self.output
    }
}

#[cfg(test)]
mod tests;
