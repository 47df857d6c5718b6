//! Convolutions that mix channels, as matrix products.
//!
//! A window of one position is a product as it is. For larger ones the inputs of a few rows of
//! output are copied side by side into memory that stays in the cache, and those are multiplied.

use std::ops::Range;

use super::convolution::{PartBackward, PartForward, Product};
use super::rectifier;
use super::window::Window;
use crate::arithmetic::matrix::{Matrix, Writing, multiply};

/// Filters of `kernel x kernel x inputs` weights each, outputs last.
#[derive(Debug)]
pub(crate) struct Filters {
    window: Window,
    inputs: usize,
    outputs: usize,
    pieces: Vec<Range<usize>>,
}

/// Numbers of a stretch of rows that should stay in the second-level cache.
const STRETCH: usize = 1 << 15;

/// Weights from which their gradients are computed over the whole batch at once.
const MANY_WEIGHTS: usize = 1 << 16;

impl Filters {
    /// Filters from `inputs` to `outputs` channels.
    pub(crate) fn new(window: Window, inputs: usize, outputs: usize) -> Self {
        let mut filters = Self { window, inputs, outputs, pieces: Vec::new() };
        if filters.is_pointwise() && inputs * outputs >= MANY_WEIGHTS {
            let step = inputs.div_ceil(8).next_multiple_of(8);
            let pieces = (0..inputs).step_by(step);
            filters.pieces = pieces.map(|start| start..inputs.min(start + step)).collect();
        }
        filters
    }

    fn is_pointwise(&self) -> bool {
        (self.window.kernel, self.window.stride, self.window.padding) == (1, 1, 0)
    }

    fn inputs_of_an_output(&self) -> usize {
        self.window.kernel * self.window.kernel * self.inputs
    }

    /// Rows of output that are computed at a time.
    fn rows(&self) -> usize {
        let wide = self.inputs_of_an_output().max(self.outputs);
        let fit = (STRETCH / wide).next_multiple_of(8);
        if self.is_pointwise() { fit.clamp(128, 1024) } else { fit.clamp(16, 512) }
    }

    fn weights<'a>(&self, weights: &'a [f32]) -> Matrix<'a> {
        Matrix::new(weights, self.inputs_of_an_output(), self.outputs)
    }

    /// Stretches of an example's positions, about equally long.
    fn stretches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let positions = self.window.positions();
        let step = positions.div_ceil(positions.div_ceil(self.rows()));
        (0..positions).step_by(step).map(move |start| start..positions.min(start + step))
    }

    /// Copies the inputs of each output of a stretch side by side, zeros where the window hangs
    /// over the edge.
    fn gather(&self, example: &[f32], positions: Range<usize>, columns: &mut [f32]) {
        let (window, inputs) = (&self.window, self.inputs);
        let (row_length, width) = (window.kernel * inputs, window.output_width());
        let columns = columns.chunks_exact_mut(self.inputs_of_an_output());
        for (position, column) in positions.zip(columns) {
            let (rows, first_row) = window.rows_at(position / width);
            let (taps, first_column) = window.columns_at(position % width);
            let (from, length) = (taps.start * inputs, taps.len() * inputs);
            if rows.len() < window.kernel || taps.len() < window.kernel {
                column.fill(0.0);
            }
            for (index, row) in rows.enumerate() {
                let source = ((first_row + index) * window.width + first_column) * inputs;
                let target = row * row_length + from;
                column[target..target + length].copy_from_slice(&example[source..source + length]);
            }
        }
    }

    /// Adds what [`Self::gather`] would have copied back to where it came from.
    fn scatter(&self, columns: &[f32], positions: Range<usize>, example: &mut [f32]) {
        let (window, inputs) = (&self.window, self.inputs);
        let (row_length, width) = (window.kernel * inputs, window.output_width());
        let columns = columns.chunks_exact(self.inputs_of_an_output());
        for (position, column) in positions.zip(columns) {
            let (rows, first_row) = window.rows_at(position / width);
            let (taps, first_column) = window.columns_at(position % width);
            let (from, length) = (taps.start * inputs, taps.len() * inputs);
            for (index, row) in rows.enumerate() {
                let target = ((first_row + index) * window.width + first_column) * inputs;
                let source = row * row_length + from;
                rectifier::add(&mut example[target..target + length], &column[source..]);
            }
        }
    }

    fn pointwise_backward(&self, part: PartBackward<'_>, ready: &mut dyn FnMut(usize, &mut [f32])) {
        let PartBackward { weights, input, at_output, mut at_input, mut gradients, .. } = part;
        let rows = self.rows();
        let weights = self.weights(weights).transposed();
        let inputs = input.chunks(rows * self.inputs);
        let outputs = at_output.chunks_mut(rows * self.outputs);
        let mut into_weights = Writing::Replace;
        for (index, (input, at_output)) in inputs.zip(outputs).enumerate() {
            ready(index * rows * self.outputs, at_output);
            let own = at_output.len() / self.outputs;
            let at_output = Matrix::new(at_output, own, self.outputs);
            if let Some(gradients) = &mut gradients {
                let input = Matrix::new(input, own, self.inputs).transposed();
                multiply(input, at_output, gradients, into_weights);
                into_weights = Writing::Add;
            }
            if let Some((at_input, into)) = &mut at_input {
                let start = index * rows * self.inputs;
                let at_input = &mut at_input[start..start + own * self.inputs];
                multiply(at_output, weights, at_input, *into);
            }
        }
    }
}

