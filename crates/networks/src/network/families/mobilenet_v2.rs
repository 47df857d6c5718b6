//! MobileNetV2 (Sandler et al. 2018), with the names that torchvision gives its tensors.

use crate::network::description::{
    Activation, LayerDescription, LossName, NamedLayer, NetworkDescription,
};

/// Rows of the paper's table 2: expansion, channels, repetitions, stride of the first.
const BLOCKS: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

/// Share of the features that the head leaves out while learning, as in torchvision.
const DROPOUT: f64 = 0.2;

/// The network of a width; below 1 the last convolution keeps its 1280 filters.
pub(super) fn describe(
    text: &str,
    width: f64,
    input: &[usize],
    classes: usize,
) -> NetworkDescription {
    let mut channels = divisible(32.0 * width);
    let mut layers = vec![convolution("features.0.0", channels, Window::STEM, Activation::Relu6)];
    let (mut block, mut last) = (1, "features.0.0".to_owned());
    for (expansion, outputs, repetitions, first_stride) in BLOCKS {
        let outputs = divisible(outputs as f64 * width);
        for repetition in 0..repetitions {
            let stride = if repetition == 0 { first_stride } else { 1 };
            let name = format!("features.{block}.conv");
            let mut place = 0;
            if expansion != 1 {
                let name = format!("{name}.0.0");
                let filters = channels * expansion;
                layers.push(convolution(&name, filters, Window::POINT, Activation::Relu6));
                place = 1;
            }
            layers.push(depthwise(&format!("{name}.{place}.0"), stride));
            let project = format!("{name}.{}", place + 1);
            layers.push(convolution(&project, outputs, Window::POINT, Activation::Linear));
            let before = std::mem::replace(&mut last, project);
            if stride == 1 && channels == outputs {
                last = format!("features.{block}.add");
                let layer = LayerDescription::Add { with: before };
                layers.push(NamedLayer { name: Some(last.clone()), layer });
            }
            (channels, block) = (outputs, block + 1);
        }
    }
    let features = divisible(1280.0 * width.max(1.0));
    layers.push(convolution("features.18.0", features, Window::POINT, Activation::Relu6));
    layers.push(LayerDescription::AveragePool { size: None }.into());
    layers.push(LayerDescription::Flatten.into());
    layers.push(LayerDescription::Dropout { rate: DROPOUT }.into());
    let head = LayerDescription::Dense { outputs: classes, activation: Activation::Linear };
    layers.push(NamedLayer { name: Some("classifier.1".into()), layer: head });
    NetworkDescription {
        name: text.to_owned(),
        input: input.to_vec(),
        loss: LossName::Softmax,
        layers,
    }
}

/// The nearest multiple of 8 that is at least 8 and not below nine tenths, as the authors' code
/// rounds channels.
fn divisible(channels: f64) -> usize {
    let nearest = (((channels + 4.0) as usize) / 8 * 8).max(8);
    if (nearest as f64) < 0.9 * channels { nearest + 8 } else { nearest }
}

struct Window {
    kernel: usize,
    stride: usize,
    padding: usize,
}

impl Window {
    const STEM: Self = Self { kernel: 3, stride: 2, padding: 1 };
    const POINT: Self = Self { kernel: 1, stride: 1, padding: 0 };
}

fn convolution(name: &str, filters: usize, window: Window, activation: Activation) -> NamedLayer {
    let Window { kernel, stride, padding } = window;
    let batch_norm = true;
    let layer =
        LayerDescription::Convolution { filters, kernel, stride, padding, batch_norm, activation };
    NamedLayer { name: Some(name.to_owned()), layer }
}

fn depthwise(name: &str, stride: usize) -> NamedLayer {
    let (batch_norm, activation) = (true, Activation::Relu6);
    let layer =
        LayerDescription::Depthwise { kernel: 3, stride, padding: 1, batch_norm, activation };
    NamedLayer { name: Some(name.to_owned()), layer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_rounded_as_the_authors_do() {
        // From `_make_divisible` of the TensorFlow models, run by hand.
        for (channels, expected) in [(32.0, 32), (22.4, 24), (11.2, 16), (33.6, 32), (3.0, 8)] {
            assert_eq!(divisible(channels), expected, "{channels}");
        }
    }
}
