//! Sequence examples: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::SequenceExample;

fuzz_target!(|bytes: &[u8]| {
    let _ = SequenceExample::parse(bytes);
});
