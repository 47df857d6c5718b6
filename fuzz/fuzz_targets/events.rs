//! Event files: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::read_scalars;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_scalars(bytes);
});
