//! One rank of a split network: what it owns, and what it is told.

use std::time::Instant;

use bytemuck::{cast_slice, cast_slice_mut};
use serde::{Deserialize, Serialize};
use trainwright_comm::Group;
use trainwright_networks::{BatchScore, Network, Team};
use trainwright_records::pipeline::PictureUse;
use trainwright_study::{JobSpec, JobSplit, Seed};

use super::circle::{Circle, share};
use super::grid::{Examples, Grid};
use super::refused;
use super::segment::{ELSEWHERE, Places, Room, Segment, plan};
use super::stages::{Stage, in_flight};
use super::wire::Wire;
use crate::account::{Account, Told};
use crate::error::TrainError;
use crate::events::{Activity, RankTimes};
use crate::input::batches::View;
use crate::input::{Feed, Pictures, SetPart};
use crate::learners::dense::CHANGES;
use crate::learners::described::network_of;
use crate::train::stretch::{Chosen, PlannedStep, StepResult};

/// Most bytes of an order or an account.
const LONGEST_ORDER: usize = 1 << 24;

/// Tags of parameters on their way to rank 0.
const COLLECT: u64 = 0x53;

/// What rank 0 tells the others.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    Begin,
    Step { epoch: u32, chosen: Vec<u32>, rate: f64 },
    Collect,
    Account,
    End,
}

/// A rank with its layers and examples.
pub(crate) struct SplitRank<'a> {
    wire: Wire,
    whole: Network,
    work: Work,
    feed: Feed<'a>,
    team: Team,
    /// Place among the ranks that share the examples of a step.
    data: (usize, usize),
    label_smoothing: f32,
    clips: bool,
    changes: Seed,
    /// On rank 0: where the parameters of each rank lie.
    places: Vec<Places>,
    steps: u64,
    pub(super) account: Account,
}

enum Work {
    Grid(Grid),
    Stage(Box<Stage>),
}

impl Work {
    fn segments(&mut self) -> &mut [Segment] {
        match self {
            Self::Grid(own) => &mut own.segments,
            Self::Stage(own) => std::slice::from_mut(&mut own.segment),
        }
    }
}

impl<'a> SplitRank<'a> {
    /// A rank of a job before its first step.
    ///
    /// # Errors
    /// When the network cannot be split so.
    pub(crate) fn new(
        group: Group,
        (job, split): (&JobSpec, &JobSplit),
        pictures: &'a Pictures,
        largest_batch: usize,
    ) -> Result<Self, TrainError> {
        check(job, split, group.size())?;
        let whole = network_of(job, pictures)?;
        let data = split.data as usize;
        let examples = largest_batch.div_ceil(data);
        let (work, place) = match &split.pipeline {
            Some(_) => stage(job, split, (&whole, group.rank()), examples)?,
            None => grid(job, split, (&whole, group.rank()), examples)?,
        };
        Ok(Self {
            feed: pictures.feed(SetPart::Train, examples, &whole)?,
            team: Team::new(1)?,
            wire: Wire::new(group),
            whole,
            work,
            data: (place, data),
            label_smoothing: job.label_smoothing as f32,
            clips: job.clip_norm.is_some(),
            changes: Seed::new(job.seed).derive(CHANGES),
            places: Vec::new(),
            steps: 0,
            account: Account::new(),
        })
    }

    /// Gives all ranks the parameters to begin with.
    ///
    /// # Errors
    /// When one is lost.
    pub(super) fn begin(&mut self, parameters: &[f32]) -> Result<(), TrainError> {
        self.tell(&Order::Begin)?;
        let mut parameters = parameters.to_vec();
        self.take_parameters(&mut parameters)
    }

    fn take_parameters(&mut self, parameters: &mut [f32]) -> Result<(), TrainError> {
        self.wire.group.broadcast(parameters, 0)?;
        let Self { work, whole, .. } = self;
        work.segments().iter_mut().for_each(|segment| segment.take(whole, parameters));
        let mut own: Places = Vec::new();
        // Copies have what the first of them has.
        if self.data.0 == 0 {
            work.segments().iter().for_each(|segment| own.extend(segment.places_in(whole)));
        }
        let all = self.wire.group.all_gather_bytes(cast_slice(&own), 4 * parameters.len() + 4)?;
        let numbers = |bytes: &Vec<u8>| -> Places {
            let each = bytes.chunks_exact(4).map(|four| four.try_into().expect("four bytes"));
            each.map(u32::from_le_bytes).collect()
        };
        if self.wire.group.rank() == 0 {
            self.places = all.iter().map(numbers).collect();
        }
        Ok(())
    }

