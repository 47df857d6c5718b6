//! Products of a dense layer with inputs of which many are 0, such as the black pixels of a picture
//! or what a ReLU left: only the others are multiplied.
//!
//! A sum takes its products in the order in which `few_rows` takes them, so that both give the
//! same bits wherever the batch is cut; products with 0, which change nothing unless the other
//! factor is infinite or NaN, are left out.

use std::ops::Range;

use crate::arithmetic::kernels::prefetch;
use crate::arithmetic::matrix::Writing;
use crate::arithmetic::simd::{LANES, Lanes, add_products, fused_kernels};
use crate::layers::places::{MOST, Places};
use crate::threads::blocks::Block;

/// Columns of the tiles: their sums fill half of the registers, enough for a multiplication not to
/// wait for the last one.
const COLUMNS: usize = 8 * LANES;

/// Rows of the tiles, which stay in the nearest cache with what is multiplied by them: of weights,
/// of which two lie beside each other, and of gradients.
const WEIGHT_ROWS: usize = 56;
const GRADIENT_ROWS: usize = MOST;

/// Inputs whose nonzeros are known at a time when gradients of their weights are computed.
const INPUTS: usize = 64;

/// Rows from which it pays to copy the weights into tiles.
const LEAST_ROWS: usize = 24;

/// Stretches of inputs that are looked at to tell whether many are 0, and their length. Their
/// number is a prime, so that they fall onto different columns unless it divides the rows.
const LOOKS: usize = 97;
const LOOK: usize = 16;

/// Rows ahead of which inputs are fetched from memory.
const AHEAD: usize = 6;

/// Whether a layer's products with these rows of inputs are better computed here: where at most
/// six in ten are not 0.
pub(crate) fn suits(input: &[f32], rows: usize, outputs: usize) -> bool {
    if !outputs.is_multiple_of(COLUMNS) || rows < LEAST_ROWS || input.len() < LOOKS * LOOK {
        return false;
    }
    let last = input.len() - LOOK;
    let looks = (0..LOOKS).map(|look| &input[last * look / LOOKS..][..LOOK]);
    let nonzeros = looks.flatten().filter(|&&number| number != 0.0).count();
    10 * nonzeros <= 6 * LOOKS * LOOK
}

/// Some columns of some rows of a matrix, row by row.
#[repr(align(64))]
struct Tile<const ROWS: usize>([[Lanes; COLUMNS / LANES]; ROWS]);

impl<const ROWS: usize> Tile<ROWS> {
    const EMPTY: Self = Self([[[0.0; LANES]; COLUMNS / LANES]; ROWS]);

    /// Copies the columns from `start` on of a row-major matrix of up to `ROWS` rows.
    #[inline(always)]
    fn fill(&mut self, values: &[f32], stride: usize, start: usize) {
        for (own, row) in self.0.iter_mut().zip(values.chunks_exact(stride)) {
            own.as_flattened_mut().copy_from_slice(&row[start..start + COLUMNS]);
        }
    }

    /// Computes sums, one a column, of the products of these rows with their factors.
    #[inline(always)]
    fn multiply<const FMA: bool>(
        &self,
        rows: &[u8],
        factor: impl Fn(usize) -> f32,
        sums: &mut [f32],
        into: Writing,
    ) {
        let sums: &mut [Lanes; COLUMNS / LANES] =
            sums.as_chunks_mut().0.try_into().expect("one sum a column");
        let mut held = match into {
            Writing::Add => *sums,
            Writing::Replace => [[0.0; LANES]; COLUMNS / LANES],
        };
        for row in rows.iter().map(|&row| usize::from(row)) {
            let (factor, numbers) = ([factor(row); LANES], &self.0[row]);
            for (held, numbers) in held.iter_mut().zip(numbers) {
                add_products::<FMA>(&factor, numbers, held);
            }
        }
        *sums = held;
    }
}

