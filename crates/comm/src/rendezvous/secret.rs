//! The secret that all ranks of a job share, and proofs of knowing it.

use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::CommError;

/// Bytes that a secret has at least.
const LEAST: usize = 16;

/// Bytes of a nonce and of a proof.
pub(super) const PROOF_BYTES: usize = 32;

/// The secret that all ranks of a job share. It never goes over a wire.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A secret of at least 16 bytes.
    ///
    /// # Errors
    /// Where it is shorter.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, CommError> {
        let bytes = bytes.into();
        if bytes.len() < LEAST {
            return Err(CommError::WeakSecret { bytes: bytes.len(), least: LEAST });
        }
        Ok(Self(bytes))
    }

    /// The secret in a file, without white space around it.
    ///
    /// # Errors
    /// Where the file cannot be read or holds too little.
    pub fn from_file(path: &Path) -> Result<Self, CommError> {
        let read = std::fs::read(path);
        let bytes =
            read.map_err(|source| CommError::SecretFile { path: path.to_owned(), source })?;
        Self::new(bytes.trim_ascii())
    }

    /// A new secret, 64 hexadecimal digits: for a launcher that hands it to its ranks.
    ///
    /// # Errors
    /// Where the system gives no random numbers.
    pub fn random() -> Result<Self, CommError> {
        let digits: String = nonce::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        Self::new(digits)
    }

    /// The secret itself, to be written to a file that only its owner can read.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What proves to one who knows the secret that these words come from one who knows it too.
    pub fn proof(&self, words: &[&[u8]]) -> [u8; PROOF_BYTES] {
        proof(&self.0, words)
    }

    /// Whether this is the proof; takes the same time for every wrong one.
    pub fn is_proof(&self, words: &[&[u8]], claimed: &[u8]) -> bool {
        is_proof(&self.0, words, claimed)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// HMAC-SHA256 of words, each with its length before it, so that no two lists read alike.
pub(super) fn proof(key: &[u8], words: &[&[u8]]) -> [u8; PROOF_BYTES] {
    hashed(key, words).finalize().into_bytes().into()
}

/// Whether this is the proof; takes the same time for every wrong one.
pub(super) fn is_proof(key: &[u8], words: &[&[u8]], claimed: &[u8]) -> bool {
    hashed(key, words).verify_slice(claimed).is_ok()
}

/// Random bytes that nobody can foresee.
pub(super) fn nonce<const BYTES: usize>() -> Result<[u8; BYTES], CommError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|fault| CommError::NoRandomness(fault.to_string()))?;
    Ok(bytes)
}

fn hashed(key: &[u8], words: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    for word in words {
        mac.update(&(word.len() as u64).to_le_bytes());
        mac.update(word);
    }
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_hmac_sha256_of_lengths_and_words() {
        // From Python 3.11: hmac.new(b"k" * 16, struct.pack("<Q", 2) + b"ab" + struct.pack("<Q", 1)
        // + b"c", "sha256").hexdigest()
        let found: String =
            proof(&[b'k'; 16], &[b"ab", b"c"]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, "7fea31be3482a2dfb23a32ced2c097892c923acc5b19150ac181bf39e81ade36");
    }

    #[test]
    fn words_cut_elsewhere_have_another_proof() {
        let secret = Secret::new(*b"sixteen letters!").unwrap();
        let found = secret.proof(&[b"ab", b"c"]);
        assert!(secret.is_proof(&[b"ab", b"c"], &found));
        assert!(!secret.is_proof(&[b"a", b"bc"], &found));
        assert!(!secret.is_proof(&[b"ab", b"c"], &found[..31]));
    }

    #[test]
    fn a_short_secret_is_refused_and_none_is_printed() {
        let refused = Secret::new(*b"short").unwrap_err().to_string();
        assert_eq!(refused, "the shared secret has 5 bytes; give it at least 16");
        let secret = Secret::new(*b"sixteen letters!").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }
}
