//! From a description to a network: shapes are followed from layer to layer and checked.
//!
//! `make.rs` makes the single layers.

mod make;

use std::collections::BTreeMap;

use crate::error::NetworksError;
use crate::layers::layer::Layer;
use crate::losses::loss::Loss;
use crate::network::description::{Activation, LayerDescription, LossName, NetworkDescription};
use crate::network::families;
use crate::network::operator::Operator;
use crate::network::tensors::Layout;
use crate::network::{Network, Node};

pub(crate) use make::norm_name;

/// Most parameters, and most numbers of one value of one example: a terabyte. What follows from
/// them, such as the operations and the memory of a layer, can then be told in 64 bits.
const LIMIT: usize = 1 << 38;

/// Most bytes of the places that a depthwise layer notes when it is made.
const MOST_TAP_BYTES: usize = 4 << 30;

impl Network {
    /// Most layers; planning which buffers share memory takes their number squared.
    pub const MOST_LAYERS: usize = 10_000;

    /// The network that a description tells.
    ///
    /// # Errors
    /// When a layer does not fit what comes before it.
    pub fn new(description: &NetworkDescription) -> Result<Self, NetworksError> {
        check_layer_count(description.layers.len())?;
        let mut builder = Builder::new(description)?;
        for (index, named) in description.layers.iter().enumerate() {
            let name = named.name_at(index);
            let layer = match description.relu_can_wait(index, &name) {
                true => builder.without_relu(&named.layer),
                false => named.layer.clone(),
            };
            builder.add(name, &layer)?;
        }
        builder.finish(description)
    }

    /// A perceptron from inputs over hidden layers to classes.
    ///
    /// # Errors
    /// When a layer is empty or the parameters cannot be addressed.
    pub fn perceptron(
        inputs: usize,
        hidden: &[usize],
        classes: usize,
    ) -> Result<Self, NetworksError> {
        check_layer_count(hidden.len().saturating_add(1))?;
        let widths: Vec<usize> = [&[inputs], hidden, &[classes]].concat();
        if let Some(layer) = widths.iter().position(|&width| width == 0) {
            return Err(NetworksError::EmptyLayer { layer, widths });
        }
        Self::new(&families::perceptron(inputs, hidden, classes))
    }
}

impl NetworkDescription {
    /// Whether a layer is a convolution with a ReLU whose output goes to a max pooling and nowhere
    /// else: then the ReLU may as well follow the pooling.
    fn relu_can_wait(&self, index: usize, name: &str) -> bool {
        use LayerDescription as L;
        let (layer, next) = (&self.layers[index].layer, self.layers.get(index + 1));
        matches!(layer, L::Convolution { batch_norm: false, activation: Activation::Relu, .. })
            && next.is_some_and(|next| matches!(next.layer, L::MaxPool { .. }))
            && !self.layers.iter().any(|it| matches!(&it.layer, L::Add { with } if with == name))
    }
}

/// A network that is growing layer by layer.
struct Builder {
    parameters: Layout,
    state: Layout,
    nodes: Vec<Node>,
    sizes: Vec<usize>,
    operators: Vec<Operator>,
    /// Dimensions of what the last layer gives.
    shape: Vec<usize>,
    /// The value that holds it, and the layer that gives it.
    value: usize,
    from: String,
    /// Whether the last layer's ReLU was left to the pooling that comes next.
    owes_relu: bool,
    /// Positions of the picture that the last value was before it was made flat, or 1.
    positions: usize,
    /// Value and dimensions of each name.
    named: BTreeMap<String, (usize, Vec<usize>)>,
}

/// What a layer becomes.
struct Made {
    layer: Box<dyn Layer>,
    shape: Vec<usize>,
    kind: String,
    /// Operations forward for one example.
    flops: u64,
}

impl Builder {
    fn new(description: &NetworkDescription) -> Result<Self, NetworksError> {
        let shape = description.input.clone();
        let size = product(&shape).filter(|&size| size > 0 && size <= LIMIT);
        let Some(size) = size.filter(|_| shape.len() <= 3 && !shape.is_empty()) else {
            return Err(NetworksError::InputShape {
                network: description.name.clone(),
                wants: "one to three dimensions above 0".into(),
                input: shape,
            });
        };
        Ok(Self {
            parameters: Layout::default(),
            state: Layout::default(),
            nodes: Vec::new(),
            sizes: vec![size],
            operators: Vec::new(),
            shape,
            value: 0,
            from: "input".into(),
            owes_relu: false,
            positions: 1,
            named: BTreeMap::new(),
        })
    }