fused_kernels! {
    /// Adds `input * weights` to a block, which holds these rows and all of the outputs.
    fn add_outputs<const FMA: bool>(
        input: &[f32],
        weights: &[f32],
        outputs: usize,
        block: &mut Block<'_>,
    ) {
        let (inputs, rows) = (weights.len() / outputs, block.rows().len());
        let mut tiles = [Tile::<WEIGHT_ROWS>::EMPTY; 2];
        let mut nonzeros = Places::NONE;
        for start in (0..inputs).step_by(WEIGHT_ROWS) {
            let own = start..inputs.min(start + WEIGHT_ROWS);
            let weights = &weights[own.start * outputs..own.end * outputs];
            for column in (0..outputs).step_by(2 * COLUMNS) {
                let columns = (column..outputs).step_by(COLUMNS);
                for (tile, column) in tiles.iter_mut().zip(columns.clone()) {
                    tile.fill(weights, outputs, column);
                }
                for row in 0..rows {
                    let of_row = |row: usize| &input[row * inputs..][own.clone()];
                    if row + AHEAD < rows {
                        prefetch(of_row(row + AHEAD));
                    }
                    let input = of_row(row);
                    nonzeros.find_in_row::<FMA>(input);
                    for (tile, column) in tiles.iter().zip(columns.clone()) {
                        let sums = &mut block.row(row)[column..column + COLUMNS];
                        let factor = |place| input[place];
                        tile.multiply::<FMA>(nonzeros.all(), factor, sums, Writing::Add);
                    }
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
        let mut tile = Tile::<GRADIENT_ROWS>::EMPTY;
        let mut nonzeros = [Places::NONE; INPUTS];
        let starts = own.clone().step_by(INPUTS);
        for (start, gradients) in starts.zip(gradients.chunks_mut(INPUTS * outputs)) {
            let own = start..own.end.min(start + INPUTS);
            let rows = input.chunks(GRADIENT_ROWS * inputs);
            let rows = rows.zip(at_output.chunks(GRADIENT_ROWS * outputs));
            let mut into = Writing::Replace;
            for (input, at_output) in rows {
                Places::find_in_columns::<FMA>(input, inputs, own.clone(), &mut nonzeros);
                for column in (0..outputs).step_by(COLUMNS) {
                    tile.fill(at_output, outputs, column);
                    let gradients = gradients.chunks_exact_mut(outputs);
                    for ((at, gradients), nonzeros) in own.clone().zip(gradients).zip(&nonzeros) {
                        let sums = &mut gradients[column..column + COLUMNS];
                        let factor = |row| input[row * inputs + at];
                        tile.multiply::<FMA>(nonzeros.all(), factor, sums, into);
                    }
                }
                into = Writing::Add;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layers::few_rows;
    use crate::network::initial_weights::test_values as values;

    type AddOutputs = fn(&[f32], &[f32], usize, &mut Block<'_>);
    type WeightGradients = fn(&[f32], &[f32], usize, Range<usize>, &mut [f32]);

    /// Random numbers of which about that share is 0.
    fn with_zeros(count: usize, share: f32) -> Vec<f32> {
        let drawn = values(count, 5).into_iter().zip(values(count, 6));
        drawn.map(|(value, draw)| if draw.abs() < share { 0.0 } else { value }).collect()
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Whether numbers differ by no more than 150 roundings of sums below 150: 150 * 150 * 2^-24.
    fn close(some: &[f32], others: &[f32]) -> bool {
        some.iter().zip(others).all(|(one, other)| (one - other).abs() < 1.4e-3)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn products_with_zeros_left_out_have_the_bits_of_all_products(
            (rows, inputs, tiles) in (1..150_usize, 1..150_usize, 1..4_usize), share in 0.0_f32..1.0,
        ) {
            let outputs = tiles * COLUMNS;
            let (input, weights) = (with_zeros(rows * inputs, share), values(inputs * outputs, 2));
            let (before, at_output) = (values(rows * outputs, 3), values(rows * outputs, 4));
            let adds: [AddOutputs; 3] =
                [few_rows::add_outputs, add_outputs, plain::add_outputs::<false>];
            let [all, found, plainly] = adds.map(|add| {
                let mut sums = before.clone();
                add(&input, &weights, outputs, &mut Block::whole(&mut sums, outputs));
                sums
            });
            prop_assert_eq!(bits(&all), bits(&found));
            prop_assert!(close(&found, &plainly));
            let own = inputs / 3..inputs;
            let writes: [WeightGradients; 3] =
                [few_rows::weight_gradients, weight_gradients, plain::weight_gradients::<false>];
            let [all, found, plainly] = writes.map(|write| {
                let mut gradients = vec![f32::NAN; own.len() * outputs];
                write(&input, &at_output, outputs, own.clone(), &mut gradients);
                gradients
            });
            prop_assert_eq!(bits(&all), bits(&found));
            prop_assert!(close(&found, &plainly));
        }
    }

    #[test]
    fn it_suits_batches_of_which_enough_is_zero() {
        let (rows, inputs) = (64, 100);
        for (share, expected) in [(0.0, false), (0.3, false), (0.5, true), (1.0, true)] {
            let input = with_zeros(rows * inputs, share);
            assert_eq!(suits(&input, rows, 128), expected, "{share}");
            assert!(!suits(&input, rows, 100), "outputs fill no whole tiles");
        }
        assert!(!suits(&[0.0; 100], 4, 128), "a few rows are done sooner than weights are copied");
    }

    #[test]
    fn nan_is_not_left_out() {
        let mut sums = [0.0; COLUMNS];
        add_outputs(&[0.0, f32::NAN], &[1.0; 128], COLUMNS, &mut Block::whole(&mut sums, COLUMNS));
        assert!(sums.iter().all(|sum| sum.is_nan()));
    }
}
