//! The cells of a sparse model, and what all loops over examples need of them.
//!
//! `sparse_waiting.rs` trains batch by batch, `sparse_free.rs` without waiting.

use std::ops::Range;

use crate::large_pages::room_for;
use crate::sparse_rules::SparseUpdate;
use crate::sparse_set::SparseSet;
use crate::sparse_waiting::BatchRoom;

/// One cell a feature, and one for the bias.
#[derive(Debug)]
pub(crate) struct Table<U: SparseUpdate> {
    pub(crate) update: U,
    pub(crate) cells: Vec<U::Cell>,
    pub(crate) bias: U::Cell,
    /// Whether the cells are more than stay in the caches without being called.
    is_large: bool,
    pub(crate) room: BatchRoom,
}

/// Bytes of cells that stay in the caches.
const SMALL: usize = 1 << 18;

/// How many examples ahead things are called for: first where a row lies, then the row, then the
/// cells of its features. Rows come in random order, so that the processor cannot guess them.
const PLACE_AHEAD: usize = 24;
const ROW_AHEAD: usize = 12;
const CELLS_AHEAD: usize = 4;

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

impl SparseBatch<'_> {
    #[inline(always)]
    fn get(&self, place: usize) -> Option<usize> {
        let example = match place.checked_sub(self.chosen.len()) {
            None => Some(&self.chosen[place]),
            Some(beyond) => self.next.get(beyond),
        };
        example.map(|&example| example as usize)
    }
}

impl<U: SparseUpdate> Table<U> {
    /// A table of zeros.
    pub(crate) fn new(update: U, features: usize) -> Self {
        let mut cells = room_for(features);
        cells.resize_with(features, U::Cell::default);
        let is_large = features * size_of::<U::Cell>() > SMALL;
        Self { update, cells, bias: U::Cell::default(), is_large, room: BatchRoom::default() }
    }

    /// The cell of a feature by its new number.
    pub(crate) fn cell(&self, rank: usize) -> &U::Cell {
        &self.cells[rank]
    }

    /// The cell of the bias.
    pub(crate) fn bias(&self) -> &U::Cell {
        &self.bias
    }

    /// The margin of an example.
    #[inline(always)]
    pub(crate) fn margin(&self, set: &SparseSet, example: usize) -> f32 {
        let (ids, values) = set.row(example);
        U::weight(&self.bias) + dot::<U>(&self.cells, ids, values)
    }

    /// Tells the processor what the examples after this one will need of some groups.
    #[inline(always)]
    pub(crate) fn call_ahead(&self, batch: SparseBatch<'_>, place: usize, groups: Range<usize>) {
        let set = batch.set;
        if let Some(example) = batch.get(place + PLACE_AHEAD) {
            prefetch(&set.starts[example]);
            prefetch(&set.positive[example]);
            prefetch(set.cuts(example));
        }
        if let Some(example) = batch.get(place + ROW_AHEAD) {
            let (ids, values) = set.groups(example, groups.clone());
            // Sixteen numbers fill a cache line; the last one may lie in a line of its own.
            ids.chunks(16).for_each(|line| prefetch(&line[0]));
            ids.last().into_iter().for_each(prefetch);
            if let Some(values) = values {
                values.chunks(16).for_each(|line| prefetch(&line[0]));
            }
        }
        if self.is_large
            && let Some(example) = batch.get(place + CELLS_AHEAD)
        {
            for &id in set.groups(example, groups).0 {
                prefetch(&self.cells[id as usize]);
            }
        }
    }
}

/// The weights of features times their values, in four sums that do not wait for each other.
#[inline(always)]
pub(crate) fn dot<U: SparseUpdate>(cells: &[U::Cell], ids: &[u32], values: Option<&[f32]>) -> f32 {
    let mut sums = [0.0_f32; 4];
    let weight = |id: u32| U::weight(&cells[id as usize]);
    let (fours, rest) = ids.as_chunks::<4>();
    match values {
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

/// As [`dot`], one feature after another from a start; for few features.
#[inline(always)]
pub(crate) fn sum<U: SparseUpdate>(
    cells: &[U::Cell],
    ids: &[u32],
    values: Option<&[f32]>,
    start: f32,
) -> f32 {
    let weight = |id: u32| U::weight(&cells[id as usize]);
    match values {
        None => ids.iter().fold(start, |sum, &id| sum + weight(id)),
        Some(values) => {
            ids.iter().zip(values).fold(start, |sum, (&id, value)| sum + weight(id) * value)
        }
    }
}

/// Tells the processor that a cell will be needed; nothing where it cannot be told.
#[inline(always)]
fn prefetch<T>(cell: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(cell).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cell;
}
