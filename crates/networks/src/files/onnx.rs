//! A trained network as an ONNX file, for other programs to run.
//!
//! Pictures go in as ONNX has them: example, channel, row, column, and weights lie in PyTorch's
//! order, which is ONNX's too. LSTM and embedding are refused: only feed-forward networks are
//! written. Operators are those of <https://onnx.ai/onnx/operators/>, opset 17; `graph.rs` turns
//! layers into them, `message.rs` is the encoding.

mod graph;
mod message;

use crate::error::NetworksError;
use crate::network::Network;
use crate::network::description::{LossName, NetworkDescription};
use graph::Graph;
use message::Message;

/// Version of the file's format, and of the operators.
const IR_VERSION: usize = 8;
const OPSET: usize = 17;
/// ONNX's number for 32 bit floats.
const FLOAT: usize = 1;

/// Names of the values that go in and come out.
const INPUT: &str = "input";
const LOGITS: &str = "logits";
const PROBABILITIES: &str = "probabilities";

impl Network {
    /// The network with these parameters and this state as the bytes of an ONNX file.
    ///
    /// It takes `input` (any number of examples) and gives `logits` and `probabilities`.
    ///
    /// # Errors
    /// When a layer is not one of a feed-forward network.
    ///
    /// # Panics
    /// When parameters or state are not as many as the network has.
    pub fn to_onnx(&self, parameters: &[f32], state: &[f32]) -> Result<Vec<u8>, NetworksError> {
        let mut initializers = Vec::new();
        for (infos, values) in [(&self.tensors, parameters), (&self.state_tensors, state)] {
            for info in infos {
                let values = info.kind.to_pytorch(&info.shape, &values[info.range.clone()]);
                let shape = info.kind.pytorch_shape(&info.shape);
                initializers.push(tensor(&info.name, &shape, &values));
            }
        }
        let description = &self.description;
        let mut graph = Graph::new(INPUT, description.input.len());
        for (index, named) in description.layers.iter().enumerate() {
            graph.add(&named.name_at(index), &named.layer, &self.tensors)?;
        }
        initializers.extend(graph.constants());
        let mut nodes = graph.into_nodes(LOGITS);
        nodes.push(probabilities(description.loss));
        let graph = Message::default()
            .messages(1, &nodes)
            .bytes(2, &description.name)
            .messages(5, &initializers)
            .message(11, &value(INPUT, &channels_first(description)))
            .message(12, &value(LOGITS, &[self.outputs()]))
            .message(12, &value(PROBABILITIES, &[self.outputs()]));
        let opset = Message::default().bytes(1, "").number(2, OPSET);
        let model = Message::default()
            .number(1, IR_VERSION)
            .bytes(2, "trainwright")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &opset);
        Ok(model.into_bytes())
    }
}

fn probabilities(loss: LossName) -> Message {
    let operator = match loss {
        LossName::Softmax => "Softmax",
        LossName::Logistic => "Sigmoid",
    };
    graph::node(operator, &[LOGITS.to_owned()], PROBABILITIES, &[])
}

/// Dimensions of one example in ONNX's order.
fn channels_first(description: &NetworkDescription) -> Vec<usize> {
    match *description.input.as_slice() {
        [rows, columns, channels] => vec![channels, rows, columns],
        ref others => others.to_vec(),
    }
}

/// A `TensorProto` of floats.
fn tensor(name: &str, shape: &[usize], values: &[f32]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let dimensions =
        shape.iter().fold(Message::default(), |message, &size| message.number(1, size));
    dimensions.number(2, FLOAT).bytes(8, name).bytes(9, bytes)
}

/// A `ValueInfoProto` of any number of examples of these dimensions.
fn value(name: &str, shape: &[usize]) -> Message {
    let examples = Message::default().bytes(2, "examples");
    let sizes: Vec<Message> =
        shape.iter().map(|&size| Message::default().number(1, size)).collect();
    let shape = Message::default().message(1, &examples).messages(1, &sizes);
    let tensor = Message::default().number(1, FLOAT).message(2, &shape);
    Message::default().bytes(1, name).message(2, &Message::default().message(1, &tensor))
}

#[cfg(test)]
mod tests;
