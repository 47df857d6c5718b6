//! IDX files: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::{read_idx, unpacked};

fuzz_target!(|bytes: &[u8]| {
    for dimensions in 0..4 {
        let _ = unpacked(bytes).and_then(|input| read_idx(input, dimensions));
    }
});
