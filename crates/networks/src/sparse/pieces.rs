//! A sparse model whose cells others own: gradients here, updates there.
//!
//! A worker puts the weights that it was given into its own model and computes gradients by the
//! same steps as `batch_by_batch.rs`; whoever owns the cells brings them in. Gradients are told in
//! the order in which one that does both would use them, so that both together give its bits.
//! Rows are the new numbers of a [`FeatureOrder`]; the bias is the row after the last feature.

use crate::losses::loss::BatchScore;
use crate::sparse::examples::{FeatureOrder, SparseSet};
use crate::sparse::logistic::{AnyTable, SparseLogistic, SparseRule, with_table};
use crate::sparse::update_rules::SparseUpdate;
use crate::sparse::weight_table::{SparseBatch, Table};
use crate::threads::team::Team;

/// Numbers that are kept of each row in [`SparseLogistic::store_rows`]: the weight and what the
/// rule remembers, 0 where it remembers less.
const KEPT: usize = 3;

/// Gradients of a batch: rows in any order, one more than once where it comes in several examples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseGradients {
    /// The rows.
    pub rows: Vec<u32>,
    /// The gradient by the weight of each.
    pub values: Vec<f32>,
}

impl SparseGradients {
    pub(crate) fn push(&mut self, row: u32, value: f32) {
        self.rows.push(row);
        self.values.push(value);
    }
}

/// Finds the rows that examples have, each once.
#[derive(Debug)]
pub struct RowFinder {
    /// When each row was last met.
    met: Vec<u32>,
    now: u32,
}

impl RowFinder {
    /// For the features of an order, and the bias.
    pub fn new(order: &FeatureOrder) -> Self {
        Self { met: vec![0; order.features() + 1], now: 0 }
    }

    /// Tells the rows of the chosen examples, and that of the bias first.
    ///
    /// # Panics
    /// When a chosen example does not exist, or has other features.
    pub fn find(&mut self, set: &SparseSet, chosen: &[u32], mut tell: impl FnMut(u32)) {
        if self.now == u32::MAX {
            self.met.fill(0);
            self.now = 0;
        }
        self.now += 1;
        tell(self.met.len() as u32 - 1);
        for &example in chosen {
            for &row in set.rows_of(example) {
                let met = &mut self.met[row as usize];
                if *met != self.now {
                    *met = self.now;
                    tell(row);
                }
            }
        }
    }
}

impl SparseLogistic {
    /// Puts weights into rows; what the rule remembers of them is 0 then.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn set_weights(&mut self, weights: impl Iterator<Item = (u32, f32)>) {
        with_table!(&self.table, table => set_weights(table, weights));
    }

    /// Gradients of the mean loss of `of` examples by the chosen ones among them, and how well those
    /// are predicted. Changes nothing.
    ///
    /// # Panics
    /// When a chosen example does not exist.
    pub fn gradients(
        &mut self,
        batch: SparseBatch<'_>,
        of: usize,
        team: &mut Team,
        into: &mut SparseGradients,
    ) -> BatchScore {
        into.rows.clear();
        into.values.clear();
        with_table!(&mut self.table, table => table.batch_gradients(batch, of, team, into))
    }

    /// Appends all that is remembered of each row, the bias last: three numbers a row.
    pub fn store_rows(&self, into: &mut Vec<f32>) {
        with_table!(&self.table, table => {
            store(table, into);
            into.extend(parts_of(table, table.bias()));
        });
    }

    /// Puts back what [`Self::store_rows`] told.
    ///
    /// # Panics
    /// When there is not one a row.
    pub fn load_rows(&mut self, values: &[f32]) {
        with_table!(&self.table, table => {
            assert_eq!(values.len(), KEPT * (table.cells.len() + 1), "three numbers a row");
            let (cells, bias) = values.split_at(KEPT * table.cells.len());
            load(table, cells);
            restore_cell(table, table.bias(), bias);
        });
    }
}

/// Some rows of a sparse model, with their rule: what a server owns.
#[derive(Debug)]
pub struct SparsePiece {
    table: AnyTable,
    touched: Vec<u32>,
}

impl SparsePiece {
    /// So many rows whose weights are 0.
    pub fn new(rule: SparseRule, rows: usize) -> Self {
        Self { table: AnyTable::new(rule, rows), touched: Vec::new() }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        with_table!(&self.table, table => table.cells.len())
    }

