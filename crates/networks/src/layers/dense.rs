//! A dense layer: `output = input * weights + bias`, and its two backward products.

use std::ops::Range;

use rand_pcg::Pcg64;

use crate::arithmetic::kernels;
use crate::arithmetic::matrix::{Matrix, Writing, multiply, multiply_into};
use crate::layers::layer::{Backward, Forward, Gradients, Layer, Needs};
use crate::layers::{few_rows, many_zeros, rectifier};
use crate::network::description::Activation;
use crate::network::initial_weights::{fill_uniform, glorot_limit, he_limit};
use crate::network::tensors::{Layout, TensorKind};
use crate::threads::blocks::{Block, Blocks};
use crate::threads::parts::{Cut, Parts};

/// A dense layer in the flat vectors: `inputs x outputs` weights, row by row, then `outputs`
/// biases; an activation may follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dense {
    inputs: usize,
    outputs: usize,
    start: usize,
    activation: Activation,
}

/// How products with the inputs of a batch are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Products {
    FewRows,
    ManyZeros,
    /// By `gemm`, which suits every other batch.
    Packed,
}

impl Dense {
    /// A layer whose parameters come next in the layout.
    pub(crate) fn new(
        name: &str,
        (kind, (inputs, outputs)): (TensorKind, (usize, usize)),
        activation: Activation,
        layout: &mut Layout,
    ) -> Self {
        let weights = layout.add(format!("{name}.weight"), kind, &[inputs, outputs]);
        layout.add(format!("{name}.bias"), TensorKind::Vector, &[outputs]);
        Self { inputs, outputs, start: weights.start, activation }
    }

    /// How products with these inputs of a whole batch are computed.
    fn products(&self, input: &[f32]) -> Products {
        let rows = input.len() / self.inputs;
        if many_zeros::suits(input, rows, self.outputs) {
            Products::ManyZeros
        } else if few_rows::suits(rows, self.outputs) {
            Products::FewRows
        } else {
            Products::Packed
        }
    }

    /// Computes a block of the outputs.
    fn block_forward(
        &self,
        parameters: &[f32],
        input: &[f32],
        block: &mut Block<'_>,
        products: Products,
    ) {
        let bias = &parameters[self.biases()][block.columns()];
        block.each_row(|row| row.copy_from_slice(bias));
        let Range { start, end } = block.rows();
        let (input, rows) = (&input[start * self.inputs..end * self.inputs], end - start);
        let weights = &parameters[self.weights()];
        match products {
            Products::FewRows => few_rows::add_outputs(input, weights, self.outputs, block),
            Products::ManyZeros => many_zeros::add_outputs(input, weights, self.outputs, block),
            Products::Packed => {
                let weights = self.weight_matrix(parameters).columns(block.columns());
                multiply_into(Matrix::new(input, rows, self.inputs), weights, block, Writing::Add);
            }
        }
        block.each_row(|row| rectifier::apply(self.activation, row));
    }

    /// Writes the gradients of the weights of some inputs from those of the outputs.
    fn weight_gradients(
        &self,
        input: &[f32],
        at_output: &[f32],
        inputs: Range<usize>,
        gradients: &mut [f32],
        products: Products,
    ) {
        let outputs = self.outputs;
        match products {
            Products::FewRows => {
                few_rows::weight_gradients(input, at_output, outputs, inputs, gradients);
            }
            Products::ManyZeros => {
                many_zeros::weight_gradients(input, at_output, outputs, inputs, gradients);
            }
            Products::Packed => {
                let rows = at_output.len() / outputs;
                let input = Matrix::new(input, rows, self.inputs).columns(inputs).transposed();
                let at_output = Matrix::new(at_output, rows, outputs);
                multiply(input, at_output, gradients, Writing::Replace);
            }
        }
    }

