//! TFRecord framing: the stream and the slices must agree on any bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_records::{RecordReader, RecordSlices};

fuzz_target!(|bytes: &[u8]| {
    let mut reader = RecordReader::new(bytes);
    for sliced in RecordSlices::new(bytes) {
        match (sliced, reader.next_record()) {
            (Ok(sliced), Ok(streamed)) => assert_eq!(Some(sliced), streamed),
            (Err(sliced), Err(streamed)) => assert_eq!(sliced.to_string(), streamed.to_string()),
            (sliced, streamed) => panic!("{sliced:?} against {streamed:?}"),
        }
    }
    let _ = RecordSlices::index(bytes);
});
