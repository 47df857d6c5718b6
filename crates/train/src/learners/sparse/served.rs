//! A sparse model whose cells are with servers.
//!
//! Rows go to servers in turn (row modulo servers), because they are numbered by how often they
//! come: in contiguous pieces the first server would have nearly all the work.

use std::time::Duration;

use trainwright_comm::{Gradients, Owner, Push};
use trainwright_networks::{
    BatchScore, RowFinder, SparseBatch, SparseGradients, SparseLogistic, SparsePiece, SparseRule,
    Team,
};
use trainwright_study::{JobSpec, Seed};

use super::{SparseLearner, SparseSplits, rule_of};
use crate::error::TrainError;
use crate::learners::served::{Pupil, Served, Work};

/// Numbers that are kept of a row.
const KEPT: usize = 3;

/// Rows of a sparse model that a server owns.
pub(crate) struct OwnedRows {
    piece: SparsePiece,
    rows: Vec<u32>,
    gradients: Vec<f32>,
}

impl OwnedRows {
    /// Those of one of so many servers, of a model with so many rows.
    pub(crate) fn new(job: &JobSpec, rows: usize, server: usize, servers: usize) -> Self {
        let piece = SparsePiece::new(rule_of(job), rows_of(rows, server, servers));
        Self { piece, rows: Vec::new(), gradients: Vec::new() }
    }
}

impl Owner for OwnedRows {
    fn read(&self, rows: Option<&[u32]>, into: &mut Vec<f32>) {
        match rows {
            Some(rows) => into.extend(rows.iter().map(|row| self.piece.weight(*row))),
            None => into.extend((0..self.piece.rows() as u32).map(|row| self.piece.weight(row))),
        }
    }

    fn has_rows(&self, rows: &[u32]) -> bool {
        rows.iter().all(|row| (*row as usize) < self.piece.rows())
    }

    fn admits(&self, push: &Push<'_>) -> bool {
        push.rows.len() == push.values.len() && self.has_rows(push.rows)
    }

    fn sum(&mut self, gradients: &Gradients<'_>) {
        self.rows.clear();
        self.gradients.clear();
        for push in &gradients.pushes {
            self.rows.extend_from_slice(push.rows);
            self.gradients.extend_from_slice(push.values);
        }
    }

    fn squares(&mut self) -> Vec<f64> {
        Vec::new()
    }

    fn update(&mut self, rate: f64, _: Option<f64>) {
        let Self { piece, rows, gradients } = self;
        piece.update(rows.iter().copied().zip(gradients.iter().copied()), rate);
    }

    fn store(&mut self, into: &mut Vec<f32>) {
        self.piece.store(into);
    }

    fn load(&mut self, values: &[f32]) -> bool {
        let fits = values.len() == KEPT * self.piece.rows();
        if fits {
            self.piece.load(values);
        }
        fits
    }
}

/// Computes the gradients of a sparse model whose cells are with servers.
pub(crate) struct SparsePupil<'a> {
    splits: &'a SparseSplits,
    /// The weights that were last pulled.
    model: SparseLogistic,
    finder: RowFinder,
    /// Rows that were asked for, by server and as servers count them.
    wanted: Vec<Vec<u32>>,
    gradients: SparseGradients,
    /// Gradients by server.
    pushes: Vec<SparseGradients>,
    team: Team,
}

impl<'a> SparsePupil<'a> {
    /// A worker's side of the model of a job.
    ///
    /// # Errors
    /// When the system does not give the threads.
    pub(crate) fn new(
        job: &JobSpec,
        splits: &'a SparseSplits,
        servers: usize,
    ) -> Result<Self, TrainError> {
        Ok(Self {
            splits,
            model: SparseLogistic::new(SparseRule::Sgd, splits.order.clone()),
            finder: RowFinder::new(&splits.order),
            wanted: vec![Vec::new(); servers],
            gradients: SparseGradients::default(),
            pushes: vec![SparseGradients::default(); servers],
            team: Team::new(job.threads as usize)?,
        })
    }
}

