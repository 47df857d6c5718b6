//! Training of a sparse model batch by batch.
//!
//! A batch is cut into parts by its examples. Each part computes its margins and gradients; those
//! of hot features it adds up, those of others it writes down. When all parts are there, each
//! owner brings what was written down for its features into their cells. The parts depend on the
//! batch alone and are brought in one after another, so that the number of threads changes no bit.

use std::ops::Range;

use crate::arithmetic::kernels::kernels;
use crate::losses::logistic::{log_loss, residual as residual_of};
use crate::losses::loss::BatchScore;
use crate::sparse::examples::{Features, HOT, Row};
use crate::sparse::pieces::SparseGradients;
use crate::sparse::update_rules::SparseUpdate;
use crate::sparse::weight_table::{SparseBatch, Table, call_cells, call_place, call_row, dot};
use crate::threads::parts::{Cut, Parts};
use crate::threads::team::Team;

/// Most parts of a batch, and so the most threads that share it.
const PARTS: usize = 4;

/// Features of a batch that are worth a part of their own.
const FEATURES_OF_A_PART: usize = 512;

/// Features that have one owner because their cells may lie in one cache line.
const OWNED_TOGETHER: u32 = 16;

/// How many examples ahead things are called for: where a row lies, and the cells of its features.
/// The row itself is called for a part ahead.
const PLACE_AHEAD: usize = 12;
const CELLS_AHEAD: usize = 4;

/// Memory for a batch, used again and again.
#[derive(Debug, Default)]
pub(crate) struct BatchRoom {
    parts: [PartRoom; PARTS],
    owners: [OwnerRoom; PARTS],
}

/// Memory of an owner, in cache lines that no other thread writes to.
#[derive(Debug, Default)]
#[repr(align(128))]
struct OwnerRoom {
    /// Features that have gathered gradients.
    touched: Vec<u32>,
}

/// What a part of a batch found, in cache lines that no other thread writes to.
#[derive(Debug, Default)]
#[repr(align(128))]
struct PartRoom {
    /// Examples that the thread will probably come to next.
    later: Vec<u32>,
    margins: Vec<f32>,
    /// 1 for positive examples, 0 for others.
    truths: Vec<f32>,
    /// Gradients of the mean loss by the margins.
    residuals: Vec<f32>,
    /// The gradient of each hot feature.
    hot: Vec<f32>,
    /// Gradients of other features in the order of examples, owner by owner.
    others: [Vec<(u32, f32)>; PARTS],
    score: BatchScore,
}

/// How a batch is cut.
#[derive(Debug, Clone, Copy)]
struct Plan {
    threads: usize,
    parts: usize,
    /// A power of two.
    owners: usize,
    /// Features that are hot.
    hot: usize,
    rate: f32,
    /// Examples whose mean loss is meant.
    of: usize,
}

kernels! {
    /// Computes the gradients of the mean loss by margins.
    fn compute_residuals(
        margins: &[f32],
        truths: &[f32],
        part_of_mean: f32,
        residuals: &mut [f32],
    ) {
        for ((&margin, &truth), residual) in margins.iter().zip(truths).zip(residuals) {
            *residual = residual_of(margin, truth) * part_of_mean;
        }
    }
}

impl<U: SparseUpdate> Table<U> {
    /// Makes one update by the mean loss of the chosen examples.
    pub(crate) fn train_batch(
        &mut self,
        batch: SparseBatch<'_>,
        rate: f32,
        team: &mut Team,
    ) -> BatchScore {
        let (plan, mut room) = self.examine_all(batch, (batch.chosen.len(), rate), team);
        let mut score = BatchScore::default();
        let found = &room.parts[..plan.parts];
        found.iter().for_each(|part| score.add(part.score));
        let residuals = found.iter().flat_map(|part| &part.residuals);
        self.update.update(&self.bias, residuals.fold(0.0, |sum, residual| sum + residual), rate);
        let owners = Parts::new(&mut room.owners[..plan.owners], Cut::Every(1));
        team.run(plan.owners, &|owner| {
            self.learn_hot(found, plan, owner);
            self.learn_others(found, plan, owner, &mut owners.take(owner)[0].touched);
        });
        self.room = room;
        score
    }