    /// The same convolution, whose ReLU is left to the pooling that comes next.
    fn without_relu(&mut self, layer: &LayerDescription) -> LayerDescription {
        let mut layer = layer.clone();
        if let LayerDescription::Convolution { activation, .. } = &mut layer {
            *activation = Activation::Linear;
            self.owes_relu = true;
        }
        layer
    }

    fn add(&mut self, name: String, layer: &LayerDescription) -> Result<(), NetworksError> {
        if self.named.contains_key(&name) || name == "input" {
            return Err(NetworksError::TwoLayers { name });
        }
        let other = match layer {
            LayerDescription::Add { with } => Some(self.earlier(&name, with)?),
            _ => None,
        };
        let (first_tensor, parameters) = (self.parameters.count(), self.parameters.len());
        if let Some(made) = self.make(&name, layer)? {
            let size = product(&made.shape).filter(|&size| size <= LIMIT);
            let size = size.ok_or_else(|| too_large(&name, &made.shape, 0))?;
            let mut inputs = vec![self.from.clone()];
            if let LayerDescription::Add { with } = layer {
                inputs.push(with.clone());
            }
            let kept = size + made.layer.needs().stash;
            self.operators.push(Operator {
                name: name.clone(),
                kind: made.kind,
                inputs,
                input_shape: std::mem::replace(&mut self.shape, made.shape.clone()),
                output_shape: made.shape,
                parameters: self.parameters.len() - parameters,
                flops: made.flops,
                activation_bytes: (kept * size_of::<f32>()) as u64,
            });
            self.nodes.push(Node {
                name: name.clone(),
                layer: made.layer,
                input: self.value,
                other,
                output: self.sizes.len(),
                tensors: first_tensor..self.parameters.count(),
                frozen: false,
            });
            self.value = self.sizes.len();
            self.sizes.push(size);
            self.from = name.clone();
        }
        self.named.insert(name, (self.value, self.shape.clone()));
        Ok(())
    }

    /// The value of an earlier layer that has the current dimensions.
    fn earlier(&self, name: &str, with: &str) -> Result<usize, NetworksError> {
        match self.named.get(with) {
            Some((value, _)) if *value == self.value => {
                Err(NetworksError::AddsItself { name: name.into(), with: with.into() })
            }
            Some((value, shape)) if *shape == self.shape => Ok(*value),
            Some((_, shape)) => {
                Err(self.misfit(name, &format!("the dimensions {shape:?} of `{with}`")))
            }
            None => Err(NetworksError::NoEarlierLayer { name: name.into(), with: with.into() }),
        }
    }

    fn misfit(&self, layer: &str, wants: &str) -> NetworksError {
        NetworksError::LayerShape {
            layer: layer.to_owned(),
            wants: wants.to_owned(),
            input: self.shape.clone(),
        }
    }

    fn finish(self, description: &NetworkDescription) -> Result<Network, NetworksError> {
        let &[outputs] = self.shape.as_slice() else {
            return Err(self.misfit("loss", "one dimension, as after a layer `dense`"));
        };
        let loss = match (description.loss, outputs) {
            (LossName::Softmax, 2..) => Loss::Softmax,
            (LossName::Logistic, 1) => Loss::Logistic,
            (LossName::Softmax, _) => {
                return Err(self.misfit("loss", "at least two outputs for softmax"));
            }
            (LossName::Logistic, _) => {
                return Err(self.misfit("loss", "one output for the logistic loss"));
            }
        };
        if self.nodes.is_empty() {
            return Err(NetworksError::NoLayers { network: description.name.clone() });
        }
        Ok(Network {
            description: description.clone(),
            nodes: self.nodes,
            sizes: self.sizes,
            tensors: self.parameters.into_tensors(),
            state_tensors: self.state.into_tensors(),
            operators: self.operators,
            loss,
            input_gradients: false,
        })
    }
}

