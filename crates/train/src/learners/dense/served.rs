//! A network whose parameters are with servers.
//!
//! A server's numbers are its piece of the parameters; the first has the state too. A push has the
//! nodes of the worker's micro-batches for that piece, for the first server followed by what each
//! micro-batch says of the state.

use std::time::Duration;

use trainwright_comm::{Gradients, LeafTree, Owner, Pieces, Push};
use trainwright_networks::{
    BatchScore, NORM_BLOCK, Network, Numbers, Team, clip_to_norm, squares_of_blocks,
};
use trainwright_study::{Consistency, JobSpec, Seed};

use super::DenseLearner;
use super::memory::{steps_to_words, words_to_steps};
use super::micro_batches::{MicroBatches, Place};
use super::replica::{Leaves, Model};
use super::updater::Updater;
use crate::error::TrainError;
use crate::input::{Pictures, SetPart};
use crate::learners::learner::Look;
use crate::learners::served::{Pupil, Served, Work};
use crate::train::stretch::Chosen;

/// The piece of a network's parameters that a server owns.
pub(crate) struct DensePiece {
    network: Network,
    parameters: Numbers,
    /// On the first server; else empty.
    state: Vec<f32>,
    updater: Updater,
    summed: Numbers,
    /// What the micro-batches of the step that was added up say of the state, in their order.
    statistics: Vec<f32>,
    team: Team,
}

impl DensePiece {
    /// The piece of one of so many servers.
    ///
    /// # Errors
    /// When the network cannot be built.
    pub(crate) fn new(
        job: &JobSpec,
        pictures: &Pictures,
        server: usize,
        servers: usize,
    ) -> Result<Self, TrainError> {
        let network = super::checked_network(job, pictures)?;
        let piece = pieces(network.parameter_count(), servers).range(server);
        let state = if server == 0 { network.initial_state() } else { Vec::new() };
        Ok(Self {
            parameters: Numbers::zeros(piece.len()),
            summed: Numbers::zeros(piece.len()),
            updater: Updater::new(job, network.tensors(), piece),
            state,
            statistics: Vec::new(),
            team: Team::new(1)?,
            network,
        })
    }
}

impl Owner for DensePiece {
    fn read(&self, _: Option<&[u32]>, into: &mut Vec<f32>) {
        into.extend_from_slice(&self.parameters);
        into.extend_from_slice(&self.state);
    }

    fn has_rows(&self, rows: &[u32]) -> bool {
        rows.is_empty()
    }

    fn admits(&self, push: &Push<'_>) -> bool {
        let nodes = LeafTree::new(push.leaves).nodes_of(push.part, push.parts).len();
        let told = push.values.len().checked_sub(nodes * self.parameters.len());
        let of_state = |told: usize| match self.state.len() {
            0 => told == 0,
            state => told.is_multiple_of(state),
        };
        push.rows.is_empty() && told.is_some_and(of_state)
    }

    fn sum(&mut self, gradients: &Gradients<'_>) {
        let length = self.parameters.len();
        let tree = LeafTree::new(gradients.leaves);
        let (mut nodes, parts) = (Vec::new(), gradients.pushes.len());
        self.statistics.clear();
        for (part, push) in gradients.pushes.iter().enumerate() {
            let (own, told) = push.values.split_at(tree.nodes_of(part, parts).len() * length);
            nodes.extend(own.chunks_exact(length.max(1)));
            self.statistics.extend_from_slice(told);
        }
        if length > 0 {
            tree.add_up(parts, &nodes, &mut self.summed);
        }
    }

    fn squares(&mut self) -> Vec<f64> {
        squares_of_blocks(&self.summed, &mut self.team)
    }

    fn update(&mut self, rate: f64, norm: Option<f64>) {
        let Self { parameters, summed, updater, team, .. } = self;
        updater.update_piece(parameters, summed, (rate, norm), team);
        if !self.state.is_empty() {
            for told in self.statistics.chunks_exact(self.state.len()) {
                self.network.fold_statistics(&mut self.state, told);
            }
        }
    }