    /// Follows the orders of rank 0 until the end.
    ///
    /// # Errors
    /// When an example cannot be read, or another rank is lost.
    pub(crate) fn follow(mut self) -> Result<(), TrainError> {
        loop {
            let (mut text, waits) = (Vec::new(), Instant::now());
            self.wire.group.broadcast_bytes(&mut text, 0, LONGEST_ORDER)?;
            self.account.spent(Activity::Idle, waits, waits.elapsed());
            match serde_json::from_slice(&text).map_err(|_| TrainError::UnknownOrder)? {
                Order::Begin => {
                    let mut parameters = vec![0.0; self.whole.parameter_count()];
                    self.take_parameters(&mut parameters)?;
                }
                Order::Step { epoch, chosen, rate } => drop(self.step(epoch, &chosen, rate)?),
                Order::Collect => self.hand_in()?,
                Order::Account => drop(self.accounts()?),
                Order::End => return Ok(()),
            }
        }
    }

    /// Sends the other ranks home.
    ///
    /// # Errors
    /// When one is lost.
    pub(super) fn dismiss(&mut self) -> Result<(), TrainError> {
        self.tell(&Order::End)
    }

    fn tell(&mut self, order: &Order) -> Result<(), TrainError> {
        let mut text = serde_json::to_vec(order).expect("numbers become JSON");
        Ok(self.wire.group.broadcast_bytes(&mut text, 0, LONGEST_ORDER)?)
    }

    /// Makes a step as rank 0.
    ///
    /// # Errors
    /// When an example cannot be read, or another rank is lost.
    pub(super) fn lead_step(
        &mut self,
        planned: PlannedStep,
        chosen: Chosen<'_>,
    ) -> Result<StepResult, TrainError> {
        let (epoch, rate) = (chosen.epoch, planned.rate);
        self.tell(&Order::Step { epoch, chosen: chosen.now.to_vec(), rate })?;
        let score = self.step(epoch, chosen.now, rate)?;
        Ok(StepResult { score, norms: None })
    }

    /// This rank's part of a step, and the score of all.
    fn step(&mut self, epoch: u32, chosen: &[u32], rate: f64) -> Result<BatchScore, TrainError> {
        let Self { wire, whole, work, feed, team, data, label_smoothing, changes, .. } = self;
        self.steps += 1;
        self.account.step(self.steps);
        let begun = Instant::now();
        let own = &chosen[share(chosen.len(), data.1, data.0)];
        let wanted = PictureUse::Learning { epoch: epoch.into() };
        feed.foretell(own, 0, &Vec::new, wanted)?;
        let batch = feed.batch(own, View::Learned(changes.derive(epoch.into())), team)?;
        whole.check_inputs(batch.inputs)?;
        self.account.spent(Activity::InputWait, begun, begun.elapsed());
        let begun = Instant::now();
        let examples = Examples {
            inputs: batch.inputs,
            labels: batch.labels,
            of: chosen.len(),
            label_smoothing: *label_smoothing,
        };
        let (score, counts) = match work {
            Work::Grid(own) => (own.learn(wire, whole, &examples)?, own.row.place == 0),
            Work::Stage(own) => (own.learn(wire, whole, &examples)?, own.after.is_none()),
        };
        wire.account_for(begun, &mut self.account);
        work.segments().iter_mut().for_each(Segment::clear_foreign);
        let norm = if self.clips { Some(self.norm()?) } else { None };
        let Self { work, account, .. } = self;
        account.timed(Activity::Update, || {
            work.segments().iter_mut().for_each(|segment| segment.update(rate, norm));
        });
        let score = if counts { score } else { BatchScore::default() };
        self.total(score)
    }

    /// The scores of all ranks together.
    fn total(&mut self, score: BatchScore) -> Result<BatchScore, TrainError> {
        let own = [score.loss_sum, score.correct as f64, score.examples as f64];
        let mut total = BatchScore::default();
        for numbers in self.all_numbers(&own)? {
            let (correct, examples) = (numbers[1] as usize, numbers[2] as usize);
            total.add(BatchScore { loss_sum: numbers[0], correct, examples });
        }
        Ok(total)
    }

    /// The length of all gradients together.
    fn norm(&mut self) -> Result<f64, TrainError> {
        let Self { work, account, .. } = self;
        let own: f64 = account
            .timed(Activity::Update, || work.segments().iter_mut().map(Segment::squared).sum());
        // Copies have what the first of them has.
        let own = if self.data.0 == 0 { own } else { 0.0 };
        Ok(self.all_numbers(&[own])?.iter().map(|numbers| numbers[0]).sum::<f64>().sqrt())
    }

    /// Some numbers of every rank.
    fn all_numbers(&mut self, own: &[f64]) -> Result<Vec<Vec<f64>>, TrainError> {
        let Self { wire, account, .. } = self;
        let all = account
            .timed(Activity::Communication, || wire.group.all_gather_bytes(cast_slice(own), 64))?;
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(all.iter().map(|bytes| bytes.chunks_exact(8).map(number).collect()).collect())
    }

