//! Training of a sparse model by threads that do not wait for each other.

use crate::log_loss::LogLoss;
use crate::loss::BatchScore;
use crate::parts::{Cut, Parts};
use crate::sparse_rules::SparseUpdate;
use crate::sparse_set::{GROUPS, HOT};
use crate::sparse_table::{SparseBatch, Table, dot};
use crate::team::Team;

/// Examples that a thread learns from, in async mode, before it looks for more.
const BLOCK: usize = 4096;

/// Examples after which a thread's copies are merged in async mode.
const MERGE_EVERY: usize = 256;

impl<U: SparseUpdate> Table<U> {
    /// Makes an update for each chosen example, on all threads at once.
    pub(crate) fn train_freely(
        &mut self,
        batch: SparseBatch<'_>,
        rate: f32,
        team: &mut Team,
    ) -> BatchScore {
        let alone = team.threads() == 1;
        let hot = if alone { 0 } else { self.cells.len().min(HOT as usize) };
        let chosen = batch.chosen;
        let count = chosen.len().div_ceil(BLOCK);
        let mut scores = vec![BatchScore::default(); count];
        let parts = Parts::new(&mut scores, Cut::Every(1));
        team.run(count, &|part| {
            let (block, next) =
                chosen[part * BLOCK..].split_at(BLOCK.min(chosen.len() - part * BLOCK));
            let block = SparseBatch { chosen: block, next, ..batch };
            parts.take(part)[0] = self.learn_freely(block, rate, hot);
        });
        let mut total = BatchScore::default();
        scores.into_iter().for_each(|score| total.add(score));
        total
    }

    /// Learns from a block of examples with own copies of the bias and of the hottest features,
    /// which threads would otherwise fight over.
    fn learn_freely(&self, block: SparseBatch<'_>, rate: f32, hot: usize) -> BatchScore {
        let set = block.set;
        let mut loss = LogLoss::default();
        let mut copies = Copies::new(self, hot);
        for (place, &example) in block.chosen.iter().enumerate() {
            if place % MERGE_EVERY == 0 && place > 0 {
                copies.merge(self, rate);
            }
            self.call_ahead(block, place, 0..GROUPS);
            let (ids, values) = set.row(example as usize);
            let cut = if hot == 0 { 0 } else { hot_features(ids, hot) };
            let (hot_ids, ids) = ids.split_at(cut);
            let [hot_values, values] = match values {
                Some(values) => [Some(&values[..cut]), Some(&values[cut..])],
                None => [None, None],
            };
            let margin = U::weight(&copies.bias)
                + dot::<U>(&copies.cells, hot_ids, hot_values)
                + dot::<U>(&self.cells, ids, values);
            let residual = loss.add(margin, set.positive[example as usize]);
            self.update.update(&copies.bias, residual, rate);
            self.update_all(&copies.cells, hot_ids, hot_values, residual, rate);
            self.update_all(&self.cells, ids, values, residual, rate);
        }
        copies.merge(self, rate);
        loss.score()
    }

    #[inline(always)]
    fn update_all(
        &self,
        cells: &[U::Cell],
        ids: &[u32],
        values: Option<&[f32]>,
        residual: f32,
        rate: f32,
    ) {
        match values {
            None => {
                ids.iter().for_each(|&id| self.update.update(&cells[id as usize], residual, rate));
            }
            Some(values) => ids.iter().zip(values).for_each(|(&id, value)| {
                self.update.update(&cells[id as usize], residual * value, rate);
            }),
        }
    }
}

/// A thread's own copies of the bias and of the first cells.
struct Copies<U: SparseUpdate> {
    bias: U::Cell,
    cells: Vec<U::Cell>,
    /// What the copies were when they were made; the bias comes last.
    before: Vec<[f32; 3]>,
}

impl<U: SparseUpdate> Copies<U> {
    fn new(table: &Table<U>, count: usize) -> Self {
        let copies = Self {
            bias: U::Cell::default(),
            cells: (0..count).map(|_| U::Cell::default()).collect(),
            before: vec![[0.0; 3]; count + 1],
        };
        copies.refreshed(table)
    }

    fn refreshed(mut self, table: &Table<U>) -> Self {
        self.refresh(table);
        self
    }

    /// Takes over what the table has now.
    fn refresh(&mut self, table: &Table<U>) {
        let cells = table.cells[..self.cells.len()].iter().chain([&table.bias]);
        let copies = self.cells.iter().chain([&self.bias]);
        for ((cell, copy), before) in cells.zip(copies).zip(&mut self.before) {
            *before = U::parts(cell);
            U::restore(copy, *before);
        }
    }

    /// Brings what has changed into the table, and takes over what it has now.
    fn merge(&mut self, table: &Table<U>, rate: f32) {
        let cells = table.cells[..self.cells.len()].iter().chain([&table.bias]);
        let copies = self.cells.iter().chain([&self.bias]);
        for ((cell, copy), &before) in cells.zip(copies).zip(&self.before) {
            table.update.merge(cell, before, U::parts(copy), rate);
        }
        self.refresh(table);
    }
}

/// How many of a row's features are hot; they come first.
#[inline(always)]
fn hot_features(ids: &[u32], hot: usize) -> usize {
    ids.iter().position(|&id| id as usize >= hot).unwrap_or(ids.len())
}
