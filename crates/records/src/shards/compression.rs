//! Whole-file compression of TFRecord files: one GZIP or ZLIB stream around the framing.
//!
//! Reading goes to the very end of a stream: one that is cut off, or that bytes follow, is an
//! error and never a shorter file.

use std::fmt;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Decompress, FlushDecompress, Status};

use crate::shards::framing::{HEADER_BYTES, masked_crc};

/// How a TFRecord file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// One or more GZIP members (RFC 1952).
    Gzip,
    /// One ZLIB stream (RFC 1950).
    Zlib,
}

impl Compression {
    /// How a file that starts with these bytes is compressed; 12 bytes are enough.
    ///
    /// A plain file may start with the bytes of either kind, as the length of its first record;
    /// then the checksum of that length tells.
    pub fn of(start: &[u8]) -> Self {
        let plain = start.get(..HEADER_BYTES).is_some_and(|header| {
            let (length, stored) = header.split_at(8);
            masked_crc(length).to_le_bytes() == stored
        });
        match start {
            _ if plain => Self::None,
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            // Deflate with a window of 32 KiB, as every writer uses, at any of its four levels.
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Self::Zlib,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
        })
    }
}

/// The unpacked bytes of a TFRecord file, and how it was compressed.
///
/// # Errors
/// When its first bytes cannot be read.
pub fn unpacked_records<'a>(
    input: impl Read + Send + 'a,
) -> io::Result<(Box<dyn Read + Send + 'a>, Compression)> {
    let mut start = Vec::with_capacity(HEADER_BYTES);
    let mut input = input;
    input.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let whole = io::Cursor::new(start).chain(input);
    let input = BufReader::with_capacity(1 << 16, whole);
    Ok(match compression {
        Compression::None => (Box::new(input), compression),
        Compression::Gzip => (Box::new(MultiGzDecoder::new(input)), compression),
        Compression::Zlib => (Box::new(ZlibReader::new(input)), compression),
    })
}

/// A ZLIB stream and nothing after it. `flate2`'s own reader takes the end of the input for the
/// end of the stream, which would let a truncated file pass.
struct ZlibReader<R> {
    input: R,
    inflate: Decompress,
    ended: bool,
}

impl<R: BufRead> ZlibReader<R> {
    fn new(input: R) -> Self {
        Self { input, inflate: Decompress::new(true), ended: false }
    }
}

impl<R: BufRead> Read for ZlibReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !out.is_empty() {
            let input = self.input.fill_buf()?;
            let at_end = input.is_empty();
            let (read_before, written_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status =
                self.inflate.decompress(input, out, FlushDecompress::None).map_err(|e| {
                    Error::new(ErrorKind::InvalidData, format!("its zlib stream is damaged: {e}"))
                })?;
            self.input.consume((self.inflate.total_in() - read_before) as usize);
            let written = (self.inflate.total_out() - written_before) as usize;
            self.ended = status == Status::StreamEnd;
            if written > 0 {
                return Ok(written);
            }
            if at_end && !self.ended {
                return Err(Error::new(ErrorKind::UnexpectedEof, "its zlib stream is cut off"));
            }
        }
        if self.ended && !self.input.fill_buf()?.is_empty() {
            return Err(Error::new(ErrorKind::InvalidData, "bytes follow its zlib stream"));
        }
        Ok(0)
    }
}

/// An output that compresses what it is given.
pub(crate) enum Packer<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zlib(ZlibEncoder<W>),
}

impl<W: Write> Packer<W> {
    pub(crate) fn new(output: W, compression: Compression) -> Self {
        let level = flate2::Compression::default();
        match compression {
            Compression::None => Self::Plain(output),
            Compression::Gzip => Self::Gzip(GzEncoder::new(output, level)),
            Compression::Zlib => Self::Zlib(ZlibEncoder::new(output, level)),
        }
    }

    /// Ends the stream and hands the output back.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(output) => Ok(output),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zlib(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(output) => output.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zlib(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zlib(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shards::framing::{RecordReader, RecordWriter};

    fn packed(payloads: &[Vec<u8>], compression: Compression) -> Vec<u8> {
        let mut writer = RecordWriter::new(Packer::new(Vec::new(), compression));
        for payload in payloads {
            writer.write(payload).unwrap();
        }
        writer.into_inner().finish().unwrap()
    }

    fn read_all(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, Compression), crate::RecordsError> {
        let (input, compression) = unpacked_records(bytes)?;
        let mut reader = RecordReader::new(input);
        let mut payloads = Vec::new();
        while let Some(payload) = reader.next_record()? {
            payloads.push(payload.to_vec());
        }
        Ok((payloads, compression))
    }

    #[test]
    fn a_plain_file_that_starts_like_gzip_or_zlib_is_plain() {
        for length in [0x08_8b1f_usize, 0x9c78, 0x0178] {
            let payloads = [vec![7; length]];
            let bytes = packed(&payloads, Compression::None);
            assert_eq!(read_all(&bytes).unwrap(), (payloads.to_vec(), Compression::None));
        }
    }

    #[test]
    fn bytes_after_a_stream_are_an_error() {
        for compression in [Compression::Gzip, Compression::Zlib] {
            let mut bytes = packed(&[vec![1; 100]], compression);
            bytes.push(0);
            assert!(read_all(&bytes).is_err(), "{compression}");
        }
    }

    fn any_compression() -> impl Strategy<Value = Compression> {
        prop_oneof![Just(Compression::None), Just(Compression::Gzip), Just(Compression::Zlib)]
    }

    proptest! {
        #[test]
        fn records_survive_any_compression(
            payloads in prop::collection::vec(any::<Vec<u8>>(), 1..8),
            compression in any_compression(),
        ) {
            let bytes = packed(&payloads, compression);
            prop_assert_eq!(read_all(&bytes).unwrap(), (payloads, compression));
        }

        #[test]
        fn a_cut_compressed_file_is_an_error(
            payloads in prop::collection::vec(any::<Vec<u8>>(), 1..8),
            zlib: bool, cut: prop::sample::Index,
        ) {
            let compression = if zlib { Compression::Zlib } else { Compression::Gzip };
            let bytes = packed(&payloads, compression);
            let kept = 3 + cut.index(bytes.len() - 3);
            prop_assert!(read_all(&bytes[..kept]).is_err());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, kind in 0..3_u8) {
            let start: &[u8] = match kind {
                0 => &[],
                1 => &[0x1f, 0x8b, 8, 0],
                _ => &[0x78, 0x9c],
            };
            let _ = read_all(&[start, &bytes].concat());
        }
    }
}
