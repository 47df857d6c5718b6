//! Training of a sparse model batch by batch.
//!
//! A thread owns groups of features: it adds up their share of every margin and, when all shares
//! are there, changes their cells. No thread ever touches a cell of another, so that cells stay in
//! the caches of their owners.

use std::ops::Range;

use crate::exponential::exp_of_nonpositive;
use crate::kernels::kernels;
use crate::log_loss::LogLoss;
use crate::loss::BatchScore;
use crate::parts::{Cut, Parts};
use crate::sparse_rules::SparseUpdate;
use crate::sparse_set::GROUPS;
use crate::sparse_table::{SparseBatch, Table, sum};
use crate::team::Team;

/// Features of a batch that are worth a thread of their own.
const FEATURES_OF_A_THREAD: usize = 512;

/// Memory for a batch, used again and again.
#[derive(Debug, Default)]
pub(crate) struct BatchRoom {
    /// What each group of features gives to each margin, group by group.
    shares: Vec<f32>,
    /// 1 for positive examples, 0 for others.
    truths: Vec<f32>,
    /// One for each thread that may take part.
    workers: Vec<Worker>,
}

#[derive(Debug, Default)]
struct Worker {
    margins: Vec<f32>,
    /// Gradients of the mean loss by the margins.
    residuals: Vec<f32>,
    /// Features that have gathered gradients.
    touched: Vec<u32>,
}

kernels! {
    /// Adds up the shares of margins and computes the gradients of the mean loss by them.
    fn residuals(
        shares: &[f32],
        truths: &[f32],
        part_of_mean: f32,
        margins: &mut [f32],
        residuals: &mut [f32],
    ) {
        let count = truths.len();
        let [first, second, third, fourth] =
            [0, 1, 2, 3].map(|group| &shares[group * count..(group + 1) * count]);
        let (margins, residuals) = (&mut margins[..count], &mut residuals[..count]);
        for place in 0..count {
            let margin = (first[place] + second[place]) + (third[place] + fourth[place]);
            let small = exp_of_nonpositive(-margin.abs());
            let probability = if margin > 0.0 { 1.0 } else { small } / (1.0 + small);
            margins[place] = margin;
            residuals[place] = (probability - truths[place]) * part_of_mean;
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
        let examples = batch.chosen.len();
        let most = team.threads().min(GROUPS);
        let count = (batch.set.features_of(examples) / FEATURES_OF_A_THREAD).clamp(1, most);
        let groups = |part: usize| part * GROUPS / count..(part + 1) * GROUPS / count;
        let mut room = std::mem::take(&mut self.room);
        room.shares.resize(GROUPS * examples, 0.0);
        room.truths.resize(examples, 0.0);
        room.workers.resize_with(count.max(room.workers.len()), Worker::default);
        {
            let cuts: [usize; GROUPS] =
                std::array::from_fn(|part| groups(part.min(count - 1)).end * examples);
            let shares = Parts::new(&mut room.shares, Cut::At(&cuts[..count]));
            let truths = Parts::new(&mut room.truths, Cut::Every(examples));
            team.run(count, &|part| {
                let truths = (part == 0).then(|| truths.take(0));
                self.add_up(batch, groups(part), shares.take(part), truths);
            });
        }
        let mut score = BatchScore::default();
        {
            let score = Parts::new(std::slice::from_mut(&mut score), Cut::Every(1));
            let workers = Parts::new(&mut room.workers[..count], Cut::Every(1));
            let (shares, truths) = (&room.shares, &room.truths);
            team.run(count, &|part| {
                let worker = &mut workers.take(part)[0];
                let Worker { margins, residuals: own, .. } = worker;
                margins.resize(examples, 0.0);
                own.resize(examples, 0.0);
                residuals(shares, truths, 1.0 / examples as f32, margins, own);
                if part == 0 {
                    score.take(0)[0] = LogLoss::of(margins, truths);
                    let sum = own.iter().fold(0.0, |sum, residual| sum + residual);
                    self.update.update(&self.bias, sum, rate);
                }
                self.learn(batch, groups(part), worker, rate);
            });
        }
        self.room = room;
        score
    }

    /// Computes what some groups, and with the first the bias, give to each margin.
    fn add_up(
        &self,
        batch: SparseBatch<'_>,
        groups: Range<usize>,
        shares: &mut [f32],
        mut truths: Option<&mut [f32]>,
    ) {
        let (set, count) = (batch.set, batch.chosen.len());
        let bias = if groups.start == 0 { U::weight(&self.bias) } else { 0.0 };
        for (place, &example) in batch.chosen.iter().enumerate() {
            self.call_ahead(batch, place, groups.clone());
            let example = example as usize;
            if let Some(truths) = &mut truths {
                truths[place] = f32::from(u8::from(set.positive[example]));
            }
            for (index, group) in groups.clone().enumerate() {
                let start = if group == 0 { bias } else { 0.0 };
                let (ids, values) = set.groups(example, group..group + 1);
                shares[index * count + place] = sum::<U>(&self.cells, ids, values, start);
            }
        }
    }

    /// Brings the gradients of some groups into their cells.
    fn learn(&self, batch: SparseBatch<'_>, groups: Range<usize>, worker: &mut Worker, rate: f32) {
        let Worker { residuals, touched, .. } = worker;
        let mut learn_one = |id: u32, gradient: f32| {
            let cell = &self.cells[id as usize];
            if !U::GATHERS {
                self.update.update(cell, gradient, rate);
            } else if U::gather(cell, gradient) {
                touched.push(id);
            }
        };
        for (&example, &residual) in batch.chosen.iter().zip(&*residuals) {
            let (ids, values) = batch.set.groups(example as usize, groups.clone());
            match values {
                None => ids.iter().for_each(|&id| learn_one(id, residual)),
                Some(values) => {
                    ids.iter().zip(values).for_each(|(&id, value)| learn_one(id, residual * value));
                }
            }
        }
        for id in touched.drain(..) {
            self.update.settle(&self.cells[id as usize], rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_compilations_agree_on_residuals() {
        for count in [1, 5, 8, 61] {
            let shares: Vec<f32> =
                (0..GROUPS * count).map(|it| (it * 37 % 101) as f32 / 25.0 - 2.0).collect();
            let truths: Vec<f32> = (0..count).map(|it| (it % 2) as f32).collect();
            let run = |dispatched: bool| {
                let (mut margins, mut found) = (vec![0.0; count], vec![0.0; count]);
                match dispatched {
                    true => residuals(&shares, &truths, 0.5, &mut margins, &mut found),
                    false => portable::residuals(&shares, &truths, 0.5, &mut margins, &mut found),
                }
                (margins, found)
            };
            let (margins, found) = run(true);
            assert_eq!((&margins, &found), (&run(false).0, &run(false).1));
            for place in 0..count {
                let margin: f32 = shares.iter().skip(place).step_by(count).sum();
                let probability = 1.0 / (1.0 + f64::from(-margin).exp());
                let expected = 0.5 * (probability - f64::from(truths[place]));
                assert!((margins[place] - margin).abs() < 1e-5);
                assert!((f64::from(found[place]) - expected).abs() < 1e-6);
            }
        }
    }
}
