//! Networks again, in `f64` and one number at a time, from the definitions.

use trainwright_networks::{
    Activation, LayerDescription, Network, NetworkDescription, Returns, TensorInfo,
};

/// Pictures, sequences or rows of a batch: dimensions of one example and all numbers.
#[derive(Debug, Clone)]
struct Value {
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

/// A description with its parameters by name.
pub(crate) struct Reference<'a> {
    pub(crate) description: &'a NetworkDescription,
    pub(crate) tensors: &'a [TensorInfo],
}

impl<'a> Reference<'a> {
    pub(crate) fn new(description: &'a NetworkDescription, network: &'a Network) -> Self {
        Self { description, tensors: network.tensors() }
    }

    /// Mean cross-entropy of a batch while learning.
    pub(crate) fn mean_loss(&self, parameters: &[f64], inputs: &[f64], labels: &[u32]) -> f64 {
        let logits = self.logits(parameters, inputs, labels.len());
        let classes = logits.shape[0];
        let losses = logits.numbers.chunks_exact(classes).zip(labels).map(|(logits, &label)| {
            let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
            total.ln() - logits[label as usize]
        });
        losses.sum::<f64>() / labels.len() as f64
    }

    /// Differences of [`Self::mean_loss`] for each parameter, to the right and to the left; where
    /// they disagree lies a corner.
    pub(crate) fn differences(
        &self,
        parameters: &[f64],
        inputs: &[f64],
        labels: &[u32],
    ) -> Vec<[f64; 2]> {
        let step = 1e-6;
        let here = self.mean_loss(parameters, inputs, labels);
        let mut changed = parameters.to_vec();
        let mut difference = |index: usize, step: f64| {
            changed[index] = parameters[index] + step;
            let there = self.mean_loss(&changed, inputs, labels);
            changed[index] = parameters[index];
            (there - here) / step
        };
        (0..parameters.len())
            .map(|index| [difference(index, step), difference(index, -step)])
            .collect()
    }

