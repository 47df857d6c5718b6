//! Rows of libsvm files: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::sources::parse_libsvm_line;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(row)) = parse_libsvm_line(bytes) {
        assert_eq!(row.indices.len(), row.values.len());
        assert!(row.indices.windows(2).all(|pair| pair[0] < pair[1]));
    }
});
