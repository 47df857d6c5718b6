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
    #[error("no figures of GPUs: {library} cannot be used: {reason}", library = library.display())]
    NoGpuLibrary { library: PathBuf, reason: String },
    #[error("cannot measure the network: {source}; is the loopback interface up?")]
    Loopback { source: std::io::Error },
    #[error("cannot measure the disk in {folder}: {source}; name another folder with --folder", folder = folder.display())]
    Disk { folder: PathBuf, source: std::io::Error },
}
