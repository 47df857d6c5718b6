//! TFRecord files written and read by hand, so that a test does not believe the program's own
//! code: length, its checksum, the bytes, their checksum (TensorFlow's record_writer.cc).

/// The bytes of a file that holds these records.
pub(crate) fn written(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for record in records {
        let length = (record.len() as u64).to_le_bytes();
        file.extend(length);
        file.extend(masked(&length));
        file.extend(record);
        file.extend(masked(record));
    }
    file
}

/// The records of a file, whose checksums must be right.
#[track_caller]
pub(crate) fn read(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut records, mut rest) = (Vec::new(), file);
    while !rest.is_empty() {
        let (length, after) = rest.split_at(8);
        let (sum, after) = after.split_at(4);
        assert_eq!(sum, masked(length));
        let length = u64::from_le_bytes(length.try_into().unwrap()) as usize;
        let (record, after) = after.split_at(length);
        let (sum, after) = after.split_at(4);
        assert_eq!(sum, masked(record));
        records.push(record.to_vec());
        rest = after;
    }
    records
}

fn masked(bytes: &[u8]) -> [u8; 4] {
    let sum = crc32c::crc32c(bytes);
    sum.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}
