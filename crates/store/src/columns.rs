//! Series as compressed columns: positions then values, bytes of equal weight together, zlib.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// Packs two columns of the same length.
pub(crate) fn pack(at: &[f64], values: &[f64]) -> Vec<u8> {
    let numbers: Vec<[u8; 8]> =
        at.iter().chain(values).map(|number| number.to_le_bytes()).collect();
    let mut bytes = Vec::with_capacity(numbers.len() * 8);
    // Neighbouring samples share their high bytes, so putting those together packs far better.
    for weight in 0..8 {
        bytes.extend(numbers.iter().map(|number| number[weight]));
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&bytes).expect("writing to memory cannot fail");
    encoder.finish().expect("writing to memory cannot fail")
}

/// Unpacks two columns of `count` numbers; nothing where the bytes are damaged.
pub(crate) fn unpack(packed: &[u8], count: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let wanted = count.checked_mul(16)?;
    let mut bytes = Vec::new();
    // One byte more than wanted shows a column that is too long, and bounds the memory used.
    ZlibDecoder::new(packed).take(wanted as u64 + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() != wanted {
        return None;
    }
    let total = 2 * count;
    let number = |index: usize| {
        f64::from_le_bytes(std::array::from_fn(|weight| bytes[weight * total + index]))
    };
    Some(((0..count).map(number).collect(), (count..total).map(number).collect()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn unpacking_gives_the_same_bits(pairs in prop::collection::vec(any::<(f64, f64)>(), 0..50)) {
            let (at, values): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let (at_again, values_again) = unpack(&pack(&at, &values), at.len()).unwrap();
            let bits = |column: &[f64]| column.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&at), bits(&at_again));
            prop_assert_eq!(bits(&values), bits(&values_again));
        }

        #[test]
        fn damaged_bytes_are_noticed_or_harmless(bytes in any::<Vec<u8>>(), count in 0usize..100) {
            let _ = unpack(&bytes, count);
        }
    }

    #[test]
    fn a_count_that_does_not_fit_is_refused() {
        let packed = pack(&[1.0, 2.0], &[3.0, 4.0]);
        assert!(unpack(&packed, 1).is_none());
        assert!(unpack(&packed, 3).is_none());
    }
}
