//! A dense layer: `output = input * weights + bias`, and its two backward products.

use std::ops::Range;

use rand_pcg::Pcg64;

use crate::init::{fill_uniform, glorot_limit, he_limit};
use crate::kernels;
use crate::matrix::{Into, Matrix, multiply};

/// Where a dense layer lies in the flat vectors: `inputs x outputs` weights, row by row, then
/// `outputs` biases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dense {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    start: usize,
}

/// What follows a layer, which decides the scale of its initial weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// A ReLU follows.
    ByRelu,
    /// The loss follows.
    ByLoss,
}

impl Dense {
    /// A layer whose parameters start at `start`.
    pub(crate) fn new(inputs: usize, outputs: usize, start: usize) -> Self {
        Self { inputs, outputs, start }
    }

    /// Writes random weights and zero biases.
    pub(crate) fn initialise(&self, parameters: &mut [f32], next: Followed, random: &mut Pcg64) {
        let limit = match next {
            Followed::ByRelu => he_limit(self.inputs),
            Followed::ByLoss => glorot_limit(self.inputs, self.outputs),
        };
        fill_uniform(&mut parameters[self.weights()], limit, random);
        parameters[self.biases()].fill(0.0);
    }

    /// Computes the outputs of a batch of rows.
    pub(crate) fn forward(&self, parameters: &[f32], input: &[f32], output: &mut [f32]) {
        let bias = &parameters[self.biases()];
        for row in output.chunks_exact_mut(self.outputs) {
            row.copy_from_slice(bias);
        }
        let rows = output.len() / self.outputs;
        let input = Matrix::new(input, rows, self.inputs);
        multiply(input, self.weight_matrix(parameters), output, Into::Add);
    }

    /// Writes the gradients of the weights of some inputs from those of the outputs, and those of
    /// the biases after the last input's, so that stretches of inputs are stretches of the flat
    /// vector.
    pub(crate) fn parameter_gradients(
        &self,
        input: &[f32],
        output_gradients: &[f32],
        inputs: Range<usize>,
        gradients: &mut [f32],
    ) {
        let rows = output_gradients.len() / self.outputs;
        let has_biases = inputs.end == self.inputs;
        let (weights, biases) = gradients.split_at_mut(inputs.len() * self.outputs);
        let input = Matrix::new(input, rows, self.inputs).columns(inputs).transposed();
        let output = Matrix::new(output_gradients, rows, self.outputs);
        multiply(input, output, weights, Into::Replace);
        if has_biases {
            kernels::column_sums(output_gradients, biases);
        }
    }

    /// Computes the gradients of the layer's inputs from those of its outputs.
    pub(crate) fn input_gradients(
        &self,
        parameters: &[f32],
        output_gradients: &[f32],
        input_gradients: &mut [f32],
    ) {
        let rows = output_gradients.len() / self.outputs;
        let output = Matrix::new(output_gradients, rows, self.outputs);
        let weights = self.weight_matrix(parameters).transposed();
        multiply(output, weights, input_gradients, Into::Replace);
    }

    fn weight_matrix<'a>(&self, parameters: &'a [f32]) -> Matrix<'a> {
        Matrix::new(&parameters[self.weights()], self.inputs, self.outputs)
    }

    /// Places of the flat vector at which the layer's gradients may be cut: after every `step`
    /// inputs, and after the biases.
    pub(crate) fn cuts(&self, step: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
        let layer = *self;
        (0..self.inputs).step_by(step).map(move |start| {
            let end = layer.inputs.min(start + step);
            let cut = if end == layer.inputs {
                layer.biases().end
            } else {
                layer.start + end * layer.outputs
            };
            (start..end, cut)
        })
    }

    fn weights(&self) -> Range<usize> {
        self.start..self.start + self.inputs * self.outputs
    }

    fn biases(&self) -> Range<usize> {
        let end = self.weights().end;
        end..end + self.outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_by_two_layer_gives_what_a_pencil_gives() {
        let layer = Dense::new(2, 2, 1);
        let parameters = [f32::NAN, 1.0, 2.0, 3.0, 4.0, 0.5, -0.5];
        let input = [1.0, 1.0, 2.0, -1.0];
        let mut output = [0.0; 4];
        layer.forward(&parameters, &input, &mut output);
        assert_eq!(output, [4.5, 5.5, -0.5, -0.5]);

        let output_gradients = [1.0, 0.0, 0.0, 2.0];
        let mut gradients = [9.0; 6];
        layer.parameter_gradients(&input, &output_gradients, 0..2, &mut gradients);
        assert_eq!(gradients, [1.0, 4.0, 1.0, -2.0, 1.0, 2.0]);
        layer.parameter_gradients(&input, &output_gradients, 0..1, &mut gradients[4..]);
        assert_eq!(gradients[4..], [1.0, 4.0]);

        let mut input_gradients = [9.0; 4];
        layer.input_gradients(&parameters, &output_gradients, &mut input_gradients);
        assert_eq!(input_gradients, [1.0, 3.0, 4.0, 8.0]);
    }
}