    /// Tells the gradients of the mean loss of `of` examples by the chosen ones, in the order in
    /// which [`Self::train_batch`] uses them.
    pub(crate) fn batch_gradients(
        &mut self,
        batch: SparseBatch<'_>,
        of: usize,
        team: &mut Team,
        into: &mut SparseGradients,
    ) -> BatchScore {
        let (plan, room) = self.examine_all(batch, (of, 0.0), team);
        let found = &room.parts[..plan.parts];
        let mut score = BatchScore::default();
        found.iter().for_each(|part| score.add(part.score));
        let residuals = found.iter().flat_map(|part| &part.residuals);
        let bias = residuals.fold(0.0, |sum, residual| sum + residual);
        into.push(self.cells.len() as u32, bias);
        for id in 0..plan.hot {
            let gradient = found.iter().fold(0.0, |sum, part| sum + part.hot[id]);
            if gradient != 0.0 {
                into.push(id as u32, gradient);
            }
        }
        for owner in 0..plan.owners {
            let others = found.iter().flat_map(|part| &part.others[owner]);
            others.for_each(|&(id, gradient)| into.push(id, gradient));
        }
        self.room = room;
        score
    }

    /// Computes the margins and gradients of all parts of a batch; the mean is that of `of`
    /// examples. The room goes back to the table afterwards.
    fn examine_all(
        &mut self,
        batch: SparseBatch<'_>,
        (of, rate): (usize, f32),
        team: &mut Team,
    ) -> (Plan, BatchRoom) {
        self.check(batch.set);
        let plan = Plan { of, ..self.plan(batch, rate, team.threads()) };
        let mut room = std::mem::take(&mut self.room);
        let parts = Parts::new(&mut room.parts[..plan.parts], Cut::Every(1));
        let end = |part: usize| part * batch.chosen.len() / plan.parts;
        let examine = match batch.set.is_of_ones() {
            true => Self::examine::<true>,
            false => Self::examine::<false>,
        };
        team.run(plan.parts, &|part| {
            examine(self, batch, end(part)..end(part + 1), plan, &mut parts.take(part)[0]);
        });
        drop(parts);
        (plan, room)
    }

    fn plan(&self, batch: SparseBatch<'_>, rate: f32, threads: usize) -> Plan {
        let features = batch.set.features_of(batch.chosen.len());
        let parts = (features / FEATURES_OF_A_PART).clamp(1, PARTS);
        // Sums for hot features are worth it where most features come more than once.
        let hot = self.cells.len().min(HOT);
        let hot = if features < 2 * hot { 0 } else { hot };
        let threads = threads.min(parts);
        let owners = if hot == self.cells.len() { 1 } else { 1 << threads.ilog2() };
        Plan { threads, parts, owners, hot, rate, of: batch.chosen.len() }
    }

    /// Computes the margins and gradients of a part.
    fn examine<const ONES: bool>(
        &self,
        batch: SparseBatch<'_>,
        own: Range<usize>,
        plan: Plan,
        room: &mut PartRoom,
    ) {
        let (rows, cells, bias) =
            (batch.set.rows::<ONES>(), &self.cells[..], U::weight(&self.bias));
        room.prepare(batch, own.clone(), plan);
        let PartRoom { later, margins, truths, residuals, hot, others, score } = room;
        let chosen = &batch.chosen[own];
        for (place, &example) in chosen.iter().enumerate() {
            if let Some(&coming) = chosen.get(place + CELLS_AHEAD) {
                // SAFETY: `train_batch` has checked that every id has a cell.
                unsafe { call_cells(rows, cells, coming) };
            }
            let Row { features, positive, .. } = rows.row(example);
            // SAFETY: as above.
            margins[place] = bias + unsafe { dot::<U>(cells, features) };
            truths[place] = f32::from(u8::from(positive));
        }
        compute_residuals(margins, truths, 1.0 / plan.of as f32, residuals);
        *score = log_loss(margins, truths);
        for (place, (&example, &residual)) in chosen.iter().zip(&*residuals).enumerate() {
            later.get(place + PLACE_AHEAD).into_iter().for_each(|&later| call_place(rows, later));
            later.get(place).into_iter().for_each(|&later| call_row(rows, later));
            let row = rows.row(example);
            let [first, rest] = row.features.split_at(if plan.hot == 0 { 0 } else { row.hot });
            for_each_gradient(first, residual, |id, gradient| {
                // SAFETY: a hot feature is below `HOT` and has a cell, and `plan.hot` is the
                // smaller of `HOT` and the number of cells.
                *unsafe { hot.get_unchecked_mut(id as usize) } += gradient;
            });
            for_each_gradient(rest, residual, |id, gradient| {
                others[(id / OWNED_TOGETHER) as usize & (plan.owners - 1) & (PARTS - 1)]
                    .push((id, gradient));
            });
        }
    }

