//! Products of a dense layer on few rows, where packing the weights, as `gemm` does for any
//! product, costs more than it gains.

use std::array::from_fn;
use std::ops::Range;

use crate::arithmetic::simd::{LANES, Lanes, add_products, fused_kernels};
use crate::threads::blocks::Block;

/// Rows and columns of the tiles whose sums stay in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 2 * LANES;

/// Inputs whose weights are gone through for all rows before the next: they stay in the nearest
/// cache.
const INPUTS: usize = 48;

/// Outputs of all rows that half of the nearest cache holds.
const MOST_OUTPUTS: usize = 4096;

/// Whether a layer's products on a batch are better computed here.
pub(crate) fn suits(rows: usize, outputs: usize) -> bool {
    outputs.is_multiple_of(COLUMNS) && rows * outputs <= MOST_OUTPUTS
}

/// Numbers of a row of a tile.
type TileRow = [Lanes; 2];

/// Some neighbouring columns of a row-major matrix, as many as a tile has.
#[derive(Clone, Copy)]
struct Columns<'a> {
    values: &'a [f32],
    stride: usize,
    start: usize,
}

impl Columns<'_> {
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = &TileRow> {
        self.values.chunks_exact(self.stride).map(|row| tile_row(&row[self.start..]))
    }
}

fused_kernels! {
    /// Adds `input * weights` to a block, which holds all rows and some of the outputs.
    fn add_outputs<const FMA: bool>(
        input: &[f32],
        weights: &[f32],
        outputs: usize,
        block: &mut Block<'_>,
    ) {
        let (inputs, rows) = (weights.len() / outputs, block.rows().len());
        for start in (0..inputs).step_by(INPUTS) {
            let own = start..inputs.min(start + INPUTS);
            let values = &weights[own.start * outputs..own.end * outputs];
            for column in (0..block.columns().len()).step_by(COLUMNS) {
                let start = block.columns().start + column;
                let weights = Columns { values, stride: outputs, start };
                let mut row = 0;
                while row < rows {
                    let input = Rows { values: input, stride: inputs, columns: &own };
                    row += match rows - row {
                        ROWS.. => add_tile::<FMA, ROWS>(input, weights, block, (row, column)),
                        _ => add_tile::<FMA, 1>(input, weights, block, (row, column)),
                    };
                }
            }
        }
    }

    /// Writes the gradients of the weights of some inputs from those of the outputs.
    fn weight_gradients<const FMA: bool>(
        input: &[f32],
        at_output: &[f32],
        outputs: usize,
        own: Range<usize>,
        gradients: &mut [f32],
    ) {
        let inputs = input.len() / (at_output.len() / outputs);
        for column in (0..outputs).step_by(COLUMNS) {
            let at_output = Columns { values: at_output, stride: outputs, start: column };
            let mut first = own.start;
            while first < own.end {
                let gradients = &mut gradients[(first - own.start) * outputs + column..];
                let rows = input.chunks_exact(inputs).map(|row| &row[first..]);
                first += match own.end - first {
                    ROWS.. => gradient_tile::<FMA, ROWS>(rows, at_output, gradients),
                    _ => gradient_tile::<FMA, 1>(rows, at_output, gradients),
                };
            }
        }
    }
}

/// Some columns of the rows of a row-major matrix.
#[derive(Clone, Copy)]
struct Rows<'a> {
    values: &'a [f32],
    stride: usize,
    columns: &'a Range<usize>,
}

/// Adds the products of a few rows of inputs with a few columns of weights to a tile of a block;
/// tells how many rows it has.
#[inline(always)]
fn add_tile<const FMA: bool, const R: usize>(
    input: Rows<'_>,
    weights: Columns<'_>,
    block: &mut Block<'_>,
    (row, column): (usize, usize),
) -> usize {
    let input: [&[f32]; R] =
        from_fn(|index| &input.values[(row + index) * input.stride..][input.columns.clone()]);
    let mut sums: [TileRow; R] = from_fn(|index| *tile_row(&block.row(row + index)[column..]));
    for (at, weights) in weights.rows().enumerate() {
        for index in 0..R {
            add_row::<FMA>(input[index][at], weights, &mut sums[index]);
        }
    }
    for (index, sums) in sums.iter().enumerate() {
        block.row(row + index)[column..][..COLUMNS].copy_from_slice(sums.as_flattened());
    }
    R
}

