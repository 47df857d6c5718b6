//! Networks that a short text names: `mlp`, `cnn`, `mobilenet-v2`, `lstm` and `bilstm`.

mod mobilenet_v2;

use crate::error::NetworksError;
use crate::network::description::{
    Activation, LayerDescription, LossName, NamedLayer, NetworkDescription, Returns,
};

/// What the short texts look like, for messages.
const FORMS: &str = "mlp:784-128-10, cnn:flowers, mobilenet-v2:1.0, lstm:128, bilstm:128";

/// The network that a short text names.
pub(crate) fn expand(
    text: &str,
    input: Option<&[usize]>,
    classes: Option<usize>,
) -> Result<NetworkDescription, NetworksError> {
    let unknown = |reason: String| NetworksError::UnknownNetwork { text: text.to_owned(), reason };
    let (family, rest) = text.split_once(':').unwrap_or((text, ""));
    match (family, rest) {
        ("mlp", widths) => mlp(text, &numbers(widths).map_err(unknown)?, input, classes),
        ("cnn", "flowers") => {
            let input = pictures(text, input.unwrap_or(&[64, 64, 3]))?;
            Ok(flower_cnn(text, &input, classes.unwrap_or(5)))
        }
        ("mobilenet-v2", width) => {
            let width = if width.is_empty() { "1.0" } else { width };
            let factor = width.parse().ok().filter(|factor: &f64| *factor > 0.0 && *factor <= 8.0);
            let factor = factor.ok_or_else(|| {
                unknown(format!("its width `{width}` is no number above 0 and up to 8"))
            })?;
            let input = pictures(text, input.unwrap_or(&[224, 224, 3]))?;
            Ok(mobilenet_v2::describe(text, factor, &input, classes.unwrap_or(1000)))
        }
        ("lstm" | "bilstm", units) => {
            let units = numbers(units).map_err(unknown)?;
            let &[units] = units.as_slice() else {
                return Err(unknown("it has one number of units, as in bilstm:128".into()));
            };
            lstm(text, units, family == "bilstm", input.unwrap_or(&[28, 28]), classes.unwrap_or(10))
        }
        _ => Err(unknown(format!("the networks are {FORMS}"))),
    }
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let number = |part: &str| {
        part.parse()
            .ok()
            .filter(|&number| number > 0)
            .ok_or_else(|| format!("`{part}` is no number of neurons; the networks are {FORMS}"))
    };
    text.split('-').map(number).collect()
}

/// Dimensions of pictures: grey ones of two dimensions have one channel.
fn pictures(text: &str, input: &[usize]) -> Result<Vec<usize>, NetworksError> {
    match *input {
        [height, width] => Ok(vec![height, width, 1]),
        [_, _, _] => Ok(input.to_vec()),
        _ => Err(NetworksError::InputShape {
            network: text.to_owned(),
            wants: "height, width and channels".into(),
            input: input.to_vec(),
        }),
    }
}

fn mlp(
    text: &str,
    widths: &[usize],
    input: Option<&[usize]>,
    classes: Option<usize>,
) -> Result<NetworkDescription, NetworksError> {
    let mismatch = |wants: String, input: &[usize]| NetworksError::InputShape {
        network: text.to_owned(),
        wants,
        input: input.to_vec(),
    };
    let &[inputs, ref later @ ..] = widths else { unreachable!("splitting leaves one part") };
    let Some((&outputs, hidden)) = later.split_last() else {
        return Err(NetworksError::UnknownNetwork {
            text: text.to_owned(),
            reason: "it needs inputs and outputs, as in mlp:784-128-10".into(),
        });
    };
    if let Some(input) = input
        && input.iter().try_fold(1_usize, |all, &more| all.checked_mul(more)) != Some(inputs)
    {
        return Err(mismatch(format!("{inputs} numbers"), input));
    }
    if let Some(classes) = classes
        && classes != outputs
    {
        return Err(NetworksError::ClassCount { network: text.to_owned(), outputs, classes });
    }
    let mut description = perceptron(inputs, hidden, outputs);
    description.name = text.to_owned();
    Ok(description)
}