    /// What all ranks did with their time and memory, on rank 0's order.
    fn accounts(&mut self) -> Result<Vec<Told>, TrainError> {
        let sums = match &self.work {
            Work::Grid(_) => 0,
            Work::Stage(own) => own.sum_bytes(),
        };
        let sums = sums + self.wire.spare_bytes();
        let bytes = sums + self.work.segments().iter_mut().map(Segment::bytes).sum::<usize>();
        let (told, moved) = (self.account.told(), self.wire.group.traffic());
        let times = RankTimes {
            rank: self.wire.group.rank(),
            bytes_sent: moved.sent,
            bytes_received: moved.received,
            messages: moved.messages,
            memory_bytes: Some(bytes as u64),
            ..told.times
        };
        let text = serde_json::to_vec(&Told { times, ..told }).expect("numbers become JSON");
        let all = self.wire.group.all_gather_bytes(&text, LONGEST_ORDER)?;
        let read = |text: &Vec<u8>| serde_json::from_slice(text).ok();
        all.iter().map(|text| read(text).ok_or(TrainError::UnknownOrder)).collect()
    }

    /// The same as rank 0.
    ///
    /// # Errors
    /// When a rank is lost.
    pub(super) fn lead_accounts(&mut self) -> Result<Vec<Told>, TrainError> {
        self.tell(&Order::Account)?;
        self.accounts()
    }

    fn hand_in(&mut self) -> Result<(), TrainError> {
        let own = self.own_parameters();
        match own.is_empty() {
            true => Ok(()),
            false => Ok(self.wire.group.send(0, COLLECT, cast_slice(&own))?),
        }
    }

    /// The parameters of all segments, where this rank tells them.
    fn own_parameters(&mut self) -> Vec<f32> {
        if self.data.0 > 0 {
            return Vec::new();
        }
        let segments = self.work.segments().iter();
        segments.flat_map(|segment| segment.parameters.iter().copied()).collect()
    }

    /// Puts the parameters of all ranks together, on rank 0. The time counts to the scoring that they
    /// are wanted for.
    ///
    /// # Errors
    /// When one is lost.
    pub(super) fn collect(&mut self, parameters: &mut [f32]) -> Result<(), TrainError> {
        self.tell(&Order::Collect)?;
        for rank in 0..self.wire.group.size() {
            let values = match rank {
                0 => self.own_parameters(),
                _ => {
                    let mut values = vec![0.0; self.places[rank].len()];
                    if !values.is_empty() {
                        self.wire.group.receive(rank, COLLECT, cast_slice_mut(&mut values))?;
                    }
                    values
                }
            };
            let places = self.places[rank].iter().zip(values);
            for (&place, value) in places.filter(|(place, _)| **place != ELSEWHERE) {
                parameters[place as usize] = value;
            }
        }
        Ok(())
    }
}

/// Refuses what a split job cannot do.
fn check(job: &JobSpec, split: &JobSplit, ranks: usize) -> Result<(), TrainError> {
    if split.ranks() as usize != ranks {
        return Err(refused(format!("it is for {} ranks, not {ranks}", split.ranks())));
    }
    if job.freeze.is_some() {
        return Err(refused("layers of a split network are not frozen; leave --freeze out"));
    }
    Ok(())
}

/// The layers of a rank on a grid, and its place among those that share examples.
fn grid(
    job: &JobSpec,
    split: &JobSplit,
    (whole, rank): (&Network, usize),
    examples: usize,
) -> Result<(Work, usize), TrainError> {
    let (data, tensor) = (split.data as usize, split.tensor as usize);
    let (row, place) = (rank / tensor, rank % tensor);
    let plans = plan(whole, &split.layers, tensor, &[])?;
    let room = Room { place, places: tensor, examples, workspaces: 1 };
    let segments = plans.iter().enumerate().map(|(at, own)| own.build(job, room, at == 0));
    let grid = Grid {
        segments: segments.collect::<Result<_, _>>()?,
        row: Circle { ranks: (row * tensor..(row + 1) * tensor).collect(), place },
        column: Circle { ranks: (0..data).map(|at| at * tensor + place).collect(), place: row },
    };
    Ok((Work::Grid(grid), row))
}

/// The layers of a stage, and its place among those that share examples.
fn stage(
    job: &JobSpec,
    split: &JobSplit,
    (whole, rank): (&Network, usize),
    examples: usize,
) -> Result<(Work, usize), TrainError> {
    let Some(pipeline) = &split.pipeline else { return Err(refused("it has no stages")) };
    let (data, stages) = (split.data as usize, pipeline.begins.len());
    let (number, place) = (rank / data, rank % data);
    let plans = plan(whole, &[], 1, &pipeline.begins)?;
    if plans.len() != stages {
        let reason = format!("it has {stages} stages, of which the network has {}", plans.len());
        return Err(refused(reason));
    }
    let micro_batches = (pipeline.micro_batches as usize).max(1);
    let room = Room {
        place: 0,
        places: 1,
        examples: examples.div_ceil(micro_batches),
        workspaces: in_flight(pipeline.order, stages, number, micro_batches),
    };
    let stage = Stage {
        segment: plans[number].build(job, room, number == 0)?,
        number,
        stages,
        micro_batches,
        order: pipeline.order,
        before: (number > 0).then(|| rank - data),
        after: (number + 1 < stages).then(|| rank + data),
        column: Circle { ranks: (number * data..(number + 1) * data).collect(), place },
        sum: None,
    };
    Ok((Work::Stage(Box::new(stage)), place))
}