/// Writes the sums over all rows of the products of a few inputs with a few gradients of outputs;
/// tells how many inputs they are.
#[inline(always)]
fn gradient_tile<'a, const FMA: bool, const R: usize>(
    input: impl Iterator<Item = &'a [f32]>,
    at_output: Columns<'_>,
    gradients: &mut [f32],
) -> usize {
    let mut sums = [[[0.0; LANES]; 2]; R];
    for (input, at_output) in input.zip(at_output.rows()) {
        let input = &input[..R];
        for index in 0..R {
            add_row::<FMA>(input[index], at_output, &mut sums[index]);
        }
    }
    for (index, sums) in sums.iter().enumerate() {
        let start = index * at_output.stride;
        gradients[start..start + COLUMNS].copy_from_slice(sums.as_flattened());
    }
    R
}

/// Adds a factor times a row to the sums of a row.
#[inline(always)]
fn add_row<const FMA: bool>(factor: f32, row: &TileRow, sums: &mut TileRow) {
    let factor = [factor; LANES];
    add_products::<FMA>(&factor, &row[0], &mut sums[0]);
    add_products::<FMA>(&factor, &row[1], &mut sums[1]);
}

/// The first numbers of a row, as many as a tile has columns.
#[inline(always)]
fn tile_row(row: &[f32]) -> &TileRow {
    row.as_chunks().0.first_chunk().expect("a row has a tile's columns")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::initial_weights::test_values as values;
    use crate::threads::blocks::Blocks;

    type AddOutputs = fn(&[f32], &[f32], usize, &mut Block<'_>);
    type WeightGradients = fn(&[f32], &[f32], usize, Range<usize>, &mut [f32]);

    proptest! {
        #[test]
        fn products_agree_with_their_definitions(
            rows in 1..12_usize, inputs in 1..70_usize, tiles in 1..4_usize,
        ) {
            let outputs = tiles * COLUMNS;
            let (input, weights) = (values(rows * inputs, 1), values(inputs * outputs, 2));
            let (before, at_output) = (values(rows * outputs, 3), values(rows * outputs, 4));
            let product = |row: usize, output: usize| -> f64 {
                let at = |index| (input[row * inputs + index], weights[index * outputs + output]);
                (0..inputs).map(at).map(|(a, b)| f64::from(a) * f64::from(b)).sum()
            };
            for add in [add_outputs as AddOutputs, plain::add_outputs::<false>] {
                let mut found = before.clone();
                let blocks = Blocks::new(&mut found, outputs, (rows, COLUMNS));
                (0..tiles).for_each(|it| add(&input, &weights, outputs, &mut blocks.take(it)));
                for (index, &found) in found.iter().enumerate() {
                    let expected =
                        f64::from(before[index]) + product(index / outputs, index % outputs);
                    // At most 70 roundings of sums below 70: 70 * 70 * 2^-24.
                    prop_assert!((f64::from(found) - expected).abs() < 3e-4);
                }
            }
            for write in [weight_gradients as WeightGradients, plain::weight_gradients::<false>] {
                let own = inputs / 3..inputs;
                let mut found = vec![f32::NAN; own.len() * outputs];
                write(&input, &at_output, outputs, own.clone(), &mut found);
                for (index, &found) in found.iter().enumerate() {
                    let (from, to) = (own.start + index / outputs, index % outputs);
                    let at = |row: usize| (input[row * inputs + from], at_output[row * outputs + to]);
                    let expected: f64 =
                        (0..rows).map(at).map(|(a, b)| f64::from(a) * f64::from(b)).sum();
                    prop_assert!((f64::from(found) - expected).abs() < 1e-4);
                }
            }
        }
    }
}