impl Pupil for SparsePupil<'_> {
    fn examples(&self) -> usize {
        self.splits.train.len()
    }

    fn order(&self, _: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        seed.shuffled(pool.to_vec())
    }

    fn look_at(&mut self, work: &Work<'_>) {
        let Self { splits, finder, wanted, .. } = self;
        wanted.iter_mut().for_each(Vec::clear);
        let servers = wanted.len() as u32;
        finder.find(&splits.train, own(work), |row| {
            wanted[(row % servers) as usize].push(row / servers);
        });
    }

    fn wanted(&self) -> Option<&[Vec<u32>]> {
        Some(&self.wanted)
    }

    fn take(&mut self, server: usize, values: &[f32]) -> Result<(), TrainError> {
        let (rows, servers) = (&self.wanted[server], self.wanted.len() as u32);
        if rows.len() != values.len() {
            return Err(TrainError::UnknownOrder);
        }
        let weights = rows.iter().zip(values);
        self.model.set_weights(weights.map(|(row, value)| (row * servers + server as u32, *value)));
        Ok(())
    }

    fn learn(&mut self, work: &Work<'_>) -> Result<BatchScore, TrainError> {
        let Self { splits, model, gradients, pushes, team, .. } = self;
        let batch = SparseBatch { set: &splits.train, chosen: own(work), next: &[] };
        gradients.rows.clear();
        gradients.values.clear();
        let mut score = BatchScore::default();
        if !batch.chosen.is_empty() {
            score = model.gradients(batch, work.now.len(), team, gradients);
        }
        let servers = pushes.len() as u32;
        for push in pushes.iter_mut() {
            push.rows.clear();
            push.values.clear();
        }
        for (row, value) in gradients.rows.iter().zip(&gradients.values) {
            let push = &mut pushes[(row % servers) as usize];
            push.rows.push(row / servers);
            push.values.push(*value);
        }
        Ok(score)
    }

    fn push(&self, server: usize) -> (&[u32], &[f32]) {
        let SparseGradients { rows, values } = &self.pushes[server];
        (rows, values)
    }

    fn waited(&self) -> Duration {
        Duration::ZERO
    }
}

impl Served for SparseLearner<'_> {
    fn leaves(&self, _: usize, parts: usize) -> usize {
        parts
    }

    fn hand_out(&mut self, servers: usize) -> Vec<Vec<f32>> {
        let mut all = Vec::new();
        self.model.store_rows(&mut all);
        let mut parts = vec![Vec::new(); servers];
        for (row, kept) in all.chunks_exact(KEPT).enumerate() {
            parts[row % servers].extend_from_slice(kept);
        }
        parts
    }

    fn take_back(&mut self, stored: &[Vec<f32>]) -> Result<(), TrainError> {
        let (rows, servers) = (self.splits.rows(), stored.len());
        let fits =
            |(server, own): (usize, &Vec<f32>)| own.len() == KEPT * rows_of(rows, server, servers);
        if !stored.iter().enumerate().all(fits) {
            return Err(TrainError::UnknownOrder);
        }
        let mut all = Vec::with_capacity(KEPT * rows);
        for row in 0..rows {
            let at = KEPT * (row / servers);
            all.extend_from_slice(&stored[row % servers][at..at + KEPT]);
        }
        self.model.load_rows(&all);
        Ok(())
    }
}

/// How many of so many rows one of the servers has.
fn rows_of(rows: usize, server: usize, servers: usize) -> usize {
    (rows + servers - 1 - server) / servers
}

/// The examples of a share.
fn own<'a>(work: &Work<'a>) -> &'a [u32] {
    let end = |part: usize| part * work.now.len() / work.parts;
    &work.now[end(work.part)..end(work.part + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_round_and_every_server_has_its_share() {
        for (rows, servers) in [(10, 3), (1, 4), (8, 4), (0, 2)] {
            let counted: Vec<usize> = (0..servers)
                .map(|own| (0..rows).filter(|row| row % servers == own).count())
                .collect();
            let told: Vec<usize> = (0..servers).map(|own| rows_of(rows, own, servers)).collect();
            assert_eq!(told, counted, "{rows} rows, {servers} servers");
        }
    }

    #[test]
    fn the_shares_of_a_step_have_each_of_its_examples_once() {
        let now: Vec<u32> = (0..7).collect();
        for parts in 1..10 {
            let share =
                |part| Work { epoch: 1, step: 1, now: &now, next: &[], part, parts, apart: false };
            let all: Vec<u32> = (0..parts).flat_map(|part| own(&share(part)).to_vec()).collect();
            assert_eq!(all, now);
        }
    }
}