    /// The weight of a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn weight(&self, row: u32) -> f32 {
        with_table!(&self.table, table => weight_of(table, row))
    }

    /// Makes one update by gradients of rows, which may come more than once.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn update(&mut self, gradients: impl Iterator<Item = (u32, f32)>, rate: f64) {
        let touched = &mut self.touched;
        with_table!(&self.table, table => update(table, gradients, rate as f32, touched));
    }

    /// Appends all that is remembered of each row: three numbers a row.
    pub fn store(&self, into: &mut Vec<f32>) {
        with_table!(&self.table, table => store(table, into));
    }

    /// Puts back what [`Self::store`] told.
    ///
    /// # Panics
    /// When there is not one a row.
    pub fn load(&mut self, values: &[f32]) {
        assert_eq!(values.len(), KEPT * self.rows(), "three numbers a row");
        with_table!(&self.table, table => load(table, values));
    }
}

fn set_weights<U: SparseUpdate>(table: &Table<U>, weights: impl Iterator<Item = (u32, f32)>) {
    for (row, weight) in weights {
        let cell = table.cells.get(row as usize).unwrap_or(&table.bias);
        assert!(row as usize <= table.cells.len(), "there is no row {row}");
        U::restore(cell, [weight, 0.0, 0.0]);
    }
}

fn weight_of<U: SparseUpdate>(table: &Table<U>, row: u32) -> f32 {
    U::weight(&table.cells[row as usize])
}

fn update<U: SparseUpdate>(
    table: &Table<U>,
    gradients: impl Iterator<Item = (u32, f32)>,
    rate: f32,
    touched: &mut Vec<u32>,
) {
    for (row, gradient) in gradients {
        let cell = &table.cells[row as usize];
        if !U::GATHERS {
            table.update.update(cell, gradient, rate);
        } else if U::gather(cell, gradient) {
            touched.push(row);
        }
    }
    for row in touched.drain(..) {
        table.update.settle(&table.cells[row as usize], rate);
    }
}

fn parts_of<U: SparseUpdate>(_: &Table<U>, cell: &U::Cell) -> [f32; KEPT] {
    U::parts(cell)
}

fn restore_cell<U: SparseUpdate>(_: &Table<U>, cell: &U::Cell, values: &[f32]) {
    U::restore(cell, [values[0], values[1], values[2]]);
}

fn store<U: SparseUpdate>(table: &Table<U>, into: &mut Vec<f32>) {
    table.cells.iter().for_each(|cell| into.extend(U::parts(cell)));
}

