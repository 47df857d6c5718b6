//! IDX files, the format of MNIST and Fashion-MNIST: a header with dimensions, then bytes.
//!
//! Layout: two zero bytes, 8 for unsigned bytes, the number of dimensions, each dimension as
//! big-endian `u32`, then the values, last dimension fastest. Plain or gzip-compressed.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::RecordsError;

const UNSIGNED_BYTES: u8 = 8;

/// The values of an IDX file and their dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxBytes {
    /// Dimensions, slowest first.
    pub dimensions: Vec<usize>,
    /// Values, last dimension fastest.
    pub values: Vec<u8>,
}

/// Reads an IDX file of unsigned bytes with the given number of dimensions, to its very end.
///
/// # Errors
/// When it is no such file, is cut off, or goes on after its values.
pub fn read_idx(mut input: impl Read, dimensions: usize) -> Result<IdxBytes, RecordsError> {
    let start = header_word(&mut input)?;
    if start[..3] != [0, 0, UNSIGNED_BYTES] {
        return Err(RecordsError::IdxMagic { start });
    }
    if usize::from(start[3]) != dimensions {
        let found = start[3].into();
        return Err(RecordsError::IdxDimensions { expected: dimensions, found });
    }
    let mut sizes = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        sizes.push(u32::from_be_bytes(header_word(&mut input)?));
    }
    let product = sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size.into()));
    let expected = match product {
        Some(product) if product < isize::MAX as u64 => product,
        _ => return Err(RecordsError::IdxTooLarge { dimensions: sizes }),
    };
    // One byte more than claimed tells a whole file from one that goes on.
    let mut values = Vec::new();
    let found = input.take(expected + 1).read_to_end(&mut values)? as u64;
    if found < expected {
        return Err(RecordsError::IdxTruncated { expected, found });
    }
    if found > expected {
        return Err(RecordsError::IdxTrailing { expected });
    }
    Ok(IdxBytes { dimensions: sizes.into_iter().map(|size| size as usize).collect(), values })
}

fn header_word(input: &mut impl Read) -> Result<[u8; 4], RecordsError> {
    let mut word = [0; 4];
    match input.read_exact(&mut word) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(RecordsError::IdxHeader),
        other => Ok(other.map(|()| word)?),
    }
}

/// The unpacked bytes of an input that may be gzip-compressed, told by its first two bytes.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn unpacked<'a>(input: impl Read + 'a) -> Result<Box<dyn Read + 'a>, RecordsError> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    if input.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        Ok(Box::new(MultiGzDecoder::new(input)))
    } else {
        Ok(Box::new(input))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    const TWO_BY_TWO: &[u8] = &[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 9, 8, 7, 6];

    #[test]
    fn plain_and_compressed_files_read_the_same() {
        let expected = IdxBytes { dimensions: vec![2, 2], values: vec![9, 8, 7, 6] };
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(TWO_BY_TWO).unwrap();
        let gzip = gzip.finish().unwrap();
        assert_eq!(read_idx(unpacked(TWO_BY_TWO).unwrap(), 2).unwrap(), expected);
        assert_eq!(read_idx(unpacked(&gzip[..]).unwrap(), 2).unwrap(), expected);
    }

    #[track_caller]
    fn check(bytes: &[u8], message: &str) {
        assert_eq!(read_idx(bytes, 2).unwrap_err().to_string(), message);
    }

    #[test]
    fn damaged_files_are_refused_by_name_of_the_damage() {
        check(&TWO_BY_TWO[..15], "IDX file is cut off: 3 of 4 bytes after the header are there");
        check(&[TWO_BY_TWO, &[5]].concat(), "IDX file goes on after its 4 bytes of values");
        check(&[0, 0, 8, 1, 0, 0, 0, 0], "IDX file has 1 dimensions where 2 are needed");
        check(&TWO_BY_TWO[..7], "IDX file ends inside its header");
        check(
            &[0, 0, 13, 2],
            "not an IDX file: it starts with [00, 00, 0d, 02], expected [00, 00, 08, dimensions]",
        );
        check(
            &[0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255],
            "IDX dimensions [4294967295, 4294967295] are beyond what this machine can address",
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, dimensions in 0..5_usize) {
            let _ = unpacked(&bytes[..]).and_then(|input| read_idx(input, dimensions));
        }

        #[test]
        fn a_changed_file_never_panics_or_allocates_what_it_claims(
            place in 0..TWO_BY_TWO.len(), byte: u8,
        ) {
            let mut bytes = TWO_BY_TWO.to_vec();
            bytes[place] = byte;
            let _ = read_idx(&bytes[..], 2);
        }
    }
}
