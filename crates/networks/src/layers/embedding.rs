//! A table whose rows stand for numbered things, such as words.

use std::ops::Range;

use rand_pcg::Pcg64;

use super::rectifier;
use crate::layers::layer::{Backward, Forward, Layer, Needs};
use crate::network::initial_weights::fill_uniform;
use crate::network::tensors::{Layout, TensorKind};

/// Each input is the number of a row, and becomes that row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Embedding {
    rows: usize,
    width: usize,
    table: Range<usize>,
}

impl Embedding {
    /// A table that comes next in the layout.
    pub(crate) fn new(name: &str, rows: usize, width: usize, layout: &mut Layout) -> Self {
        let table = layout.add(format!("{name}.weight"), TensorKind::Table, &[rows, width]);
        Self { rows, width, table }
    }

    /// Where the row of an input lies in the table.
    fn row(&self, input: f32) -> Range<usize> {
        let number = input as usize;
        let is_row = number as f32 == input && number < self.rows;
        assert!(is_row, "input {input} is no row of a table of {}", self.rows);
        number * self.width..(number + 1) * self.width
    }
}

impl Layer for Embedding {
    fn needs(&self) -> Needs {
        Needs { input: true, ..Needs::default() }
    }

    fn initialise(&self, parameters: &mut [f32], _state: &mut [f32], random: &mut Pcg64) {
        // The range of Keras' default.
        fill_uniform(&mut parameters[self.table.clone()], 0.05, random);
    }

    fn forward(&self, pass: Forward<'_>) {
        let table = &pass.parameters[self.table.clone()];
        for (&input, output) in pass.input.iter().zip(pass.output.chunks_exact_mut(self.width)) {
            output.copy_from_slice(&table[self.row(input)]);
        }
    }

    fn backward(&self, pass: Backward<'_>) {
        if let Some(target) = pass.input_gradients {
            // Numbers of rows have no slope.
            if target.into == crate::arithmetic::matrix::Writing::Replace {
                target.values.fill(0.0);
            }
        }
        let Some(gradients) = pass.gradients else { return };
        let gradients = &mut gradients[self.table.clone()];
        gradients.fill(0.0);
        for (&input, own) in pass.input.iter().zip(pass.output_gradients.chunks_exact(self.width)) {
            rectifier::add(&mut gradients[self.row(input)], own);
        }
    }
}
