//! Why the machine could not be measured.

use std::path::PathBuf;

/// Why the machine could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum ProbeError {
    #[error("cannot read {path}: {source}; is /proc mounted?")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} does not read as the kernel documents it: `{text}`")]
    Malformed { path: PathBuf, text: String },
}
