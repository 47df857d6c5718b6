//! The perceptron again, in `f64` and one number at a time.

/// Mean cross-entropy of a batch, from the definition.
pub(crate) fn mean_loss(
    widths: &[usize],
    parameters: &[f64],
    inputs: &[f64],
    labels: &[u32],
) -> f64 {
    let examples = inputs.chunks_exact(widths[0]).zip(labels);
    let losses = examples.map(|(input, &label)| {
        let logits = sums(widths, parameters, input).pop().expect("there is a last layer");
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        total.ln() - logits[label as usize]
    });
    losses.sum::<f64>() / labels.len() as f64
}

/// Gradients of [`mean_loss`] by central differences.
pub(crate) fn gradients(
    widths: &[usize],
    parameters: &[f64],
    inputs: &[f64],
    labels: &[u32],
) -> Vec<f64> {
    // Small against the distance from corners; rounding still leaves eight digits.
    let step = 1e-7;
    (0..parameters.len())
        .map(|index| {
            let at = |change: f64| {
                let mut changed = parameters.to_vec();
                changed[index] += change;
                mean_loss(widths, &changed, inputs, labels)
            };
            (at(step) - at(-step)) / (2.0 * step)
        })
        .collect()
}

/// How near any hidden neuron comes to the corner of its ReLU, where gradients jump.
pub(crate) fn distance_from_corner(widths: &[usize], parameters: &[f64], inputs: &[f64]) -> f64 {
    let examples = inputs.chunks_exact(widths[0]);
    let layers = examples.flat_map(|input| {
        let mut layers = sums(widths, parameters, input);
        layers.pop();
        layers
    });
    layers.flatten().map(f64::abs).fold(f64::INFINITY, f64::min)
}

/// Weighted sums of each layer, before its ReLU; the last are the logits.
fn sums(widths: &[usize], parameters: &[f64], input: &[f64]) -> Vec<Vec<f64>> {
    let (mut values, mut layers, mut start) = (input.to_vec(), Vec::new(), 0);
    for pair in widths.windows(2) {
        let (inputs, outputs) = (pair[0], pair[1]);
        let weight = |row: usize, column: usize| parameters[start + row * outputs + column];
        let bias = |column: usize| parameters[start + inputs * outputs + column];
        let sum = |column| (0..inputs).map(|row| values[row] * weight(row, column)).sum::<f64>();
        let layer: Vec<f64> = (0..outputs).map(|column| sum(column) + bias(column)).collect();
        values = layer.iter().map(|value| value.max(0.0)).collect();
        layers.push(layer);
        start += (inputs + 1) * outputs;
    }
    layers
}