/// The perceptron with these hidden layers.
pub(crate) fn perceptron(inputs: usize, hidden: &[usize], classes: usize) -> NetworkDescription {
    let widths: Vec<String> =
        [&[inputs], hidden, &[classes]].concat().iter().map(usize::to_string).collect();
    let mut layers: Vec<NamedLayer> =
        hidden.iter().map(|&outputs| dense(outputs, Activation::Relu)).collect();
    layers.push(dense(classes, Activation::Linear));
    NetworkDescription {
        name: format!("mlp:{}", widths.join("-")),
        input: vec![inputs],
        loss: LossName::Softmax,
        layers,
    }
}

/// The network of the flower pictures in the Keras tutorial on image classification: windows of
/// 3 x 3 without padding.
fn flower_cnn(text: &str, input: &[usize], classes: usize) -> NetworkDescription {
    let convolution = |filters| {
        NamedLayer::from(LayerDescription::Convolution {
            filters,
            kernel: 3,
            stride: 1,
            padding: 0,
            batch_norm: false,
            activation: Activation::Relu,
        })
    };
    let pool = || NamedLayer::from(LayerDescription::MaxPool { size: 2 });
    NetworkDescription {
        name: text.to_owned(),
        input: input.to_vec(),
        loss: LossName::Softmax,
        layers: vec![
            convolution(32),
            pool(),
            convolution(64),
            pool(),
            convolution(64),
            LayerDescription::Flatten.into(),
            dense(64, Activation::Relu),
            dense(classes, Activation::Linear),
        ],
    }
}

fn lstm(
    text: &str,
    units: usize,
    bidirectional: bool,
    input: &[usize],
    classes: usize,
) -> Result<NetworkDescription, NetworksError> {
    let (steps, width) = match *input {
        [steps, width] => (steps, width),
        // The rows of a picture are the steps.
        [height, width, channels] => (height, width.saturating_mul(channels)),
        _ => {
            return Err(NetworksError::InputShape {
                network: text.to_owned(),
                wants: "steps and numbers".into(),
                input: input.to_vec(),
            });
        }
    };
    Ok(NetworkDescription {
        name: text.to_owned(),
        input: vec![steps, width],
        loss: LossName::Softmax,
        layers: vec![
            LayerDescription::Lstm { units, bidirectional, returns: Returns::Last }.into(),
            dense(classes, Activation::Linear),
        ],
    })
}

fn dense(outputs: usize, activation: Activation) -> NamedLayer {
    LayerDescription::Dense { outputs, activation }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;

    #[track_caller]
    fn check(text: &str, parameters: usize) {
        let network = Network::new(&expand(text, None, None).unwrap()).unwrap();
        assert_eq!(network.parameter_count(), parameters, "{text}");
    }

    #[test]
    fn parameters_are_those_that_others_count() {
        // Keras 3: model.count_params() of the same layers; torchvision for MobileNetV2,
        // whose 3,504,872 are its trainable ones. Keras has one bias a gate, as here.
        check("mlp:784-128-10", 101_770);
        check("cnn:flowers", 32 * 28 + 64 * 289 + 64 * 577 + 9217 * 64 + 65 * 5);
        check("mobilenet-v2:1.0", 3_504_872);
        check("mobilenet-v2", 3_504_872);
        check("bilstm:128", 2 * 4 * 128 * (28 + 128 + 1) + 257 * 10);
        check("lstm:128", 4 * 128 * (28 + 128 + 1) + 129 * 10);
    }

    #[track_caller]
    fn refuses(text: &str, input: Option<&[usize]>, classes: Option<usize>, words: &str) {
        let error = expand(text, input, classes).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn what_is_no_network_is_told() {
        refuses("resnet", None, None, "`resnet`");
        refuses("mlp:784", None, None, "inputs and outputs");
        refuses("mlp:784-0-10", None, None, "`0`");
        refuses("mlp:784-10", Some(&[28, 27]), None, "784 numbers");
        refuses("mlp:784-10", None, Some(3), "3 classes");
        refuses("mobilenet-v2:wide", None, None, "`wide`");
        refuses("cnn:flowers", Some(&[784]), None, "height, width and channels");
        refuses("bilstm:1-2", None, None, "one number");
    }
}
