//! Pictures: any bytes of a small picture are decoded or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::pictures::{Decoder, Picture, read_picture_header};

fuzz_target!(|bytes: &[u8]| {
    let small = read_picture_header(bytes).is_ok_and(|it| it.rows * it.columns <= 1 << 16);
    if small {
        let mut picture = Picture::default();
        if Decoder::new().and_then(|mut decoder| decoder.decode(bytes, &mut picture)).is_ok() {
            assert_eq!(picture.pixels.len(), picture.rows * picture.columns * picture.channels);
        }
    }
});
