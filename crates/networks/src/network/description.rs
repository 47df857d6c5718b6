//! What a network consists of, as a user writes it: a short text or TOML.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::NetworksError;
use crate::network::families;

/// A list of layers from the dimensions of one example to the logits.
///
/// ```
/// use trainwright_networks::NetworkDescription;
///
/// let description: NetworkDescription = "mlp:784-128-10".parse()?;
/// assert_eq!((description.input.as_slice(), description.layers.len()), (&[784][..], 2));
/// # Ok::<(), trainwright_networks::NetworksError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkDescription {
    /// What the network is called.
    pub name: String,
    /// Dimensions of one example: numbers; steps and numbers; or height, width and channels.
    pub input: Vec<usize>,
    /// How the last layer's outputs are judged.
    #[serde(default)]
    pub loss: LossName,
    /// The layers in their order; each takes what the one before it gives.
    #[serde(rename = "layer")]
    pub layers: Vec<NamedLayer>,
}

/// How outputs are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// Softmax and cross-entropy over one output a class.
    #[default]
    Softmax,
    /// The logistic loss of one output for two classes.
    Logistic,
}

/// A layer and what it is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedLayer {
    /// Its name; layers without one are numbered from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it does.
    #[serde(flatten)]
    pub layer: LayerDescription,
}

/// What a layer does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayerDescription {
    /// Every output is a weighted sum of every input.
    Dense {
        /// How many outputs.
        outputs: usize,
        /// What follows the sums.
        #[serde(default)]
        activation: Activation,
    },
    /// A convolution over height and width.
    Convolution {
        /// How many outputs a position.
        filters: usize,
        /// Height and width of the window.
        kernel: usize,
        /// Step of the window.
        #[serde(default = "one")]
        stride: usize,
        /// Zeros added on each side.
        #[serde(default)]
        padding: usize,
        /// Whether batch norm takes the place of the bias.
        #[serde(default)]
        batch_norm: bool,
        /// What follows.
        #[serde(default)]
        activation: Activation,
    },
    /// A convolution of each channel by itself.
    Depthwise {
        /// Height and width of the window.
        kernel: usize,
        /// Step of the window.
        #[serde(default = "one")]
        stride: usize,
        /// Zeros added on each side.
        #[serde(default)]
        padding: usize,
        /// Whether batch norm takes the place of the bias.
        #[serde(default)]
        batch_norm: bool,
        /// What follows.
        #[serde(default)]
        activation: Activation,
    },
    /// Batch norm over the last dimension.
    BatchNorm {
        /// What follows.
        #[serde(default)]
        activation: Activation,
    },
    /// The largest of each window.
    MaxPool {
        /// Height, width and step of the window.
        size: usize,
    },
    /// The mean of each window.
    AveragePool {
        /// Height, width and step of the window; the whole picture without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<usize>,
    },
    /// Negative values become 0.
    Relu,
    /// Negative values become 0 and those above 6 become 6.
    Relu6,
    /// All dimensions become one.
    Flatten,
    /// Some values are left out while learning.
    Dropout {
        /// Share of the values that is left out.
        rate: f64,
    },
    /// The output of an earlier layer is added.
    Add {
        /// Name of that layer.
        with: String,
    },
    /// A long short-term memory over the steps.
    Lstm {
        /// How many outputs a direction.
        units: usize,
        /// Whether it reads the steps backwards too.
        #[serde(default)]
        bidirectional: bool,
        /// Which of its outputs go on.
        #[serde(default)]
        returns: Returns,
    },
    /// Each input is the number of a row of a table, and becomes that row; it comes first.
    Embedding {
        /// How many rows.
        rows: usize,
        /// How long each row is.
        width: usize,
    },
}

/// Which outputs of a layer over steps go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Returns {
    /// The one after the last step that it reads.
    #[default]
    Last,
    /// That of every step, for another layer over steps.
    Sequence,
}

/// A function of single numbers that follows a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// None.
    #[default]
    Linear,
    /// Negative values become 0.
    Relu,
    /// Negative values become 0 and those above 6 become 6.
    Relu6,
}

fn one() -> usize {
    1
}

impl NetworkDescription {
    /// The network of a short text, for examples of these dimensions and that many classes
    /// where the text leaves them open.
    ///
    /// # Errors
    /// When the text names no network, or the dimensions do not suit it.
    pub fn of(
        text: &str,
        input: Option<&[usize]>,
        classes: Option<usize>,
    ) -> Result<Self, NetworksError> {
        families::expand(text, input, classes)
    }

    /// The network of a TOML text.
    ///
    /// # Errors
    /// When it is no TOML or does not describe a network.
    pub fn from_toml(text: &str) -> Result<Self, NetworksError> {
        toml::from_str(text).map_err(|error| NetworksError::Toml { reason: error.to_string() })
    }
}

impl FromStr for NetworkDescription {
    type Err = NetworksError;

    fn from_str(text: &str) -> Result<Self, NetworksError> {
        Self::of(text, None, None)
    }
}

impl NamedLayer {
    /// Its name, or else its place in the list.
    pub(crate) fn name_at(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| index.to_string())
    }
}

impl From<LayerDescription> for NamedLayer {
    fn from(layer: LayerDescription) -> Self {
        Self { name: None, layer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_describes_layers_in_their_order() {
        let description = NetworkDescription::from_toml(
            r#"
            name = "small"
            input = [8, 8, 3]
            [[layer]]
            kind = "convolution"
            filters = 4
            kernel = 3
            activation = "relu"
            [[layer]]
            kind = "flatten"
            [[layer]]
            name = "head"
            kind = "dense"
            outputs = 2
            "#,
        )
        .unwrap();
        assert_eq!(description.layers.len(), 3);
        assert_eq!(description.layers[2].name.as_deref(), Some("head"));
        let again = toml::to_string(&description).unwrap();
        assert_eq!(NetworkDescription::from_toml(&again).unwrap(), description);
    }

    #[test]
    fn a_wrong_word_is_told() {
        let text = "name = \"x\"\ninput = [3]\n[[layer]]\nkind = \"dense\"\noutput = 2\n";
        let error = NetworkDescription::from_toml(text).unwrap_err().to_string();
        assert!(error.contains("output"), "{error}");
    }
}
