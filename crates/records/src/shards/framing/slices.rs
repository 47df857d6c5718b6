//! Records of bytes that are in memory or mapped, without copying any.

use super::frame::{self, CHECKSUM_BYTES, FRAME_BYTES, HEADER_BYTES, Place};
use crate::error::{RecordPart, RecordsError};
use crate::shards::index::IndexEntry;

/// Goes through the records of `bytes`; payloads are slices of it.
///
/// ```
/// use trainwright_records::{RecordSlices, RecordWriter};
///
/// let mut file = Vec::new();
/// RecordWriter::new(&mut file).write(b"payload")?;
/// let payloads: Vec<&[u8]> = RecordSlices::new(&file).collect::<Result<_, _>>()?;
/// assert_eq!(payloads, [b"payload"]);
/// # Ok::<(), trainwright_records::RecordsError>(())
/// ```
pub struct RecordSlices<'a> {
    bytes: &'a [u8],
    place: Place,
    failed: bool,
}

impl<'a> RecordSlices<'a> {
    /// Starts at the first record.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, place: Place::default(), failed: false }
    }

    /// Where the next record begins.
    pub(crate) fn offset(&self) -> usize {
        self.place.offset as usize
    }

    /// Where the records lie, by their lengths alone: payloads are not touched or checked.
    ///
    /// # Errors
    /// When a length is damaged or the last record is cut off.
    pub fn index(bytes: &'a [u8]) -> Result<Vec<IndexEntry>, RecordsError> {
        let mut records = Self::new(bytes);
        let mut entries = Vec::new();
        while records.place.offset < bytes.len() as u64 {
            let offset = records.place.offset;
            let framed = records.next_framed()?;
            entries.push(IndexEntry { offset, bytes: (framed.len() + HEADER_BYTES) as u64 });
        }
        Ok(entries)
    }

    /// The payload of the record that an index entry points at, checked; `record` is its number,
    /// for the error.
    ///
    /// # Errors
    /// When there is no sound record of that size at that place.
    pub fn at(bytes: &'a [u8], entry: IndexEntry, record: u64) -> Result<&'a [u8], RecordsError> {
        let place = Place { record, offset: entry.offset };
        let mut records = Self { bytes, place, failed: false };
        if entry.offset > bytes.len() as u64 {
            return Err(place.truncated(RecordPart::Header, HEADER_BYTES as u64, 0));
        }
        let data = frame::checked_data(records.next_framed()?, place)?;
        let found = (data.len() + FRAME_BYTES) as u64;
        if found != entry.bytes {
            let (offset, expected) = (entry.offset, entry.bytes);
            return Err(RecordsError::IndexDisagrees { record, offset, expected, found });
        }
        Ok(data)
    }

    /// The payload and its checksum, whose length is sound.
    fn next_framed(&mut self) -> Result<&'a [u8], RecordsError> {
        let rest = &self.bytes[self.place.offset as usize..];
        let Some((header, rest)) = rest.split_at_checked(HEADER_BYTES) else {
            let (expected, found) = (HEADER_BYTES as u64, rest.len() as u64);
            return Err(self.place.truncated(RecordPart::Header, expected, found));
        };
        let length = frame::length(header, self.place)?;
        let framed = length as usize + CHECKSUM_BYTES;
        let Some(framed) = rest.get(..framed) else {
            let (expected, found) = (framed as u64, rest.len() as u64);
            return Err(self.place.truncated(RecordPart::Data, expected, found));
        };
        self.place = self.place.after(length);
        Ok(framed)
    }
}

impl<'a> Iterator for RecordSlices<'a> {
    type Item = Result<&'a [u8], RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.place.offset == self.bytes.len() as u64 {
            return None;
        }
        let place = self.place;
        let record = self.next_framed().and_then(|framed| frame::checked_data(framed, place));
        self.failed = record.is_err();
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shards::framing::{RecordReader, RecordWriter};

    /// What the streaming reader makes of the same bytes, to compare with.
    fn streamed(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<String>) {
        let mut reader = RecordReader::new(bytes);
        let mut payloads = Vec::new();
        loop {
            match reader.next_record() {
                Ok(Some(payload)) => payloads.push(payload.to_vec()),
                Ok(None) => return (payloads, None),
                Err(error) => return (payloads, Some(error.to_string())),
            }
        }
    }

    fn sliced(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<String>) {
        let mut payloads = Vec::new();
        for payload in RecordSlices::new(bytes) {
            match payload {
                Ok(payload) => payloads.push(payload.to_vec()),
                Err(error) => return (payloads, Some(error.to_string())),
            }
        }
        (payloads, None)
    }

    fn framed(payloads: &[Vec<u8>]) -> Vec<u8> {
        let mut writer = RecordWriter::new(Vec::new());
        for payload in payloads {
            writer.write(payload).unwrap();
        }
        writer.into_inner()
    }

    #[test]
    fn an_index_entry_with_a_wrong_size_is_told() {
        let bytes = framed(&[vec![1, 2, 3], vec![4]]);
        let entry = IndexEntry { offset: 19, bytes: 18 };
        assert_eq!(
            RecordSlices::at(&bytes, entry, 1).unwrap_err().to_string(),
            "record 1 (counting from 0) at byte 19 is 17 bytes long with its frame, the index \
             says 18"
        );
    }

    proptest! {
        #[test]
        fn slices_are_what_the_stream_gives(
            payloads: Vec<Vec<u8>>, damage: Option<(prop::sample::Index, u8)>, cut in 0..8_usize,
        ) {
            let mut bytes = framed(&payloads);
            if let Some((place, byte)) = damage && !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            prop_assert_eq!(sliced(&bytes), streamed(&bytes));
        }

        #[test]
        fn the_index_points_at_every_payload(payloads: Vec<Vec<u8>>) {
            let bytes = framed(&payloads);
            let index = RecordSlices::index(&bytes).unwrap();
            prop_assert_eq!(index.len(), payloads.len());
            for (number, (entry, payload)) in index.into_iter().zip(&payloads).enumerate() {
                let found = RecordSlices::at(&bytes, entry, number as u64).unwrap();
                prop_assert_eq!(found, payload.as_slice());
            }
        }

        #[test]
        fn an_arbitrary_entry_never_panics(bytes: Vec<u8>, offset: u64, size: u64) {
            let _ = RecordSlices::at(&bytes, IndexEntry { offset, bytes: size }, 0);
        }
    }
}
