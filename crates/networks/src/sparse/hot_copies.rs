//! Copies of the cells that asynchronous threads would fight over.

use std::ops::Range;
use std::sync::MutexGuard;

use crate::sparse::update_rules::{Change, SparseUpdate};
use crate::sparse::weight_table::Table;

/// Which cells threads have copies of, besides the bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sharing {
    pub(crate) threads: usize,
    /// The first cells.
    pub(crate) copied: usize,
    /// Those of the first cells that every thread changes many times between two merges.
    pub(crate) frequent: usize,
}

/// A thread's own copies of the bias and of the first cells.
///
/// Where threads have copies, the cells themselves are touched only by who holds the table's
/// lock, so that no change is lost.
pub(crate) struct Copies<U: SparseUpdate> {
    pub(crate) bias: U::Cell,
    pub(crate) cells: Vec<U::Cell>,
    /// What the copies were when they were last merged; the bias comes last.
    before: Vec<U::Cell>,
    sharing: Sharing,
}

impl<U: SparseUpdate> Copies<U> {
    /// Copies of what a table has now.
    pub(crate) fn new(table: &Table<U>, sharing: Sharing, rate: f32) -> Self {
        let zeros = |count: usize| (0..count).map(|_| U::Cell::default()).collect();
        let [cells, before] = [sharing.copied, sharing.copied + 1].map(zeros);
        let copies = Self { bias: U::Cell::default(), cells, before, sharing };
        copies.merge(table, rate);
        copies
    }

    /// Brings what has changed into the table, and takes over what it has now.
    pub(crate) fn merge(&self, table: &Table<U>, rate: f32) {
        let lock = table.merging.lock().expect("merging does not panic");
        self.merge_locked(table, rate, lock);
    }

    /// The same unless another thread is about it.
    pub(crate) fn merge_if_free(&self, table: &Table<U>, rate: f32) {
        if let Ok(lock) = table.merging.try_lock() {
            self.merge_locked(table, rate, lock);
        }
    }

    fn merge_locked(&self, table: &Table<U>, rate: f32, _lock: MutexGuard<'_, ()>) {
        let Sharing { threads, copied, frequent } = self.sharing;
        // What every thread learns of a frequent feature is the same: the mean of all is enough,
        // and the sum would be too much by as many times. Rare features are learned in one place.
        let (common, rare) = (1.0 / threads as f32, 1.0);
        let merge_all = |range: Range<usize>, share: f32| {
            let cells = table.cells[range.clone()].iter().zip(&self.cells[range.clone()]);
            for ((cell, copy), before) in cells.zip(&self.before[range]) {
                merge_one(table.update, [cell, copy, before], rate, share);
            }
        };
        merge_all(0..frequent, common);
        merge_all(frequent..copied, rare);
        let bias = [&table.bias, &self.bias, &self.before[copied]];
        merge_one(table.update, bias, rate, common);
    }
}

/// Merges a copy into its cell and makes it, and what it was before, what the cell is now.
#[inline(always)]
fn merge_one<U: SparseUpdate>(
    update: U,
    [cell, copy, before]: [&U::Cell; 3],
    rate: f32,
    share: f32,
) {
    let change = Change { before: U::parts(before), after: U::parts(copy), share };
    update.merge(cell, change, rate);
    let now = U::parts(cell);
    U::restore(copy, now);
    U::restore(before, now);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::update_rules::{Descent, SparseAdaGrad};

    const SHARING: Sharing = Sharing { threads: 4, copied: 2, frequent: 1 };

    fn weights<U: SparseUpdate>(table: &Table<U>) -> Vec<f32> {
        table.cells.iter().chain([&table.bias]).map(U::weight).collect()
    }

    #[test]
    fn copies_begin_as_what_the_table_has() {
        let table = Table::new(Descent, 3);
        Descent::restore(&table.cells[1], [7.0, 0.0, 0.0]);
        Descent::restore(&table.bias, [2.0, 0.0, 0.0]);
        let copies = Copies::new(&table, SHARING, 0.1);
        assert_eq!(copies.cells.iter().map(Descent::weight).collect::<Vec<_>>(), [0.0, 7.0]);
        assert_eq!(Descent::weight(&copies.bias), 2.0);
        assert_eq!(weights(&table), [0.0, 7.0, 0.0, 2.0], "and change nothing");
    }

    #[test]
    fn of_frequent_features_and_the_bias_a_share_counts_and_of_rare_ones_all() {
        let table = Table::new(Descent, 3);
        let copies = Copies::new(&table, SHARING, 0.1);
        for cell in copies.cells.iter().chain([&copies.bias]) {
            Descent.update(cell, -4.0, 1.0);
        }
        copies.merge(&table, 0.1);
        // A gradient of -4 at a rate of 1 adds 4, a quarter of which is 1.
        assert_eq!(weights(&table), [1.0, 4.0, 0.0, 1.0]);
        assert_eq!(copies.cells.iter().map(Descent::weight).collect::<Vec<_>>(), [1.0, 4.0]);
        copies.merge(&table, 0.1);
        assert_eq!(weights(&table), [1.0, 4.0, 0.0, 1.0], "merged once, a change is done with");
    }

    #[test]
    fn what_two_threads_learn_of_a_rare_feature_is_added() {
        let table = Table::new(SparseAdaGrad, 2);
        let [first, second] = [(); 2].map(|()| Copies::new(&table, SHARING, 1.0));
        SparseAdaGrad.update(&first.cells[1], 3.0, 1.0);
        SparseAdaGrad.update(&second.cells[1], 4.0, 1.0);
        first.merge(&table, 1.0);
        second.merge(&table, 1.0);
        let [weight, squares, _] = SparseAdaGrad::parts(&table.cells[1]);
        assert_eq!(squares, 9.0 + 16.0);
        assert!((weight + 2.0).abs() < 1e-6, "each first step of AdaGrad is the rate: {weight}");
    }

    #[test]
    fn a_table_that_is_being_merged_is_left_alone() {
        let table = Table::new(Descent, 2);
        let copies = Copies::new(&table, SHARING, 0.1);
        Descent.update(&copies.cells[1], -1.0, 1.0);
        let lock = table.merging.lock().unwrap();
        copies.merge_if_free(&table, 0.1);
        assert_eq!(weights(&table), [0.0; 3]);
        drop(lock);
        copies.merge_if_free(&table, 0.1);
        assert_eq!(weights(&table), [0.0, 1.0, 0.0]);
    }
}
