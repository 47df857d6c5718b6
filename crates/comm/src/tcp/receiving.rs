//! A message on its way in.

use std::io::{self, IoSliceMut, Read};
use std::net::TcpStream;

use bytemuck::must_cast_slice_mut;

use crate::frame::{HEADER_BYTES, Header, Kind};
use crate::transport::ROW_BYTES;

/// A message on its way in, to its place or row by row.
pub(super) struct Receiving<'a> {
    pub(super) from: usize,
    pub(super) expected: Header,
    header: [u8; HEADER_BYTES],
    /// Bytes of the header that have come.
    header_come: usize,
    target: Target<'a>,
    /// Bytes of the place, or of the current row, that have come.
    come: usize,
}

enum Target<'a> {
    Place(&'a mut [u8]),
    /// A buffer for a row, and how long the current row is.
    Row {
        buffer: &'a mut [f32],
        length: usize,
    },
}

/// Why a message is not the one that was expected.
pub(super) enum Wrong {
    Nonsense,
    Tag(u64),
    Length(u64),
}

impl<'a> Receiving<'a> {
    pub(super) fn to_place(from: usize, expected: Header, place: &'a mut [u8]) -> Self {
        Self::new(from, expected, Target::Place(place))
    }

    pub(super) fn by_rows(from: usize, expected: Header, buffer: &'a mut [f32]) -> Self {
        Self::new(from, expected, Target::Row { buffer, length: 0 })
    }

    fn new(from: usize, expected: Header, target: Target<'a>) -> Self {
        Self { from, expected, header: [0; HEADER_BYTES], header_come: 0, target, come: 0 }
    }

    /// Whether the place, or the current row, is filled.
    pub(super) fn is_filled(&self) -> bool {
        let length = match &self.target {
            Target::Place(place) => place.len(),
            Target::Row { length, .. } => *length,
        };
        self.header_come == HEADER_BYTES && self.come == length
    }

    /// Begins the next row, of this many bytes.
    pub(super) fn next_row(&mut self, bytes: usize) {
        self.come = 0;
        if let Target::Row { length, .. } = &mut self.target {
            *length = bytes;
        }
    }

    /// The bytes of the current row.
    pub(super) fn row(&self) -> &[u8] {
        match &self.target {
            Target::Place(place) => place,
            Target::Row { buffer, length } => &bytemuck::must_cast_slice(buffer)[..*length],
        }
    }

    /// Reads what is there, and no further than the place or row; gives the number of bytes.
    pub(super) fn read(&mut self, mut stream: &TcpStream) -> io::Result<Result<usize, Wrong>> {
        let room = match &mut self.target {
            Target::Place(place) => &mut place[self.come..],
            Target::Row { buffer, length } => {
                &mut must_cast_slice_mut::<f32, u8>(buffer)[self.come..*length]
            }
        };
        if self.header_come == HEADER_BYTES {
            let read = stream.read(room)?;
            self.come += read;
            return Ok(Ok(read));
        }
        let header = &mut self.header[self.header_come..];
        let header_room = header.len();
        let read = stream.read_vectored(&mut [IoSliceMut::new(header), IoSliceMut::new(room)])?;
        self.header_come += read.min(header_room);
        self.come += read.saturating_sub(header_room);
        if self.header_come == HEADER_BYTES {
            return Ok(self.check_header().map(|()| read));
        }
        Ok(Ok(read))
    }

    fn check_header(&self) -> Result<(), Wrong> {
        let header = Header::parse(&self.header).map_err(|_| Wrong::Nonsense)?;
        if header.kind != Kind::Data || header.group != self.expected.group {
            return Err(Wrong::Nonsense);
        }
        if header.tag != self.expected.tag {
            return Err(Wrong::Tag(header.tag));
        }
        if header.length != self.expected.length {
            return Err(Wrong::Length(header.length));
        }
        Ok(())
    }
}

/// Numbers that a buffer for the rows of this many parts needs.
pub(super) fn row_buffer(parts: usize, bytes: usize) -> usize {
    (parts * bytes.min(ROW_BYTES)).div_ceil(size_of::<f32>())
}
