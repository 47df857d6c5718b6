//! A parameter server hears any bytes as messages of workers and of the leader: it answers or refuses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_comm::fuzzing::serve_lines;

fuzz_target!(|bytes: &[u8]| serve_lines(bytes));