    /// Computes a block of the gradients of the layer's inputs from those of its outputs.
    fn input_gradients(
        &self,
        parameters: &[f32],
        output_gradients: &[f32],
        block: &mut Block<'_>,
        into: Writing,
    ) {
        let Range { start, end } = block.rows();
        let output_gradients = &output_gradients[start * self.outputs..end * self.outputs];
        let output = Matrix::new(output_gradients, end - start, self.outputs);
        let weights = self.weight_matrix(parameters).transposed().columns(block.columns());
        multiply_into(output, weights, block, into);
    }

    fn weight_matrix<'a>(&self, parameters: &'a [f32]) -> Matrix<'a> {
        Matrix::new(&parameters[self.weights()], self.inputs, self.outputs)
    }

    fn weights(&self) -> Range<usize> {
        self.start..self.start + self.inputs * self.outputs
    }

    fn biases(&self) -> Range<usize> {
        let end = self.weights().end;
        end..end + self.outputs
    }
}

impl Layer for Dense {
    fn needs(&self) -> Needs {
        let output = self.activation != Activation::Linear;
        Needs { input: true, output, ..Needs::default() }
    }

    fn initialise(&self, parameters: &mut [f32], _state: &mut [f32], random: &mut Pcg64) {
        let limit = match self.activation {
            Activation::Linear => glorot_limit(self.inputs, self.outputs),
            Activation::Relu | Activation::Relu6 => he_limit(self.inputs),
        };
        fill_uniform(&mut parameters[self.weights()], limit, random);
        parameters[self.biases()].fill(0.0);
    }

    fn forward(&self, pass: Forward<'_>) {
        let products = self.products(pass.input);
        let threads = pass.rooms.team.threads();
        let size = match products {
            // What these give does not depend on where they are cut.
            Products::FewRows if threads == 1 => (pass.examples, self.outputs),
            Products::ManyZeros => (pass.examples.div_ceil(threads), self.outputs),
            _ => (rows_per_block(self.outputs), outputs_per_block(self.outputs)),
        };
        let blocks = Blocks::new(pass.output, self.outputs, size);
        pass.rooms.team.run(blocks.count(), &|block| {
            self.block_forward(pass.parameters, pass.input, &mut blocks.take(block), products);
        });
    }

    fn backward(&self, pass: Backward<'_>) {
        let team = &mut pass.rooms.team;
        if self.activation != Activation::Linear {
            let stretch = rectifier::stretch(pass.output.len());
            let at_output = Parts::new(&mut *pass.output_gradients, Cut::Every(stretch));
            team.run(pass.output.len().div_ceil(stretch), &|part| {
                let own = at_output.take(part);
                let output = &pass.output[part * stretch..][..own.len()];
                rectifier::backward(self.activation, own, output);
            });
        }
        let at_output = &*pass.output_gradients;
        if let Some(Gradients { values, into }) = pass.input_gradients {
            let size = (rows_per_block(self.outputs), inputs_per_piece(self.inputs, self.outputs));
            let blocks = Blocks::new(values, self.inputs, size);
            team.run(blocks.count(), &|block| {
                self.input_gradients(pass.parameters, at_output, &mut blocks.take(block), into);
            });
        }
        let Some(gradients) = pass.gradients else { return };
        let products = self.products(pass.input);
        let step = match products {
            Products::ManyZeros if team.threads() == 1 => self.inputs,
            Products::ManyZeros => self.inputs.div_ceil(4 * team.threads()).next_multiple_of(8),
            _ => inputs_per_piece(self.inputs, self.outputs),
        };
        let (before, biases) = gradients[..self.biases().end].split_at_mut(self.biases().start);
        let weights = Parts::new(&mut before[self.start..], Cut::Every(step * self.outputs));
        let biases = Parts::new(biases, Cut::Every(self.outputs));
        team.run(1 + self.inputs.div_ceil(step), &|part| match part.checked_sub(1) {
            None => kernels::column_sums(at_output, biases.take(0)),
            Some(piece) => {
                let inputs = piece * step..self.inputs.min((piece + 1) * step);
                let gradients = weights.take(piece);
                self.weight_gradients(pass.input, at_output, inputs, gradients, products);
            }
        });
    }
}

