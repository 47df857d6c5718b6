//! Pictures: any bytes are decoded or refused, whatever size they claim.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::pictures::{Decoder, Picture, PixelLimit, read_picture_header};

/// Small, so that a claim of more is met often and decoding is quick.
const LIMIT: u64 = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let limit = PixelLimit::new(LIMIT).expect("the limit is in its range");
    let mut picture = Picture::default();
    let decoded = Decoder::new(limit).and_then(|mut decoder| decoder.decode(bytes, &mut picture));
    if decoded.is_ok() {
        assert_eq!(picture.pixels.len(), picture.rows * picture.columns * picture.channels);
    }
    if read_picture_header(bytes).is_ok_and(|header| header.pixels() > LIMIT) {
        assert!(decoded.is_err());
        assert_eq!(picture.pixels.capacity(), 0, "memory was asked for before the size was checked");
    }
});
