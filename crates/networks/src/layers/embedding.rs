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

#[cfg(test)]
mod tests {
    use crate::{Batch, Learned, Network, NetworkDescription, StepOptions};

    fn table_of_two() -> Network {
        let text = "name = \"t\"\ninput = [3]\n[[layer]]\nkind = \"embedding\"\nname = \"words\"\n\
            rows = 4\nwidth = 2\n[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"dense\"\noutputs = 2\n";
        Network::new(&NetworkDescription::from_toml(text).unwrap()).unwrap()
    }

    fn gradients(inputs: &[f32], labels: &[u32]) -> (Network, Vec<f32>) {
        let network = table_of_two();
        let parameters = network.initial_parameters(3);
        let mut found = vec![f32::NAN; parameters.len()];
        let mut workspace = network.workspace(labels.len(), 1).unwrap();
        let batch = Batch { inputs, labels };
        network.gradients(
            &parameters,
            &[],
            batch,
            StepOptions::default(),
            Learned { gradients: &mut found, statistics: &mut [] },
            &mut workspace,
        );
        (network, found)
    }

    #[test]
    fn only_rows_that_were_named_have_gradients() {
        let (network, found) = gradients(&[1.0, 3.0, 1.0], &[0]);
        let table = network.tensors().iter().find(|it| it.name == "words.weight").unwrap();
        let rows: Vec<bool> = found[table.range.clone()]
            .chunks(2)
            .map(|row| row.iter().any(|it| *it != 0.0))
            .collect();
        assert_eq!(rows, [false, true, false, true]);
    }

    #[test]
    fn a_row_that_is_named_twice_has_the_sum_of_both_gradients() {
        let (network, both) = gradients(&[1.0, 1.0, 2.0, 2.0, 1.0, 1.0], &[0, 1]);
        let [(_, first), (_, second)] =
            [gradients(&[1.0, 1.0, 2.0], &[0]), gradients(&[2.0, 1.0, 1.0], &[1])];
        let table = network.tensors().iter().find(|it| it.name == "words.weight").unwrap();
        for index in table.range.clone() {
            // The mean loss of two examples is half the sum of their losses.
            let expected = (first[index] + second[index]) / 2.0;
            assert!((both[index] - expected).abs() < 1e-6, "{index}");
        }
    }

    #[test]
    fn rows_begin_small() {
        let network = table_of_two();
        let table = network.tensors().iter().find(|it| it.name == "words.weight").unwrap();
        let parameters = network.initial_parameters(9);
        let own = &parameters[table.range.clone()];
        assert!(own.iter().all(|it| it.abs() <= 0.05) && own.iter().any(|it| it.abs() > 0.001));
    }
}