    fn tensor<'p>(&self, parameters: &'p [f64], name: &str) -> &'p [f64] {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name);
        &parameters[tensor.unwrap_or_else(|| panic!("no tensor {name}")).range.clone()]
    }

    fn logits(&self, parameters: &[f64], inputs: &[f64], examples: usize) -> Value {
        let mut value = Value { shape: self.description.input.clone(), numbers: inputs.to_vec() };
        let mut named: Vec<(String, Value)> = Vec::new();
        for (index, layer) in self.description.layers.iter().enumerate() {
            let name = layer.name.clone().unwrap_or_else(|| index.to_string());
            value = self.layer(&name, &layer.layer, parameters, value, &named, examples);
            named.push((name, value.clone()));
        }
        value
    }

    fn layer(
        &self,
        name: &str,
        layer: &LayerDescription,
        parameters: &[f64],
        value: Value,
        named: &[(String, Value)],
        examples: usize,
    ) -> Value {
        let tensor = |what: &str| self.tensor(parameters, &format!("{name}.{what}"));
        match layer {
            LayerDescription::Dense { outputs, activation } => {
                let (weights, bias) = (tensor("weight"), tensor("bias"));
                let inputs = value.shape[0];
                let rows = value.numbers.chunks_exact(inputs);
                let numbers = rows.flat_map(|row| {
                    (0..*outputs).map(move |output| {
                        let sum = (0..inputs).map(|it| row[it] * weights[it * outputs + output]);
                        bias[output] + sum.sum::<f64>()
                    })
                });
                activated(*activation, Value { shape: vec![*outputs], numbers: numbers.collect() })
            }
            LayerDescription::Convolution {
                filters,
                kernel,
                stride,
                padding,
                batch_norm,
                activation,
            } => {
                let (weights, channels) = (tensor("weight"), value.shape[2]);
                let sum = windows(&value, (*kernel, *stride, *padding), *filters, |at, filter| {
                    let mut sum = 0.0;
                    for (tap, position) in at.iter().enumerate() {
                        for channel in 0..channels {
                            let weight = weights[(tap * channels + channel) * filters + filter];
                            sum += position.map_or(0.0, |at| value.numbers[at + channel]) * weight;
                        }
                    }
                    sum
                });
                self.finished(name, parameters, sum, *batch_norm, *activation)
            }
            LayerDescription::Depthwise { kernel, stride, padding, batch_norm, activation } => {
                let (weights, channels) = (tensor("weight"), value.shape[2]);
                let sum = windows(&value, (*kernel, *stride, *padding), channels, |at, channel| {
                    let taps = at.iter().enumerate();
                    let terms = taps.map(|(tap, position)| {
                        let weight = weights[tap * channels + channel];
                        position.map_or(0.0, |at| value.numbers[at + channel]) * weight
                    });
                    terms.sum()
                });
                self.finished(name, parameters, sum, *batch_norm, *activation)
            }
            LayerDescription::BatchNorm { activation } => {
                let normed = batch_norm(value, tensor("weight"), tensor("bias"));
                activated(*activation, normed)
            }
            LayerDescription::MaxPool { size } => {
                windows(&value, (*size, *size, 0), value.shape[2], |at, channel| {
                    let values = at.iter().flatten().map(|at| value.numbers[at + channel]);
                    values.fold(f64::NEG_INFINITY, f64::max)
                })
            }
            LayerDescription::AveragePool { size } => {
                let size = size.unwrap_or(value.shape[0]);
                windows(&value, (size, size, 0), value.shape[2], |at, channel| {
                    let values = at.iter().flatten().map(|at| value.numbers[at + channel]);
                    values.sum::<f64>() / (size * size) as f64
                })
            }
            LayerDescription::Relu => activated(Activation::Relu, value),
            LayerDescription::Relu6 => activated(Activation::Relu6, value),
            LayerDescription::Flatten => {
                Value { shape: vec![value.shape.iter().product()], ..value }
            }
            LayerDescription::Add { with } => {
                let (_, other) = named.iter().find(|(name, _)| name == with).expect("it exists");
                let sums = value.numbers.iter().zip(&other.numbers).map(|(one, two)| one + two);
                Value { numbers: sums.collect(), shape: value.shape }
            }
            LayerDescription::Lstm { units, bidirectional, returns } => {
                let mut halves = vec![self.lstm(name, "", *units, parameters, &value, false)];
                if *bidirectional {
                    halves.push(self.lstm(name, "_reverse", *units, parameters, &value, true));
                }
                let steps = value.shape[0];
                let wanted = match returns {
                    Returns::Last => vec![None],
                    Returns::Sequence => (0..steps).map(Some).collect(),
                };
                let mut numbers = Vec::new();
                for example in 0..examples {
                    for step in &wanted {
                        // The last step that a direction reads is its own.
                        let ends = [steps - 1, 0];
                        for (half, end) in halves.iter().zip(ends) {
                            numbers.extend(&half[example][step.unwrap_or(end)]);
                        }
                    }
                }
                let row = vec![units * halves.len()];
                let shape =
                    if *returns == Returns::Last { row } else { [vec![steps], row].concat() };
                Value { shape, numbers }
            }
            LayerDescription::Embedding { width, .. } => {
                let table = tensor("weight");
                let rows = value.numbers.iter().flat_map(|&number| {
                    table[number as usize * width..(number as usize + 1) * width].to_vec()
                });
                let shape = [value.shape.as_slice(), &[*width]].concat();
                Value { shape, numbers: rows.collect() }
            }
            LayerDescription::Dropout { .. } => panic!("chance has no reference"),
        }
    }

    fn finished(
        &self,
        name: &str,
        parameters: &[f64],
        mut value: Value,
        has_norm: bool,
        activation: Activation,
    ) -> Value {
        if has_norm {
            let tensor = |what: &str| self.tensor(parameters, &format!("{name}.norm.{what}"));
            value = batch_norm(value, tensor("weight"), tensor("bias"));
        } else {
            let bias = self.tensor(parameters, &format!("{name}.bias"));
            let channels = bias.len();
            for (index, number) in value.numbers.iter_mut().enumerate() {
                *number += bias[index % channels];
            }
        }
        activated(activation, value)
    }

    /// Outputs of each example at each step.
    fn lstm(
        &self,
        name: &str,
        suffix: &str,
        units: usize,
        parameters: &[f64],
        value: &Value,
        reversed: bool,
    ) -> Vec<Vec<Vec<f64>>> {
        let tensor = |what: &str| self.tensor(parameters, &format!("{name}.{what}_l0{suffix}"));
        let (of_inputs, of_memory, bias) =
            (tensor("weight_ih"), tensor("weight_hh"), tensor("bias"));
        let (steps, inputs) = (value.shape[0], value.shape[1]);
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let one = |example: &[f64]| {
            let (mut output, mut cell) = (vec![0.0; units], vec![0.0; units]);
            let mut all = vec![Vec::new(); steps];
            for moment in 0..steps {
                let step = if reversed { steps - 1 - moment } else { moment };
                let row = &example[step * inputs..(step + 1) * inputs];
                let gate = |which: usize, unit: usize| {
                    let column = which * units + unit;
                    let new = (0..inputs).map(|it| row[it] * of_inputs[it * 4 * units + column]);
                    let old = (0..units).map(|it| output[it] * of_memory[it * 4 * units + column]);
                    bias[column] + new.sum::<f64>() + old.sum::<f64>()
                };
                let next: Vec<[f64; 2]> = (0..units)
                    .map(|unit| {
                        let [i, f, g, o] = [0, 1, 2, 3].map(|which| gate(which, unit));
                        let cell = sigmoid(f) * cell[unit] + sigmoid(i) * g.tanh();
                        [cell, sigmoid(o) * cell.tanh()]
                    })
                    .collect();
                for (unit, [new_cell, new_output]) in next.into_iter().enumerate() {
                    (cell[unit], output[unit]) = (new_cell, new_output);
                }
                all[step].clone_from(&output);
            }
            all
        };
        value.numbers.chunks_exact(steps * inputs).map(one).collect()
    }
}

