//! Index files: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::parse_index;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_index(bytes);
});
