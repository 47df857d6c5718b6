//! A short name for a vector of parameters, equal only for equal bits.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// SHA-256 of the little-endian bytes, in hexadecimal.
pub(crate) fn parameters_hash(parameters: &[f32]) -> String {
    let mut hash = Sha256::new();
    for parameter in parameters {
        hash.update(parameter.to_le_bytes());
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}").expect("writing to a string does not fail");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_that_of_the_little_endian_bytes() {
        // `printf '\0\0\200?\0\0\0\300' | sha256sum`: 1.0 and -2.0.
        let expected = "ee4ac73c2bd27756ab82780f27c73a7bc4d3f0bb6acb37e008bc27eccd7e588b";
        assert_eq!(parameters_hash(&[1.0, -2.0]), expected);
    }
}
