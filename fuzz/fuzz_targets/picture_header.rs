//! Picture headers: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::pictures::read_picture_header;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(header) = read_picture_header(bytes) {
        assert!(header.rows > 0 && header.columns > 0);
        let pixels = header.rows as u128 * header.columns as u128;
        assert_eq!(u128::from(header.pixels()), pixels, "no format's sides overflow");
    }
});
