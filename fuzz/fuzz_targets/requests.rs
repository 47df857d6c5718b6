//! What requests carry, of our own interface and of MLflow's: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trainwright_web::fuzzing::read_requests;

fuzz_target!(|bytes: &[u8]| read_requests(bytes));
