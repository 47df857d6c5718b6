//! Why a network cannot be built or worked with.

use std::path::PathBuf;

/// Why a network cannot be built or worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum NetworksError {
    #[error("layer {layer} of {widths:?} has no neurons")]
    EmptyLayer { layer: usize, widths: Vec<usize> },
    #[error(
        "with layer `{layer}` the network needs about {:.1e} bytes of memory, more than any machine \
         has; the limit is 1.1e12 (2^38 numbers)",
        *bytes as f64
    )]
    TooLarge { layer: String, bytes: u128 },
    #[error("the network has {layers} layers, more than {most} cannot be built")]
    TooManyLayers { layers: usize, most: usize },
    #[error(
        "layer `{layer}` would note {bytes} bytes of places, more than the limit of {limit}; give \
         it smaller pictures or a smaller window"
    )]
    TooManyPlaces { layer: String, bytes: u64, limit: u64 },
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    #[error("the system gave {started} of {wanted} threads: {reason}")]
    Threads { wanted: usize, started: usize, reason: std::io::ErrorKind },
    #[error("`{text}` is no network: {reason}")]
    UnknownNetwork { text: String, reason: String },
    #[error("network `{network}` wants {wants}, but examples have the dimensions {input:?}")]
    InputShape { network: String, wants: String, input: Vec<usize> },
    #[error("network `{network}` has {outputs} outputs, but there are {classes} classes")]
    ClassCount { network: String, outputs: usize, classes: usize },
    #[error("layer `{layer}` wants {wants}, but gets the dimensions {input:?}")]
    LayerShape { layer: String, wants: String, input: Vec<usize> },
    #[error("layer `{layer}` has no outputs")]
    NoOutputs { layer: String },
    #[error("network `{network}` has no layer that computes anything")]
    NoLayers { network: String },
    #[error("two layers are called `{name}`; names must differ, and `input` is taken")]
    TwoLayers { name: String },
    #[error("layer `{name}` adds the output of `{with}`, but no layer before it is called so")]
    NoEarlierLayer { name: String, with: String },
    #[error("layer `{name}` adds `{with}`, which is its own input; name an earlier layer")]
    AddsItself { name: String, with: String },
    #[error("layer `{layer}` leaves out the share {rate}, which must be at least 0 and below 1")]
    DropoutRate { layer: String, rate: String },
    #[error("no layer's name starts with `{prefix}`; the layers are {}", layers.join(", "))]
    NoSuchLayer { prefix: String, layers: Vec<String> },
    #[error("tensor `{tensor}` should have the dimensions {expected:?}, but {found}")]
    WeightShape { tensor: String, expected: Vec<usize>, found: String },
    #[error("layer `{layer}` cannot be written to an ONNX file: {reason}")]
    NotInOnnx { layer: String, reason: &'static str },
    #[error("input {input} is no row of the network's table, which has {rows} from 0")]
    NoSuchRow { input: String, rows: usize },
    #[error("layer `{layer}` takes numbers of rows, so that it can only come first")]
    EmbeddingNotFirst { layer: String },
    #[error("cannot read the description of a network: {reason}")]
    Toml { reason: String },
}

impl NetworksError {
    /// Whether another description or other data would help, rather than a sound file or machine.
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::Threads { .. } | Self::File { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_and_missing_threads_are_no_bad_input() {
        let file = NetworksError::File { path: "w".into(), reason: "cut off".to_owned() };
        assert_eq!(file.to_string(), "w: cut off");
        let threads = NetworksError::Threads {
            wanted: 4,
            started: 2,
            reason: std::io::ErrorKind::WouldBlock,
        };
        assert!(!file.is_bad_input() && !threads.is_bad_input());
        assert!(threads.to_string().starts_with("the system gave 2 of 4 threads: "));
        assert!(NetworksError::NoLayers { network: "n".to_owned() }.is_bad_input());
    }

    #[test]
    fn a_size_beyond_any_machine_is_told_in_bytes() {
        let error = NetworksError::TooLarge { layer: "big".to_owned(), bytes: 1_u128 << 70 };
        assert_eq!(
            error.to_string(),
            "with layer `big` the network needs about 1.2e21 bytes of memory, more than any \
             machine has; the limit is 1.1e12 (2^38 numbers)"
        );
    }
}
