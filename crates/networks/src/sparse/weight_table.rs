//! The cells of a sparse model, and what all loops over examples need of them.
//!
//! `batch_by_batch.rs` trains batch by batch, `asynchronous.rs` without waiting.

use std::sync::Mutex;

use crate::arithmetic::kernels::{prefetch, prefetch_line};
use crate::arithmetic::large_pages::room_for;
use crate::sparse::batch_by_batch::BatchRoom;
use crate::sparse::examples::{Features, Rows, SparseSet};
use crate::sparse::update_rules::SparseUpdate;

/// One cell a feature, and one for the bias.
#[derive(Debug)]
pub(crate) struct Table<U: SparseUpdate> {
    pub(crate) update: U,
    pub(crate) cells: Vec<U::Cell>,
    pub(crate) bias: U::Cell,
    pub(crate) room: BatchRoom,
    /// Held by the thread that merges its copies of cells.
    pub(crate) merging: Mutex<()>,
}

/// Examples to learn from now, and those that will come next.
#[derive(Debug, Clone, Copy)]
pub struct SparseBatch<'a> {
    /// All examples.
    pub set: &'a SparseSet,
    /// Those to learn from.
    pub chosen: &'a [u32],
    /// Those that the next batch begins with, as far as they are known; they are only called
    /// into the caches.
    pub next: &'a [u32],
}

impl<U: SparseUpdate> Table<U> {
    /// A table of zeros.
    pub(crate) fn new(update: U, features: usize) -> Self {
        let mut cells = room_for(features);
        cells.resize_with(features, U::Cell::default);
        let (bias, room, merging) = Default::default();
        Self { update, cells, bias, room, merging }
    }

    /// The cell of a feature by its new number.
    pub(crate) fn cell(&self, rank: usize) -> &U::Cell {
        &self.cells[rank]
    }

    /// The cell of the bias.
    pub(crate) fn bias(&self) -> &U::Cell {
        &self.bias
    }

    /// Makes sure that every id of a set has a cell.
    ///
    /// # Panics
    /// When the set is of another feature order.
    pub(crate) fn check(&self, set: &SparseSet) {
        assert_eq!(set.features(), self.cells.len(), "the set has the features of the model");
    }

    /// The margin of each example from the first one given.
    pub(crate) fn margins(&self, set: &SparseSet, first: usize, margins: &mut [f32]) {
        self.check(set);
        match set.is_of_ones() {
            true => self.margins_of(set.rows::<true>(), first, margins),
            false => self.margins_of(set.rows::<false>(), first, margins),
        }
    }

    fn margins_of<const ONES: bool>(
        &self,
        rows: Rows<'_, ONES>,
        first: usize,
        margins: &mut [f32],
    ) {
        let bias = U::weight(&self.bias);
        for (example, margin) in (first as u32..).zip(margins) {
            // SAFETY: every id of the set has been found to have a cell.
            *margin = bias + unsafe { dot::<U>(&self.cells, rows.row(example).features) };
        }
    }
}

/// Tells the processor that it will be asked where an example lies.
#[inline(always)]
pub(crate) fn call_place<const ONES: bool>(rows: Rows<'_, ONES>, example: u32) {
    prefetch_line(rows.place(example));
}

/// Tells the processor that an example will be read; where it lies is read now.
#[inline(always)]
pub(crate) fn call_row<const ONES: bool>(rows: Rows<'_, ONES>, example: u32) {
    let Features { ids, values } = rows.row(example).features;
    prefetch(ids);
    values.into_iter().for_each(prefetch);
}

/// Tells the processor that the cells of an example will be needed, as far as they are not hot;
/// the example is read now.
///
/// # Safety
/// Each id must have a cell.
#[inline(always)]
pub(crate) unsafe fn call_cells<C, const ONES: bool>(
    rows: Rows<'_, ONES>,
    cells: &[C],
    example: u32,
) {
    let row = rows.row(example);
    for &id in row.features.split_at(row.hot)[1].ids {
        // SAFETY: the caller's promise.
        prefetch_line(unsafe { cells.get_unchecked(id as usize) });
    }
}

/// The weights of features times their values, in four sums that do not wait for each other.
///
/// # Safety
/// Each id must have a cell.
#[inline(always)]
pub(crate) unsafe fn dot<U: SparseUpdate>(cells: &[U::Cell], features: Features<'_>) -> f32 {
    let mut sums = [0.0_f32; 4];
    // SAFETY: the caller's promise.
    let weight = |id: u32| U::weight(unsafe { cells.get_unchecked(id as usize) });
    let (fours, rest) = features.ids.as_chunks::<4>();
    match features.values {
        None => {
            for four in fours {
                sums.iter_mut().zip(four).for_each(|(sum, &id)| *sum += weight(id));
            }
            sums.iter_mut().zip(rest).for_each(|(sum, &id)| *sum += weight(id));
        }
        Some(values) => {
            let (value_fours, value_rest) = values.as_chunks::<4>();
            for (four, values) in fours.iter().zip(value_fours) {
                let products = four.iter().zip(values).map(|(&id, value)| weight(id) * value);
                sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
            }
            let products = rest.iter().zip(value_rest).map(|(&id, value)| weight(id) * value);
            sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sparse::update_rules::Descent;

    fn table(weights: &[f32]) -> Table<Descent> {
        let table = Table::new(Descent, weights.len());
        for (cell, &weight) in table.cells.iter().zip(weights) {
            Descent::restore(cell, [weight, 0.0, 0.0]);
        }
        table
    }

    proptest! {
        /// Four sums that do not wait for each other add up what one would; whole numbers are exact.
        #[test]
        fn a_product_does_not_depend_on_how_it_is_summed(
            features in proptest::collection::vec((0_u32..40, -8_i8..8), 0..23),
        ) {
            let weights: Vec<f32> = (0..40).map(|at| (at % 11) as f32 - 5.0).collect();
            let table = table(&weights);
            let ids: Vec<u32> = features.iter().map(|own| own.0).collect();
            let values: Vec<f32> = features.iter().map(|own| f32::from(own.1)).collect();
            // SAFETY: every id is below 40.
            let with = unsafe { dot::<Descent>(&table.cells, Features { ids: &ids, values: Some(&values) }) };
            let slow: f32 = ids.iter().zip(&values).map(|(&id, value)| weights[id as usize] * value).sum();
            prop_assert_eq!(with, slow);
            // SAFETY: as above.
            let ones = unsafe { dot::<Descent>(&table.cells, Features { ids: &ids, values: None }) };
            prop_assert_eq!(ones, ids.iter().map(|&id| weights[id as usize]).sum::<f32>());
        }
    }

    #[test]
    fn a_new_table_has_zeros_alone() {
        let table = Table::new(Descent, 5);
        assert_eq!(table.cells.len(), 5);
        assert!((0..5).all(|rank| Descent::weight(table.cell(rank)) == 0.0));
        assert_eq!(Descent::weight(table.bias()), 0.0);
    }
}
