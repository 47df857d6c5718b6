//! Tests of the framing: vectors, damage and round trips.

use proptest::prelude::*;

use super::frame::masked_crc;
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
