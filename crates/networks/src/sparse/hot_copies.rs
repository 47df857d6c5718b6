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