    fn store(&mut self, into: &mut Vec<f32>) {
        into.extend_from_slice(&self.parameters);
        let memory = self.updater.optimizer().memory();
        memory.slots.iter().for_each(|slot| into.extend_from_slice(slot.1));
        into.extend(steps_to_words(memory.steps.map_or(0, |steps| *steps)));
        into.extend_from_slice(&self.state);
    }

    fn load(&mut self, mut values: &[f32]) -> bool {
        let memory = self.updater.optimizer().memory();
        let length = self.parameters.len();
        if values.len() != (1 + memory.slots.len()) * length + STEPS + self.state.len() {
            return false;
        }
        let mut next = |count: usize| {
            let (own, rest) = values.split_at(count);
            values = rest;
            own
        };
        self.parameters.copy_from_slice(next(length));
        for (_, slot) in memory.slots {
            slot.copy_from_slice(next(length));
        }
        let steps = words_to_steps(next(STEPS));
        if let Some(own) = memory.steps {
            *own = steps;
        }
        let state = self.state.len();
        self.state.copy_from_slice(next(state));
        true
    }
}

/// Computes the gradients of a network whose parameters are with servers.
pub(crate) struct DensePupil<'a> {
    learner: DenseLearner<'a>,
    pieces: Pieces,
    micro_batch: Option<usize>,
    /// Where this worker makes whole steps alone, and must clip them.
    clip_norm: Option<f64>,
    pushes: Vec<Vec<f32>>,
    whole: Numbers,
}

impl<'a> DensePupil<'a> {
    /// A worker's copy of the network of a job.
    ///
    /// # Errors
    /// When the network cannot be built.
    pub(crate) fn new(
        job: &JobSpec,
        pictures: &'a Pictures,
        largest_batch: usize,
        servers: usize,
    ) -> Result<Self, TrainError> {
        let learner = DenseLearner::new(job, pictures, largest_batch)?;
        let count = learner.parameters.len();
        // Of steps that several make, the leader knows the norm.
        let clip_norm = job.clip_norm.filter(|_| job.consistency == Consistency::Async);
        Ok(Self {
            pieces: pieces(count, servers),
            micro_batch: job.micro_batch.map(|size| size as usize),
            clip_norm,
            pushes: vec![Vec::new(); servers],
            whole: Numbers::zeros(if clip_norm.is_some() { count } else { 0 }),
            learner,
        })
    }

    /// Cuts the gradients of a share into what each server gets.
    fn cut_up(&mut self, cut: MicroBatches, place: Place, apart: bool) {
        let Self { learner, pieces, pushes, clip_norm, whole, .. } = self;
        let nodes = learner.replica.nodes(&cut.of(place));
        // A share of nothing is a gradient of 0 where every share is a leaf.
        let nothing = apart && nodes.is_empty();
        for (server, push) in pushes.iter_mut().enumerate() {
            let piece = pieces.range(server);
            push.clear();
            if nothing {
                push.resize(piece.len(), 0.0);
            } else if clip_norm.is_none() {
                nodes.iter().for_each(|node| push.extend_from_slice(&node[piece.clone()]));
            }
        }
        if let Some(limit) = *clip_norm {
            // The gradients of a whole step, clipped as one device does.
            whole.copy_from_slice(nodes[0]);
            let team = learner.replica.workspace().team();
            let squared: f64 = squares_of_blocks(whole, team).iter().sum();
            clip_to_norm(whole, squared.sqrt(), limit, team);
            for (server, push) in pushes.iter_mut().enumerate() {
                push.extend_from_slice(&whole[pieces.range(server)]);
            }
        }
    }
}