/// Whether a network may have that many layers.
///
/// # Errors
/// When they are too many.
fn check_layer_count(layers: usize) -> Result<(), NetworksError> {
    let most = Network::MOST_LAYERS;
    if layers > most { Err(NetworksError::TooManyLayers { layers, most }) } else { Ok(()) }
}

fn product(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size))
}

/// What is wrong with a tensor of these dimensions after so many numbers.
fn too_large(layer: &str, shape: &[usize], before: usize) -> NetworksError {
    let numbers = shape.iter().fold(1, |all: u128, &size| all.saturating_mul(size as u128));
    let bytes = numbers.saturating_add(before as u128).saturating_mul(size_of::<f32>() as u128);
    NetworksError::TooLarge { layer: layer.to_owned(), bytes }
}

/// The product of such factors, or the largest number where that is larger.
fn operations(factors: &[usize]) -> u64 {
    factors.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Batch, Learned, StepOptions};

    #[track_caller]
    fn refuses(layers: &str, words: &str) {
        let text = format!("name = \"x\"\ninput = [8, 8, 3]\n{layers}");
        let description = NetworkDescription::from_toml(&text).unwrap();
        let error = Network::new(&description).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn layers_that_do_not_fit_are_told() {
        let dense = "[[layer]]\nkind = \"dense\"\noutputs = 2\n";
        let flatten = "[[layer]]\nkind = \"flatten\"\n";
        refuses(dense, "[8, 8, 3]");
        refuses("[[layer]]\nkind = \"max-pool\"\nsize = 9\n", "9x9");
        refuses(flatten, "no layer");
        refuses(&format!("{flatten}{}", dense.replace('2', "1")), "two outputs");
        refuses(&format!("{flatten}{}", dense.replace('2', "0")), "layer `1` has no outputs");
        refuses("[[layer]]\nkind = \"add\"\nwith = \"there\"\n", "`there`");
        let itself = "[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"add\"\nwith = \"0\"\n";
        refuses(itself, "its own input");
        refuses(&format!("{flatten}[[layer]]\nkind = \"dropout\"\nrate = 1.5\n"), "1.5");
        refuses(&format!("{flatten}{}", dense.replace('2', "9000000000000000")), "more");
        let twice = format!("{flatten}[[layer]]\nname = \"0\"\nkind = \"relu\"\n");
        refuses(&twice, "two layers are called `0`");
    }

    #[test]
    fn impossible_perceptrons_are_refused() {
        assert_eq!(
            Network::perceptron(784, &[128, 0], 10).unwrap_err().to_string(),
            "layer 2 of [784, 128, 0, 10] has no neurons"
        );
        let huge = Network::perceptron(usize::MAX / 2, &[16], 10);
        assert!(huge.is_err());
        assert_eq!(Network::perceptron(5, &[], 3).unwrap().parameter_count(), 18);
    }

    #[test]
    fn a_relu_may_wait_for_the_pooling() {
        let head = "name = \"x\"\ninput = [7, 7, 2]\n[[layer]]\nkind = \"convolution\"\n";
        let convolution = format!("{head}filters = 9\nkernel = 3\npadding = 1\n");
        let tail = "[[layer]]\nkind = \"max-pool\"\nsize = 2\n[[layer]]\nkind = \"flatten\"\n\
            [[layer]]\nkind = \"dense\"\noutputs = 3\n";
        let learn = |layers: &str| {
            let description =
                NetworkDescription::from_toml(&format!("{convolution}{layers}{tail}"));
            let network = Network::new(&description.unwrap()).unwrap();
            let (parameters, mut workspace) =
                (network.initial_parameters(3), network.workspace(2, 1).unwrap());
            let inputs: Vec<f32> = (0..196).map(|it| (it % 13) as f32 * 0.1 - 0.6).collect();
            let batch = Batch { inputs: &inputs, labels: &[0, 2] };
            let (mut gradients, options) = (vec![0.0; parameters.len()], StepOptions::default());
            network.gradients(
                &parameters,
                &[],
                batch,
                options,
                Learned { gradients: &mut gradients, statistics: &mut [] },
                &mut workspace,
            );
            gradients
        };
        let apart = learn("activation = \"linear\"\n[[layer]]\nkind = \"relu\"\n");
        assert_eq!(learn("activation = \"relu\"\n"), apart);
        assert_ne!(learn("activation = \"linear\"\n"), apart);
    }
}
