//! Headers, words of joining and signs of life between ranks, messages of servers: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_comm::fuzzing::{read_lines, read_signs, read_words};

fuzz_target!(|bytes: &[u8]| {
    read_words(bytes);
    read_signs(bytes);
    read_lines(bytes);
});