    /// Updates an owner's share of the hot cells.
    fn learn_hot(&self, found: &[PartRoom], plan: Plan, owner: usize) {
        let end = |owner: usize| owner * plan.hot / plan.owners;
        for id in end(owner)..end(owner + 1) {
            let gradient = found.iter().fold(0.0, |sum, part| sum + part.hot[id]);
            // A rule that gathers makes no update where there was no gradient.
            if !U::GATHERS || gradient != 0.0 {
                self.update.update(&self.cells[id], gradient, plan.rate);
            }
        }
    }

    /// Updates the other cells of an owner.
    fn learn_others(&self, found: &[PartRoom], plan: Plan, owner: usize, touched: &mut Vec<u32>) {
        for &(id, gradient) in found.iter().flat_map(|part| &part.others[owner]) {
            let cell = &self.cells[id as usize];
            if !U::GATHERS {
                self.update.update(cell, gradient, plan.rate);
            } else if U::gather(cell, gradient) {
                touched.push(id);
            }
        }
        for id in touched.drain(..) {
            self.update.settle(&self.cells[id as usize], plan.rate);
        }
    }
}

impl PartRoom {
    /// Makes room for a part, with all gradients 0.
    fn prepare(&mut self, batch: SparseBatch<'_>, own: Range<usize>, plan: Plan) {
        let (count, passed) = (own.len(), own.end + (plan.threads - 1) * own.len());
        let (end, SparseBatch { chosen, next, .. }) = (passed + count + PLACE_AHEAD, batch);
        let beyond = |place: usize| place.saturating_sub(chosen.len()).min(next.len());
        self.later.clear();
        self.later.extend_from_slice(&chosen[passed.min(chosen.len())..end.min(chosen.len())]);
        self.later.extend_from_slice(&next[beyond(passed)..beyond(end)]);
        for numbers in [&mut self.margins, &mut self.truths, &mut self.residuals] {
            numbers.resize(count, 0.0);
        }
        self.hot.clear();
        self.hot.resize(plan.hot, 0.0);
        self.others.iter_mut().for_each(Vec::clear);
    }
}

/// Tells the gradient by each feature's weight.
#[inline(always)]
fn for_each_gradient(features: Features<'_>, residual: f32, mut tell: impl FnMut(u32, f32)) {
    match features.values {
        None => features.ids.iter().for_each(|&id| tell(id, residual)),
        Some(values) => {
            let pairs = features.ids.iter().zip(values);
            pairs.for_each(|(&id, value)| tell(id, residual * value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_compilations_agree_on_residuals() {
        for count in [1, 5, 8, 61] {
            let margins: Vec<f32> =
                (0..count).map(|it| (it * 37 % 101) as f32 / 12.0 - 4.0).collect();
            let truths: Vec<f32> = (0..count).map(|it| (it % 2) as f32).collect();
            let [mut found, mut plain] = [vec![0.0; count], vec![0.0; count]];
            compute_residuals(&margins, &truths, 0.5, &mut found);
            portable::compute_residuals(&margins, &truths, 0.5, &mut plain);
            assert_eq!(found, plain);
            for place in 0..count {
                let probability = 1.0 / (1.0 + f64::from(-margins[place]).exp());
                let expected = 0.5 * (probability - f64::from(truths[place]));
                assert!((f64::from(found[place]) - expected).abs() < 1e-6);
            }
        }
    }
}
