//! What each layer of a network costs: shapes, parameters, operations, memory.

use serde::Serialize;

/// One operator of a network, for one example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Operator {
    /// Name of the layer.
    pub name: String,
    /// What it does, such as `convolution 3x3`.
    pub kind: String,
    /// Names of the operators that it reads; `input` is the network's own input.
    pub inputs: Vec<String>,
    /// Dimensions of its first input.
    pub input_shape: Vec<usize>,
    /// Dimensions of its output.
    pub output_shape: Vec<usize>,
    /// How many parameters it has.
    pub parameters: usize,
    /// Floating-point operations forward; a multiplication and an addition are two.
    pub flops: u64,
    /// Bytes of what it keeps until the backward step, besides its input.
    pub activation_bytes: u64,
}
