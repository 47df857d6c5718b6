//! Compressed record files: any bytes are unpacked or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::{RecordReader, unpacked_records};

fuzz_target!(|bytes: &[u8]| {
    if let Ok((input, _)) = unpacked_records(bytes) {
        let mut reader = RecordReader::new(input);
        while let Ok(Some(_)) = reader.next_record() {}
    }
});