/// Computes `outputs` numbers at each place of a window, given where its taps lie.
fn windows(
    value: &Value,
    (kernel, stride, padding): (usize, usize, usize),
    outputs: usize,
    compute: impl Fn(&[Option<usize>], usize) -> f64,
) -> Value {
    let [height, width, channels] = value.shape[..] else { panic!("no picture") };
    let places = |size: usize| (size + 2 * padding - kernel) / stride + 1;
    let (down, across) = (places(height), places(width));
    let mut numbers = Vec::new();
    for example in 0..value.numbers.len() / (height * width * channels) {
        for place in 0..down * across {
            let taps: Vec<Option<usize>> = (0..kernel * kernel)
                .map(|tap| {
                    let row = (place / across * stride + tap / kernel).checked_sub(padding)?;
                    let column = (place % across * stride + tap % kernel).checked_sub(padding)?;
                    let inside = row < height && column < width;
                    inside.then_some(((example * height + row) * width + column) * channels)
                })
                .collect();
            numbers.extend((0..outputs).map(|output| compute(&taps, output)));
        }
    }
    Value { shape: vec![down, across, outputs], numbers }
}

fn batch_norm(mut value: Value, scale: &[f64], shift: &[f64]) -> Value {
    let channels = scale.len();
    for channel in 0..channels {
        let own: Vec<f64> = value.numbers.iter().skip(channel).step_by(channels).copied().collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        let variance = own.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / own.len() as f64;
        for number in value.numbers.iter_mut().skip(channel).step_by(channels) {
            *number = (*number - mean) / (variance + 1e-5).sqrt() * scale[channel] + shift[channel];
        }
    }
    value
}

fn activated(activation: Activation, mut value: Value) -> Value {
    let (low, high) = match activation {
        Activation::Linear => (f64::NEG_INFINITY, f64::INFINITY),
        Activation::Relu => (0.0, f64::INFINITY),
        Activation::Relu6 => (0.0, 6.0),
    };
    value.numbers.iter_mut().for_each(|number| *number = number.clamp(low, high));
    value
}
