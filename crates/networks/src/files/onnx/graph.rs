//! Layers as ONNX operators.

use std::collections::BTreeMap;

use super::message::Message;
use super::tensor;
use crate::error::NetworksError;
use crate::layers::NORM_EPSILON;
use crate::network::build::norm_name;
use crate::network::description::{Activation, LayerDescription};
use crate::network::tensors::TensorInfo;

/// Bounds of ReLU6.
const ZERO: &str = "zero";
const SIX: &str = "six";

/// Kinds of attributes.
const KIND_FLOAT: usize = 1;
const KIND_INTEGER: usize = 2;
const KIND_INTEGERS: usize = 7;

/// A graph that grows layer by layer.
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The value that the last layer gives, and those of named layers.
    value: String,
    named: BTreeMap<String, String>,
    /// Whether the last value has its channels second, as ONNX wants them; sequences have not,
    /// and a picture that was made flat has its numbers in another order.
    has_channels: bool,
}

struct Node {
    operator: &'static str,
    inputs: Vec<String>,
    output: String,
    attributes: Vec<Message>,
}

impl Graph {
    /// Before the first layer, with examples of that many dimensions.
    pub(super) fn new(input: &str, dimensions: usize) -> Self {
        Self {
            nodes: Vec::new(),
            value: input.to_owned(),
            named: BTreeMap::new(),
            has_channels: dimensions != 2,
        }
    }

    /// Adds what a layer does.
    ///
    /// # Errors
    /// When it has no counterpart.
    pub(super) fn add(
        &mut self,
        name: &str,
        layer: &LayerDescription,
        tensors: &[TensorInfo],
    ) -> Result<(), NetworksError> {
        use LayerDescription as L;
        match *layer {
            L::Dense { activation, .. } => {
                let tensors = [format!("{name}.weight"), format!("{name}.bias")];
                self.push(name, "Gemm", &tensors, vec![integer("transB", 1)]);
                self.has_channels = true;
                self.activation(name, activation);
            }
            L::Convolution { kernel, stride, padding, batch_norm, activation, .. } => {
                let window = window(kernel, stride, padding);
                self.convolution(name, window, batch_norm, activation);
            }
            L::Depthwise { kernel, stride, padding, batch_norm, activation } => {
                let weight = format!("{name}.weight");
                let own = tensors.iter().find(|tensor| tensor.name == weight);
                let channels = own.and_then(|tensor| tensor.shape.last().copied());
                let mut window = window(kernel, stride, padding);
                window.push(integer("group", channels.expect("a depthwise layer has weights")));
                self.convolution(name, window, batch_norm, activation);
            }
            L::BatchNorm { .. } if !self.has_channels => {
                return Err(refused(name, "batch norm is written after pictures or dense layers"));
            }
            L::BatchNorm { activation } => {
                self.norm(name, name);
                self.activation(name, activation);
            }
            L::MaxPool { size } => self.push(name, "MaxPool", &[], window(size, size, 0)),
            L::AveragePool { size: Some(size) } => {
                self.push(name, "AveragePool", &[], window(size, size, 0));
            }
            L::AveragePool { size: None } => self.push(name, "GlobalAveragePool", &[], Vec::new()),
            L::Relu => self.activation(name, Activation::Relu),
            L::Relu6 => self.activation(name, Activation::Relu6),
            L::Flatten => {
                self.push(name, "Flatten", &[], vec![integer("axis", 1)]);
                self.has_channels = false;
            }
            // Nothing is left out once a network has learned.
            L::Dropout { .. } => {}
            L::Add { ref with } => {
                let other = self.named[with].clone();
                self.push(name, "Add", &[other], Vec::new());
            }
            L::Lstm { .. } | L::Embedding { .. } => {
                return Err(refused(name, "only layers of feed-forward networks are written"));
            }
        }
        self.named.insert(name.to_owned(), self.value.clone());
        Ok(())
    }

    /// Tensors that operators take beside those of the network.
    pub(super) fn constants(&self) -> Vec<Message> {
        match self.nodes.iter().any(|node| node.operator == "Clip") {
            true => vec![tensor(ZERO, &[], &[0.0]), tensor(SIX, &[], &[6.0])],
            false => Vec::new(),
        }
    }

    /// The operators, the last of which gives the value `output`.
    pub(super) fn into_nodes(mut self, output: &str) -> Vec<Message> {
        let last = self.nodes.last_mut().expect("a network computes something");
        last.output = output.to_owned();
        let message = |own: Node| node(own.operator, &own.inputs, &own.output, &own.attributes);
        self.nodes.into_iter().map(message).collect()
    }

    /// A convolution, and what follows it.
    fn convolution(
        &mut self,
        name: &str,
        window: Vec<Message>,
        batch_norm: bool,
        activation: Activation,
    ) {
        let mut tensors = vec![format!("{name}.weight")];
        if !batch_norm {
            tensors.push(format!("{name}.bias"));
        }
        self.push(name, "Conv", &tensors, window);
        if batch_norm {
            self.norm(name, &norm_name(name));
        }
        self.activation(name, activation);
    }

    fn norm(&mut self, name: &str, tensors: &str) {
        let parts = ["weight", "bias", "running_mean", "running_var"];
        let tensors = parts.map(|part| format!("{tensors}.{part}"));
        let epsilon = float("epsilon", NORM_EPSILON as f32);
        self.push(name, "BatchNormalization", &tensors, vec![epsilon]);
    }

    fn activation(&mut self, name: &str, activation: Activation) {
        match activation {
            Activation::Linear => {}
            Activation::Relu => self.push(name, "Relu", &[], Vec::new()),
            Activation::Relu6 => {
                self.push(name, "Clip", &[ZERO, SIX].map(str::to_owned), Vec::new());
            }
        }
    }

    /// An operator of a layer on the last value and some others, which becomes the last value.
    ///
    /// The value is called after layer and operator, of which a layer has each once: no layer can
    /// be called so that its value has the name of another, of the outputs or of a constant.
    fn push(
        &mut self,
        layer: &str,
        operator: &'static str,
        others: &[String],
        attributes: Vec<Message>,
    ) {
        let output = format!("{layer}/{operator}");
        let mut inputs = vec![std::mem::replace(&mut self.value, output.clone())];
        inputs.extend_from_slice(others);
        self.nodes.push(Node { operator, inputs, output, attributes });
    }
}

/// A `NodeProto`.
pub(super) fn node(
    operator: &str,
    inputs: &[String],
    output: &str,
    attributes: &[Message],
) -> Message {
    let inputs = inputs.iter().fold(Message::default(), |message, input| message.bytes(1, input));
    inputs.bytes(2, output).bytes(3, output).bytes(4, operator).messages(5, attributes)
}

/// Attributes of a square window.
fn window(kernel: usize, stride: usize, padding: usize) -> Vec<Message> {
    vec![
        integers("kernel_shape", &[kernel; 2]),
        integers("strides", &[stride; 2]),
        integers("pads", &[padding; 4]),
    ]
}

fn float(name: &str, value: f32) -> Message {
    Message::default().bytes(1, name).float(2, value).number(20, KIND_FLOAT)
}

fn integer(name: &str, value: usize) -> Message {
    Message::default().bytes(1, name).number(3, value).number(20, KIND_INTEGER)
}

fn integers(name: &str, values: &[usize]) -> Message {
    let message = Message::default().bytes(1, name);
    let message = values.iter().fold(message, |message, &value| message.number(8, value));
    message.number(20, KIND_INTEGERS)
}

fn refused(layer: &str, reason: &'static str) -> NetworksError {
    NetworksError::NotInOnnx { layer: layer.to_owned(), reason }
}