fn load<U: SparseUpdate>(table: &Table<U>, values: &[f32]) {
    for (cell, values) in table.cells.iter().zip(values.chunks_exact(KEPT)) {
        restore_cell(table, cell, values);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sparse::examples::SparseDraft;
    use crate::sparse::logistic::SparseMode;

    /// Examples of up to seven features among so many, with or without values.
    fn draft(features: u32, examples: usize, with_values: bool, seed: u32) -> SparseDraft {
        let mut state = seed | 1;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 8) % below
        };
        let mut draft = SparseDraft { starts: vec![0], ..SparseDraft::default() };
        let mut values = Vec::new();
        for _ in 0..examples {
            let mut ids: Vec<u32> = (0..1 + draw(7)).map(|_| draw(features)).collect();
            ids.sort_unstable();
            ids.dedup();
            values.extend(ids.iter().map(|_| draw(9) as f32 / 4.0 - 1.0));
            draft.ids.extend(ids);
            draft.starts.push(draft.ids.len());
            draft.positive.push(draw(2) == 1);
        }
        draft.values = with_values.then_some(values);
        draft
    }

    /// Trains by gradients here and updates in pieces there.
    fn apart(rule: SparseRule, set: &SparseSet, order: &FeatureOrder, pieces: usize) -> Vec<f32> {
        let rows = order.features() + 1;
        let mut model = SparseLogistic::new(SparseRule::Sgd, order.clone());
        let count = |piece: usize| (rows - piece).div_ceil(pieces);
        let mut owners: Vec<SparsePiece> =
            (0..pieces).map(|piece| SparsePiece::new(rule, count(piece))).collect();
        let (mut finder, mut team) = (RowFinder::new(order), Team::new(1).unwrap());
        let mut gradients = SparseGradients::default();
        let all: Vec<u32> = (0..set.len() as u32).collect();
        for chosen in all.chunks(16) {
            let mut wanted = Vec::new();
            finder.find(set, chosen, |row| wanted.push(row));
            let place = |row: u32| (row as usize % pieces, row / pieces as u32);
            let weights = wanted.iter().map(|&row| {
                let (piece, own) = place(row);
                (row, owners[piece].weight(own))
            });
            model.set_weights(weights);
            let batch = SparseBatch { set, chosen, next: &[] };
            model.gradients(batch, chosen.len(), &mut team, &mut gradients);
            for (piece, owner) in owners.iter_mut().enumerate() {
                let all = gradients.rows.iter().zip(&gradients.values);
                let own = all.filter(|(row, _)| place(**row).0 == piece);
                owner.update(own.map(|(row, value)| (place(*row).1, *value)), 0.5);
            }
        }
        (0..rows as u32)
            .map(|row| owners[row as usize % pieces].weight(row / pieces as u32))
            .collect()
    }

    fn together(rule: SparseRule, set: &SparseSet, order: &FeatureOrder) -> Vec<f32> {
        let mut model = SparseLogistic::new(rule, order.clone());
        let mut team = Team::new(1).unwrap();
        let all: Vec<u32> = (0..set.len() as u32).collect();
        for chosen in all.chunks(16) {
            let batch = SparseBatch { set, chosen, next: &[] };
            model.train(batch, 0.5, SparseMode::Sync, &mut team);
        }
        let mut stored = Vec::new();
        model.store_rows(&mut stored);
        stored.chunks_exact(KEPT).map(|row| row[0]).collect()
    }

    proptest! {
        #[test]
        fn gradients_here_and_updates_there_give_the_bits_of_one(
            seed: u32, features in 3_u32..60, with_values: bool, pieces in 1_usize..4,
        ) {
            let draft = draft(features, 70, with_values, seed);
            let order = FeatureOrder::of(&draft, features);
            let set = draft.ordered(&order);
            for rule in [
                SparseRule::Sgd,
                SparseRule::AdaGrad,
                SparseRule::Ftrl { beta: 1.0, l1: 0.01, l2: 0.1 },
            ] {
                let bits = |weights: Vec<f32>| -> Vec<u32> {
                    weights.into_iter().map(f32::to_bits).collect()
                };
                prop_assert_eq!(
                    bits(apart(rule, &set, &order, pieces)),
                    bits(together(rule, &set, &order))
                );
            }
        }

        #[test]
        fn every_row_of_a_batch_is_found_once(seed: u32, features in 3_u32..60) {
            let draft = draft(features, 20, false, seed);
            let order = FeatureOrder::of(&draft, features);
            let set = draft.clone().ordered(&order);
            let mut finder = RowFinder::new(&order);
            for chosen in [[3_u32, 3, 7], [0, 1, 2]] {
                let mut found = Vec::new();
                finder.find(&set, &chosen, |row| found.push(row));
                found.sort_unstable();
                let mut expected: Vec<u32> = chosen.iter()
                    .flat_map(|&own| &draft.ids[draft.starts[own as usize]..draft.starts[own as usize + 1]])
                    .map(|&id| order.rank(id as usize) as u32).chain([features]).collect();
                expected.sort_unstable();
                expected.dedup();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn large_batches_gather_hot_features_and_give_the_same_bits() {
        // Enough features in a batch for several parts, sums of hot ones and others beside them.
        let draft = draft(1500, 3000, true, 9);
        let order = FeatureOrder::of(&draft, 1500);
        let set = draft.ordered(&order);
        let (mut model, mut team) =
            (SparseLogistic::new(SparseRule::Sgd, order.clone()), Team::new(2).unwrap());
        let mut piece = SparsePiece::new(SparseRule::AdaGrad, 1501);
        let mut whole = SparseLogistic::new(SparseRule::AdaGrad, order.clone());
        let all: Vec<u32> = (0..3000).collect();
        for _ in 0..3 {
            model.set_weights((0..1501).map(|row| (row, piece.weight(row))));
            let batch = SparseBatch { set: &set, chosen: &all, next: &[] };
            let mut gradients = SparseGradients::default();
            let score = model.gradients(batch, all.len(), &mut team, &mut gradients);
            let own = gradients.rows.iter().copied().zip(gradients.values.iter().copied());
            piece.update(own, 0.3);
            assert_eq!(whole.train(batch, 0.3, SparseMode::Sync, &mut team), score);
        }
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        whole.store_rows(&mut expected);
        piece.store(&mut found);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let draft = draft(12, 40, false, 3);
        let order = FeatureOrder::of(&draft, 12);
        let set = draft.ordered(&order);
        let (mut model, mut team) =
            (SparseLogistic::new(SparseRule::AdaGrad, order.clone()), Team::new(1).unwrap());
        let chosen: Vec<u32> = (0..40).collect();
        let batch = SparseBatch { set: &set, chosen: &chosen, next: &[] };
        model.train(batch, 0.1, SparseMode::Sync, &mut team);
        let mut stored = Vec::new();
        model.store_rows(&mut stored);
        let mut other = SparseLogistic::new(SparseRule::AdaGrad, order);
        other.load_rows(&stored);
        assert_eq!(other.memory(), model.memory());
        let mut piece = SparsePiece::new(SparseRule::AdaGrad, 13);
        piece.load(&stored);
        let mut again = Vec::new();
        piece.store(&mut again);
        assert_eq!(again, stored);
    }
}
