//! Training of a sparse model by threads that do not wait for each other.
//!
//! A thread does not wait for itself either: it computes the margin of the next example before it
//! brings the update of this one into the cells. The two then overlap in the processor, which
//! would otherwise stand still from one's exponential to the other's sum, and an example misses
//! one update more, as it misses those that other threads have under way.

use std::ops::Range;

use crate::losses::logistic::{log_loss, residual};
use crate::losses::loss::BatchScore;
use crate::sparse::examples::{Features, HOT, Row, Rows, SparseSet};
use crate::sparse::hot_copies::{Copies, Sharing};
use crate::sparse::update_rules::SparseUpdate;
use crate::sparse::weight_table::{SparseBatch, Table, call_cells, call_place, call_row, dot};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Examples that a thread learns from before it looks for more, unless that makes too many blocks.
const BLOCK: usize = 2048;
const MOST_BLOCKS: usize = 1024;

/// Examples after which a thread's copies are merged.
const MERGE_EVERY: usize = 256;

/// How many examples ahead things are called for: first where a row lies, then the row, then the
/// cells of its features. Rows come in random order, so that the processor cannot guess them.
const PLACE_AHEAD: usize = 24;
const ROW_AHEAD: usize = 12;
const CELLS_AHEAD: usize = 4;

impl<U: SparseUpdate> Table<U> {
    /// Makes an update for each chosen example, on all threads at once.
    pub(crate) fn train_freely(
        &mut self,
        batch: SparseBatch<'_>,
        rate: f32,
        team: &mut Team,
    ) -> BatchScore {
        self.check(batch.set);
        let sharing = self.sharing(batch.set, team.threads());
        let examples = batch.chosen.len();
        let size = BLOCK.max(examples.div_ceil(MOST_BLOCKS).next_multiple_of(MERGE_EVERY));
        let mut scores = vec![BatchScore::default(); examples.div_ceil(size)];
        let (count, parts) = (scores.len(), Parts::new(&mut scores, Cut::Every(1)));
        let learn = match (batch.set.is_of_ones(), sharing.threads == 1) {
            (true, true) => Self::learn_block::<true, true>,
            (true, false) => Self::learn_block::<true, false>,
            (false, true) => Self::learn_block::<false, true>,
            (false, false) => Self::learn_block::<false, false>,
        };
        team.run(count, &|part| {
            let copies = Copies::new(self, sharing, rate);
            let block = part * size..examples.min((part + 1) * size);
            parts.take(part)[0] = learn(self, batch, block, copies, rate);
        });
        let mut total = BatchScore::default();
        scores.into_iter().for_each(|score| total.add(score));
        total
    }

    fn sharing(&self, set: &SparseSet, threads: usize) -> Sharing {
        let copied = if threads == 1 { 0 } else { self.cells.len().min(HOT) };
        Sharing { threads, copied, frequent: set.frequent().min(copied) }
    }

    /// Learns from a block of examples with own copies of the bias and, unless the thread is
    /// `ALONE`, of the hottest features, which threads would otherwise fight over.
    fn learn_block<const ONES: bool, const ALONE: bool>(
        &self,
        batch: SparseBatch<'_>,
        block: Range<usize>,
        copies: Copies<U>,
        rate: f32,
    ) -> BatchScore {
        let (rows, mut score) = (batch.set.rows::<ONES>(), BatchScore::default());
        for start in block.step_by(MERGE_EVERY) {
            let coming = &batch.chosen[start..];
            score.add(self.learn_some::<ONES, ALONE>(rows, coming, &copies, rate));
            copies.merge_if_free(self, rate);
        }
        copies.merge(self, rate);
        score
    }

    /// Learns from the examples that come until the copies are merged.
    fn learn_some<const ONES: bool, const ALONE: bool>(
        &self,
        rows: Rows<'_, ONES>,
        coming: &[u32],
        copies: &Copies<U>,
        rate: f32,
    ) -> BatchScore {
        let Copies { bias, cells: copied, .. } = copies;
        let count = coming.len().min(MERGE_EVERY);
        let [mut margins, mut truths] = [[0.0_f32; MERGE_EVERY]; 2];
        let mut met = self.meet::<ONES, ALONE>(rows, coming, 0, copies);
        for place in 0..count {
            let Met { own, shared, margin, truth } = met;
            let residual = residual(margin, truth);
            (margins[place], truths[place]) = (margin, truth);
            if place + 1 < count {
                met = self.meet::<ONES, ALONE>(rows, coming, place + 1, copies);
            }
            self.update.update(bias, residual, rate);
            // SAFETY: as in `meet`, which has read the same cells.
            unsafe {
                self.update_all(copied, own, residual, rate);
                self.update_all(&self.cells, shared, residual, rate);
            }
        }
        log_loss(&margins[..count], &truths[..count])
    }

    /// Computes the margin of an example.
    #[inline(always)]
    fn meet<'a, const ONES: bool, const ALONE: bool>(
        &self,
        rows: Rows<'a, ONES>,
        coming: &[u32],
        place: usize,
        copies: &Copies<U>,
    ) -> Met<'a> {
        let ahead = |count: usize| coming.get(place + count).copied();
        ahead(PLACE_AHEAD).into_iter().for_each(|example| call_place(rows, example));
        ahead(ROW_AHEAD).into_iter().for_each(|example| call_row(rows, example));
        if let Some(example) = ahead(CELLS_AHEAD) {
            // SAFETY: `train_freely` has checked that every id has a cell.
            unsafe { call_cells(rows, &self.cells, example) };
        }
        let Row { features, hot, positive } = rows.row(coming[place]);
        let [own, shared] = features.split_at(if ALONE { 0 } else { hot });
        // SAFETY: as above. The own ones are below `HOT`, so that each has a copy too.
        let sums = unsafe { [dot::<U>(&copies.cells, own), dot::<U>(&self.cells, shared)] };
        let margin = U::weight(&copies.bias) + sums[0] + sums[1];
        Met { own, shared, margin, truth: f32::from(u8::from(positive)) }
    }

    /// Updates the cells of features.
    ///
    /// # Safety
    /// Each id must have a cell.
    #[inline(always)]
    unsafe fn update_all(
        &self,
        cells: &[U::Cell],
        features: Features<'_>,
        residual: f32,
        rate: f32,
    ) {
        let update = |id: u32, gradient: f32| {
            // SAFETY: the caller's promise.
            self.update.update(unsafe { cells.get_unchecked(id as usize) }, gradient, rate);
        };
        match features.values {
            None => features.ids.iter().for_each(|&id| update(id, residual)),
            Some(values) => {
                let pairs = features.ids.iter().zip(values);
                pairs.for_each(|(&id, value)| update(id, residual * value));
            }
        }
    }
}

/// An example that a thread has begun with.
struct Met<'a> {
    /// Features of which the thread has copies.
    own: Features<'a>,
    shared: Features<'a>,
    margin: f32,
    truth: f32,
}
