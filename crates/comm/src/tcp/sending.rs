//! A message on its way out.

use std::io::{self, IoSlice, Write};
use std::net::TcpStream;

use crate::frame::{HEADER_BYTES, Header};
use crate::transport::{Outgoing, ROW_BYTES};

/// Slices handed to the kernel at a time.
const SLICES: usize = 16;

/// A message on its way out: header, then the parts row by row.
pub(super) struct Sending<'a> {
    pub(super) to: usize,
    header: [u8; HEADER_BYTES],
    parts: &'a [&'a [u8]],
    /// Bytes gone so far, those of the header too.
    gone: usize,
    total: usize,
}

impl<'a> Sending<'a> {
    pub(super) fn new(send: &Outgoing<'a>, header: Header) -> Self {
        let total = HEADER_BYTES + header.length as usize;
        Self { to: send.to, header: header.encode(), parts: send.parts, gone: 0, total }
    }

    pub(super) fn is_done(&self) -> bool {
        self.gone == self.total
    }

    /// Writes what the socket takes at once; gives the number of bytes.
    pub(super) fn write(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut count = 0;
        let mut from = self.gone;
        if from < HEADER_BYTES {
            slices[0] = IoSlice::new(&self.header[from..]);
            (count, from) = (1, HEADER_BYTES);
        }
        while count < SLICES && from < self.total {
            let slice = stretch(self.parts, from - HEADER_BYTES);
            from += slice.len();
            slices[count] = IoSlice::new(slice);
            count += 1;
        }
        let gone = stream.write_vectored(&slices[..count])?;
        self.gone += gone;
        Ok(gone)
    }
}

/// The bytes of one part from this place in the message on: to the part's end where it is the only
/// one, else to the end of its stretch of the row.
fn stretch<'a>(parts: &[&'a [u8]], place: usize) -> &'a [u8] {
    if let [part] = parts {
        return &part[place..];
    }
    let bytes = parts[0].len();
    let row = place / (ROW_BYTES * parts.len());
    let start = row * ROW_BYTES;
    let length = ROW_BYTES.min(bytes - start);
    let within = place - start * parts.len();
    &parts[within / length][start + within % length..start + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_row_by_row() {
        let long = ROW_BYTES + 5;
        let (a, b) = (vec![1_u8; long], vec![2_u8; long]);
        let parts: [&[u8]; 2] = [&a, &b];
        let (mut message, mut place) = (Vec::new(), 0);
        while place < 2 * long {
            // Writes that end anywhere: every second stretch is cut short.
            let next = stretch(&parts, place);
            let next =
                &next[..if message.len() % 2 == 0 { next.len().div_ceil(3) } else { next.len() }];
            message.extend_from_slice(next);
            place += next.len();
        }
        let expected: Vec<u8> =
            [vec![1; ROW_BYTES], vec![2; ROW_BYTES], vec![1; 5], vec![2; 5]].concat();
        assert!(message == expected);
    }
}
