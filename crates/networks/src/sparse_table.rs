//! The cells of a sparse model, and the loops over examples that read and change them.

use crate::log_loss::LogLoss;
use crate::loss::BatchScore;
use crate::parts::{Cut, Parts};
use crate::sparse_rules::SparseUpdate;
use crate::sparse_set::{HOT, SparseSet};
use crate::team::Team;

/// One cell a feature, and one for the bias.
#[derive(Debug)]
pub(crate) struct Table<U: SparseUpdate> {
    update: U,
    cells: Vec<U::Cell>,
    bias: U::Cell,
    residuals: Vec<f32>,
    /// Features of each shard that have gathered gradients.
    touched: Vec<Vec<u32>>,
}

/// Examples of a batch that one thread predicts at a time; fixed, so that the sum of their losses
/// does not depend on the threads.
const STRETCH: usize = 8;

/// Examples that a thread learns from, in async mode, before it looks for more.
const BLOCK: usize = 4096;

/// Examples after which a thread's copies are merged in async mode.
const MERGE_EVERY: usize = 256;

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
        let cells = (0..features).map(|_| U::Cell::default()).collect();
        Self { update, cells, bias: U::Cell::default(), residuals: Vec::new(), touched: Vec::new() }
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

    /// Makes one update by the mean loss of the chosen examples.
    pub(crate) fn train_batch(
        &mut self,
        batch: SparseBatch<'_>,
        rate: f32,
        shards: &[u32],
        team: &mut Team,
    ) -> BatchScore {
        let mut residuals = std::mem::take(&mut self.residuals);
        residuals.resize(batch.chosen.len(), 0.0);
        let score = self.predict(batch, &mut residuals, team);
        let mut touched = std::mem::take(&mut self.touched);
        touched.resize_with(shards.len(), Vec::new);
        let lists = Parts::new(&mut touched, Cut::Every(1));
        team.run(shards.len(), &|shard| {
            let shard = Shard { shards, shard };
            self.learn(batch, &residuals, rate, shard, &mut lists.take(shard.shard)[0]);
        });
        (self.residuals, self.touched) = (residuals, touched);
        score
    }

    /// Predicts the chosen examples and keeps the gradients of their losses by the margins.
    fn predict(
        &self,
        batch: SparseBatch<'_>,
        residuals: &mut [f32],
        team: &mut Team,
    ) -> BatchScore {
        let SparseBatch { set, chosen, .. } = batch;
        let count = chosen.len().div_ceil(STRETCH);
        let mut scores = vec![BatchScore::default(); count];
        let (all_scores, all) = (Parts::new(&mut scores, Cut::Every(1)), Cut::Every(STRETCH));
        let all_residuals = Parts::new(residuals, all);
        team.run(count, &|part| {
            let mut loss = LogLoss::default();
            let start = part * STRETCH;
            for (place, residual) in all_residuals.take(part).iter_mut().enumerate() {
                self.call_ahead(batch, start + place);
                let example = chosen[start + place] as usize;
                *residual = loss.add(self.margin(set, example), set.positive[example]);
            }
            all_scores.take(part)[0] = loss.score();
        });
        let mut total = BatchScore::default();
        scores.into_iter().for_each(|score| total.add(score));
        total
    }

    /// Brings the gradients of one shard's features, and with the first the bias's, into the
    /// cells.
    fn learn(
        &self,
        batch: SparseBatch<'_>,
        residuals: &[f32],
        rate: f32,
        shard: Shard<'_>,
        touched: &mut Vec<u32>,
    ) {
        let SparseBatch { set, chosen, .. } = batch;
        let share = 1.0 / chosen.len() as f32;
        for (&example, &residual) in chosen.iter().zip(residuals) {
            let gradient = residual * share;
            shard.each_feature(set, example as usize, |id, value| {
                let cell = &self.cells[id as usize];
                if !U::GATHERS {
                    self.update.update(cell, gradient * value, rate);
                } else if U::gather(cell, gradient * value) {
                    touched.push(id);
                }
            });
        }
        if shard.shard == 0 {
            let sum = residuals.iter().fold(0.0, |sum, residual| sum + residual * share);
            self.update.update(&self.bias, sum, rate);
        }
        for id in touched.drain(..) {
            self.update.settle(&self.cells[id as usize], rate);
        }
    }

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
            self.call_ahead(block, place);
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

    /// Tells the processor what the examples after this one will need.
    #[inline(always)]
    fn call_ahead(&self, batch: SparseBatch<'_>, place: usize) {
        let set = batch.set;
        if let Some(example) = batch.get(place + PLACE_AHEAD) {
            prefetch(&set.starts[example]);
            prefetch(&set.positive[example]);
        }
        if let Some(example) = batch.get(place + ROW_AHEAD) {
            let (ids, values) = set.row(example);
            // Sixteen numbers fill a cache line; the last one may lie in a line of its own.
            ids.chunks(16).for_each(|line| prefetch(&line[0]));
            ids.last().into_iter().for_each(prefetch);
            if let Some(values) = values {
                values.chunks(16).for_each(|line| prefetch(&line[0]));
            }
        }
        if let Some(example) = batch.get(place + CELLS_AHEAD) {
            for &id in set.row(example).0 {
                prefetch(&self.cells[id as usize]);
            }
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

/// The features of a batch that one thread changes: those between two bounds.
#[derive(Clone, Copy)]
struct Shard<'a> {
    shards: &'a [u32],
    shard: usize,
}

impl Shard<'_> {
    /// Calls `work` with the shard's features of an example. Rows are sorted by bounds, so that
    /// the first shard stops early and the last one comes from the end.
    #[inline(always)]
    fn each_feature(&self, set: &SparseSet, example: usize, mut work: impl FnMut(u32, f32)) {
        let (ids, values) = set.row(example);
        let value = |place: usize| values.map_or(1.0, |values| values[place]);
        let end = self.shards[self.shard];
        match self.shard.checked_sub(1).map(|before| self.shards[before]) {
            None if self.shards.len() == 1 => match values {
                None => ids.iter().for_each(|&id| work(id, 1.0)),
                Some(values) => ids.iter().zip(values).for_each(|(&id, &value)| work(id, value)),
            },
            None => {
                let own = ids.iter().enumerate().take_while(|&(_, &id)| id < end);
                own.for_each(|(place, &id)| work(id, value(place)));
            }
            Some(start) if self.shard + 1 == self.shards.len() => {
                let own = ids.iter().enumerate().rev().take_while(|&(_, &id)| id >= start);
                own.for_each(|(place, &id)| work(id, value(place)));
            }
            Some(start) => {
                let first = ids.partition_point(|&id| id < start);
                let own = ids.iter().enumerate().skip(first).take_while(|&(_, &id)| id < end);
                own.for_each(|(place, &id)| work(id, value(place)));
            }
        }
    }
}

/// How many of a row's features are hot; they come first.
#[inline(always)]
fn hot_features(ids: &[u32], hot: usize) -> usize {
    ids.iter().position(|&id| id as usize >= hot).unwrap_or(ids.len())
}

/// The weights of features times their values, in four sums that do not wait for each other.
#[inline(always)]
fn dot<U: SparseUpdate>(cells: &[U::Cell], ids: &[u32], values: Option<&[f32]>) -> f32 {
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