/// How many rows are worked on at a time: fewer where outputs are too few to be cut.
fn rows_per_block(outputs: usize) -> usize {
    if outputs > 32 { 512 } else { 128 }
}

/// How many outputs are computed at a time: a quarter, where that keeps the products large. Cutting
/// a batch by its outputs instead of its rows packs each weight once.
fn outputs_per_block(outputs: usize) -> usize {
    outputs.div_ceil(4).next_multiple_of(16).max(32).min(outputs)
}

/// How many inputs have their own and their weights' gradients computed at a time: a quarter, or
/// all where that would be little work.
fn inputs_per_piece(inputs: usize, outputs: usize) -> usize {
    let least = 640_usize.div_ceil(outputs);
    inputs.div_ceil(4).max(least).next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_pcg::rand_core::SeedableRng;

    use super::*;
    use crate::layers::layer::Mode;
    use crate::layers::layer::alone::{Alone, pairs};
    use crate::network::initial_weights::test_values as values;

    #[test]
    fn a_two_by_two_layer_gives_what_a_pencil_gives() {
        let mut layout = Layout::default();
        layout.add("before".into(), TensorKind::Vector, &[1]);
        let layer =
            Dense::new("layer", (TensorKind::Dense, (2, 2)), Activation::Linear, &mut layout);
        let parameters = [f32::NAN, 1.0, 2.0, 3.0, 4.0, 0.5, -0.5];
        let input = [1.0, 1.0, 2.0, -1.0];
        let mut output = [0.0; 4];
        let packed = Products::Packed;
        layer.block_forward(&parameters, &input, &mut Block::whole(&mut output, 2), packed);
        assert_eq!(output, [4.5, 5.5, -0.5, -0.5]);

        let output_gradients = [1.0, 0.0, 0.0, 2.0];
        let mut gradients = [9.0; 4];
        layer.weight_gradients(&input, &output_gradients, 0..2, &mut gradients, packed);
        assert_eq!(gradients, [1.0, 4.0, 1.0, -2.0]);
        layer.weight_gradients(&input, &output_gradients, 1..2, &mut gradients[..2], packed);
        assert_eq!(gradients[..2], [1.0, -2.0]);

        let mut input_gradients = [9.0; 4];
        let mut block = Block::whole(&mut input_gradients, 2);
        layer.input_gradients(&parameters, &output_gradients, &mut block, Writing::Replace);
        assert_eq!(input_gradients, [1.0, 3.0, 4.0, 8.0]);
    }

    /// Sizes of a layer and a batch, and how the layer is run.
    #[derive(Debug, Clone, Copy)]
    struct Case {
        rows: usize,
        inputs: usize,
        outputs: usize,
        rectified: bool,
        into: Writing,
        threads: usize,
    }

    impl Case {
        /// Runs the layer and compares all that it gives with the definition in `f64`.
        fn check(self, parameters: &[f32], input: &[f32], at_output: &[f32]) {
            let Self { rows, inputs, outputs, rectified, into, threads } = self;
            let activation = if rectified { Activation::Relu } else { Activation::Linear };
            let kind = (TensorKind::Dense, (inputs, outputs));
            let layer = Dense::new("layer", kind, activation, &mut Layout::default());
            let (mode, other) = (Mode::Train { seed: 0 }, None);
            let alone =
                Alone { layer: &layer, parameters, input, other, examples: rows, mode, threads };
            let found = alone.run(at_output, into);
            self.check_outputs(parameters, input, &found.output);
            // The slope at an output follows from the found one: near 0 rounding may decide.
            let outputs_and_slopes = found.output.iter().zip(at_output);
            let slopes: Vec<f32> = outputs_and_slopes
                .map(|(&it, &slope)| if rectified && it <= 0.0 { 0.0 } else { slope })
                .collect();
            for (at, output) in pairs(inputs, outputs) {
                let of_row = |row: usize| input[row * inputs + at] * slopes[row * outputs + output];
                close(found.gradients[at * outputs + output], (0..rows).map(of_row));
            }
            for output in 0..outputs {
                let of_row = |row: usize| slopes[row * outputs + output];
                close(found.gradients[inputs * outputs + output], (0..rows).map(of_row));
            }
            let before = if into == Writing::Add { 1.0 } else { 0.0 };
            for (row, at) in pairs(rows, inputs) {
                let of_output =
                    |it: usize| slopes[row * outputs + it] * parameters[at * outputs + it];
                let terms = (0..outputs).map(of_output).chain([before]);
                close(found.at_input[row * inputs + at], terms);
            }
        }

        fn check_outputs(self, parameters: &[f32], input: &[f32], found: &[f32]) {
            let Self { rows, inputs, outputs, rectified, .. } = self;
            let (weights, biases) = parameters.split_at(inputs * outputs);
            for (row, output) in pairs(rows, outputs) {
                let of_input =
                    |at: usize| input[row * inputs + at] * weights[at * outputs + output];
                let terms: Vec<f32> = (0..inputs).map(of_input).chain([biases[output]]).collect();
                let sum: f64 = terms.iter().copied().map(f64::from).sum();
                let is_flat = rectified && sum < 0.0;
                close(found[row * outputs + output], if is_flat { Vec::new() } else { terms });
            }
        }
    }

    /// Some 70 products below 1, each and their sum rounded to single precision.
    #[track_caller]
    fn close(found: f32, terms: impl IntoIterator<Item = f32>) {
        let expected: f64 = terms.into_iter().map(f64::from).sum();
        assert!((f64::from(found) - expected).abs() < 2e-4, "{found} {expected}");
    }

    proptest! {
        /// Sizes for which each of the three ways of computing products is taken.
        #[test]
        fn outputs_and_gradients_are_those_of_the_definition(
            (rows, inputs) in (1..70_usize, 1..50_usize),
            outputs in prop_oneof![1..50_usize, Just(16), Just(64)],
            (sparse, rectified, add) in any::<(bool, bool, bool)>(),
            (threads, seed) in (1..4_usize, any::<u64>()),
        ) {
            let parameters = values(inputs * outputs + outputs, seed);
            let mut input = values(rows * inputs, seed ^ 1);
            if sparse {
                input.iter_mut().filter(|it| it.abs() < 0.8).for_each(|it| *it = 0.0);
            }
            let into = if add { Writing::Add } else { Writing::Replace };
            let case = Case { rows, inputs, outputs, rectified, into, threads };
            case.check(&parameters, &input, &values(rows * outputs, seed ^ 2));
        }
    }

    #[test]
    fn weights_begin_within_the_limit_of_their_activation_and_biases_at_zero() {
        for (activation, limit) in
            [(Activation::Linear, glorot_limit(30, 20)), (Activation::Relu, he_limit(30))]
        {
            let mut layout = Layout::default();
            let layer = Dense::new("layer", (TensorKind::Dense, (30, 20)), activation, &mut layout);
            let mut parameters = vec![f32::NAN; layout.len()];
            layer.initialise(&mut parameters, &mut [], &mut Pcg64::seed_from_u64(3));
            let (weights, biases) = parameters.split_at(600);
            let largest = weights.iter().fold(0.0_f32, |largest, it| largest.max(it.abs()));
            // Of 600 even draws one lies in the last hundredth, but for a chance of 0.99^600.
            assert!(largest <= limit && largest > 0.98 * limit, "{largest} of {limit}");
            assert!(biases.iter().all(|&it| it == 0.0));
        }
    }
}