impl Product for Filters {
    fn window(&self) -> Window {
        self.window
    }

    fn channels(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    fn inputs_of_an_output(&self) -> usize {
        Filters::inputs_of_an_output(self)
    }

    fn scratch(&self) -> usize {
        match self.is_pointwise() {
            true => 0,
            false => self.rows().min(self.window.positions()) * self.inputs_of_an_output(),
        }
    }

    fn forward(&self, part: PartForward<'_>, done: &mut dyn FnMut(&mut [f32])) {
        let PartForward { weights, input, output, scratch } = part;
        let weights = self.weights(weights);
        if self.is_pointwise() {
            let rows = self.rows();
            let inputs = input.chunks(rows * self.inputs);
            for (input, output) in inputs.zip(output.chunks_mut(rows * self.outputs)) {
                let own = output.len() / self.outputs;
                multiply(Matrix::new(input, own, self.inputs), weights, output, Writing::Replace);
                done(output);
            }
            return;
        }
        let size = self.window.height * self.window.width * self.inputs;
        let output_size = self.window.positions() * self.outputs;
        for (input, output) in input.chunks_exact(size).zip(output.chunks_exact_mut(output_size)) {
            for range in self.stretches() {
                let columns = &mut scratch[..range.len() * self.inputs_of_an_output()];
                self.gather(input, range.clone(), columns);
                let columns = Matrix::new(columns, range.len(), self.inputs_of_an_output());
                let output = &mut output[range.start * self.outputs..range.end * self.outputs];
                multiply(columns, weights, output, Writing::Replace);
                done(output);
            }
        }
    }

    fn backward(&self, part: PartBackward<'_>, ready: &mut dyn FnMut(usize, &mut [f32])) {
        if self.is_pointwise() {
            return self.pointwise_backward(part, ready);
        }
        let PartBackward { weights, input, at_output, mut at_input, mut gradients, scratch } = part;
        let size = self.window.height * self.window.width * self.inputs;
        let output_size = self.window.positions() * self.outputs;
        let weights = self.weights(weights).transposed();
        if let Some((at_input, Writing::Replace)) = &mut at_input {
            at_input.fill(0.0);
        }
        let mut into = Writing::Replace;
        let examples = input.chunks_exact(size).zip(at_output.chunks_exact_mut(output_size));
        for (index, (input, at_output)) in examples.enumerate() {
            for range in self.stretches() {
                let start = range.start * self.outputs;
                let rows = &mut at_output[start..range.end * self.outputs];
                ready(index * output_size + start, rows);
                let rows = Matrix::new(rows, range.len(), self.outputs);
                let columns = &mut scratch[..range.len() * self.inputs_of_an_output()];
                if let Some(gradients) = &mut gradients {
                    self.gather(input, range.clone(), columns);
                    let columns = Matrix::new(columns, range.len(), self.inputs_of_an_output());
                    multiply(columns.transposed(), rows, gradients, into);
                    into = Writing::Add;
                }
                if let Some((at_input, _)) = &mut at_input {
                    multiply(rows, weights, columns, Writing::Replace);
                    self.scatter(columns, range, &mut at_input[index * size..(index + 1) * size]);
                }
            }
        }
    }

    fn pieces(&self) -> &[Range<usize>] {
        &self.pieces
    }

    fn piece(&self, inputs: Range<usize>, input: &[f32], at_output: &[f32], gradients: &mut [f32]) {
        let rows = at_output.len() / self.outputs;
        let input = Matrix::new(input, rows, self.inputs).columns(inputs).transposed();
        multiply(input, Matrix::new(at_output, rows, self.outputs), gradients, Writing::Replace);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn windows() -> impl Strategy<Value = Window> {
        let sizes = (1_usize..7, 1_usize..7, 1_usize..4, 1_usize..3, 0_usize..3);
        let window = |(height, width, kernel, stride, padding)| Window {
            height,
            width,
            kernel,
            stride,
            padding,
        };
        sizes.prop_map(window).prop_filter("it fits", Window::fits)
    }

    /// What lies under one place of the window, row by row, by the definition.
    fn under(window: &Window, inputs: usize, example: &[f32], position: usize) -> Vec<f32> {
        let (down, across) = (position / window.output_width(), position % window.output_width());
        let mut column = Vec::new();
        for row in 0..window.kernel {
            for tap in 0..window.kernel {
                let y = (down * window.stride + row).checked_sub(window.padding);
                let x = (across * window.stride + tap).checked_sub(window.padding);
                for channel in 0..inputs {
                    column.push(match (y, x) {
                        (Some(y), Some(x)) if y < window.height && x < window.width => {
                            example[(y * window.width + x) * inputs + channel]
                        }
                        _ => 0.0,
                    });
                }
            }
        }
        column
    }

    proptest! {
        #[test]
        fn what_is_gathered_is_what_lies_under_the_window(window in windows(), inputs in 1_usize..4) {
            let filters = Filters::new(window, inputs, 2);
            let example: Vec<f32> =
                (0..window.height * window.width * inputs).map(|at| at as f32 + 1.0).collect();
            let mut columns = vec![f32::NAN; window.positions() * filters.inputs_of_an_output()];
            filters.gather(&example, 0..window.positions(), &mut columns);
            for (position, column) in columns.chunks(filters.inputs_of_an_output()).enumerate() {
                prop_assert_eq!(column, under(&window, inputs, &example, position));
            }
        }

        /// Scattering is the transpose of gathering: `<gather(x), y> = <x, scatter(y)>`.
        #[test]
        fn what_is_scattered_goes_where_it_came_from(window in windows(), inputs in 1_usize..4) {
            let filters = Filters::new(window, inputs, 2);
            let size = window.height * window.width * inputs;
            let length = window.positions() * filters.inputs_of_an_output();
            // Small whole numbers, whose sums of products are exact.
            let x: Vec<f32> = (0..size).map(|at| (at * 7 % 5) as f32 - 2.0).collect();
            let y: Vec<f32> = (0..length).map(|at| (at * 3 % 7) as f32 - 3.0).collect();
            let (mut gathered, mut scattered) = (vec![0.0; length], vec![0.0; size]);
            filters.gather(&x, 0..window.positions(), &mut gathered);
            filters.scatter(&y, 0..window.positions(), &mut scattered);
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            prop_assert_eq!(dot(&gathered, &y), dot(&x, &scattered));
        }

        #[test]
        fn stretches_cover_every_position_once(window in windows(), inputs in 1_usize..600) {
            let filters = Filters::new(window, inputs, 3);
            let all: Vec<usize> = filters.stretches().flatten().collect();
            prop_assert_eq!(all, (0..window.positions()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_a_large_window_of_one_position_is_cut_into_pieces() {
        let one = Window { height: 4, width: 4, kernel: 1, stride: 1, padding: 0 };
        assert!(Filters::new(one, 8, 8).pieces.is_empty());
        let large = Filters::new(one, 300, 256);
        let covered: Vec<usize> = large.pieces.iter().cloned().flatten().collect();
        assert_eq!(covered, (0..300).collect::<Vec<_>>());
        assert!(large.pieces[..large.pieces.len() - 1].iter().all(|piece| piece.len() % 8 == 0));
        let three = Window { kernel: 3, padding: 1, ..one };
        assert!(Filters::new(three, 300, 256).pieces.is_empty());
    }
}