impl Pupil for DensePupil<'_> {
    fn examples(&self) -> usize {
        self.learner.pictures.len(SetPart::Train)
    }

    fn order(&self, epoch: u32, seed: Seed, pool: &[u32]) -> Vec<u32> {
        self.learner.pictures.order(epoch, seed, pool)
    }

    fn look_at(&mut self, _: &Work<'_>) {}

    fn wanted(&self) -> Option<&[Vec<u32>]> {
        None
    }

    fn take(&mut self, server: usize, values: &[f32]) -> Result<(), TrainError> {
        let piece = self.pieces.range(server);
        let state = if server == 0 { self.learner.state.len() } else { 0 };
        if values.len() != piece.len() + state {
            return Err(TrainError::UnknownOrder);
        }
        let (parameters, state) = values.split_at(piece.len());
        self.learner.parameters[piece].copy_from_slice(parameters);
        if server == 0 {
            self.learner.state.copy_from_slice(state);
        }
        Ok(())
    }

    fn learn(&mut self, work: &Work<'_>) -> Result<BatchScore, TrainError> {
        let place = Place { rank: work.part, ranks: work.parts };
        let cut = MicroBatches::new(work.now.len(), self.micro_batch, work.parts, Look::No);
        let leaves = if work.apart { Leaves::Own } else { Leaves::OfStep };
        let DenseLearner { network, parameters, state, replica, .. } = &mut self.learner;
        let Work { epoch, step, now, next, .. } = *work;
        replica.stand(place, leaves);
        let model = Model { network, parameters, state };
        let told = replica.learn(model, Chosen { epoch, step, now, next }, Look::No)?;
        let mut score = BatchScore::default();
        told.iter().for_each(|own| score.add(own.score));
        self.cut_up(cut, place, work.apart);
        for own in &told {
            self.pushes[0].extend_from_slice(&own.statistics);
        }
        Ok(score)
    }

    fn push(&self, server: usize) -> (&[u32], &[f32]) {
        (&[], &self.pushes[server])
    }

    fn waited(&self) -> Duration {
        self.learner.replica.waited()
    }
}

impl Served for DenseLearner<'_> {
    fn leaves(&self, examples: usize, parts: usize) -> usize {
        self.replica.cut_for(examples, parts).count()
    }

    fn hand_out(&mut self, servers: usize) -> Vec<Vec<f32>> {
        let pieces = pieces(self.parameters.len(), servers);
        let memory = self.updater.optimizer().memory();
        let steps = steps_to_words(memory.steps.map_or(0, |steps| *steps));
        let part = |server: usize| {
            let piece = pieces.range(server);
            let mut values = self.parameters[piece.clone()].to_vec();
            for (_, slot) in &memory.slots {
                values.extend_from_slice(&slot[piece.clone()]);
            }
            values.extend(steps);
            if server == 0 {
                values.extend_from_slice(&self.state);
            }
            values
        };
        (0..servers).map(part).collect()
    }

    fn take_back(&mut self, stored: &[Vec<f32>]) -> Result<(), TrainError> {
        let pieces = pieces(self.parameters.len(), stored.len());
        let mut memory = self.updater.optimizer().memory();
        for (server, mut values) in stored.iter().map(|own| &own[..]).enumerate() {
            let piece = pieces.range(server);
            let state = if server == 0 { self.state.len() } else { 0 };
            if values.len() != (1 + memory.slots.len()) * piece.len() + STEPS + state {
                return Err(TrainError::UnknownOrder);
            }
            let mut next = |count: usize| {
                let (own, rest) = values.split_at(count);
                values = rest;
                own
            };
            self.parameters[piece.clone()].copy_from_slice(next(piece.len()));
            for (_, slot) in &mut memory.slots {
                slot[piece.clone()].copy_from_slice(next(piece.len()));
            }
            let steps = words_to_steps(next(STEPS));
            if let Some(own) = &mut memory.steps {
                **own = steps;
            }
            if server == 0 {
                self.state.copy_from_slice(next(state));
            }
        }
        // There is no other rank that would have to be given it.
        self.handed_over = true;
        Ok(())
    }
}

impl DenseLearner<'_> {
    /// Parameters and state of the network of a job; none where it cannot be built.
    pub(crate) fn numbers(job: &JobSpec, pictures: &Pictures) -> usize {
        super::checked_network(job, pictures)
            .map_or(0, |network| network.parameter_count() + network.initial_state().len())
    }
}

/// The pieces that servers own, as ranks that share the work would.
fn pieces(parameters: usize, servers: usize) -> Pieces {
    Pieces::new(parameters, servers, NORM_BLOCK)
}

/// Numbers that the steps of an optimiser are kept in.
const STEPS: usize = 4;
