//! Why a network cannot be built or worked with.

/// Why a network cannot be built or worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum NetworksError {
    #[error("layer {layer} of {widths:?} has no neurons")]
    EmptyLayer { layer: usize, widths: Vec<usize> },
    #[error("a network of layers {widths:?} has more parameters than memory can address")]
    TooLarge { widths: Vec<usize> },
    #[error("the system gave {started} of {wanted} threads: {reason}")]
    Threads { wanted: usize, started: usize, reason: std::io::ErrorKind },
}
