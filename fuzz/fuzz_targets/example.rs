//! Examples: what is read can be written and read again, and the view agrees.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::{Example, ExampleView};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(example) = Example::parse(bytes) {
        let again = example.encode();
        assert_eq!(Example::parse(&again).expect("our own bytes are sound").encode(), again);
        let view = ExampleView::new(bytes);
        assert_eq!(view.int("label").ok(), example.int("label").ok());
        assert_eq!(view.bytes("image").ok(), example.bytes("image").ok());
    }
});
