//! Picture headers: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::pictures::read_picture_header;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(header) = read_picture_header(bytes) {
        assert!(header.rows > 0 && header.columns > 0);
    }
});
