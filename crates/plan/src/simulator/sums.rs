//! Sums of gradients: shards of a parameter group, who holds them, and their tasks.
//!
//! A group's weights are cut as finely as any of its operators cuts them. The holders of a shard
//! add up its gradients when the operators of all its parts are done, then update it.

use crate::problem::{Problem, Sharding, Sums, Updating, range_of_part};
use crate::simulator::arena::{Arena, Block};
use crate::simulator::served::Work;
use crate::simulator::shape::Shape;
use crate::simulator::task::{Kind, Task};

/// The shards of a group as its operators are split now.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupSums {
    /// Cuts along the two axes of the weights.
    pub(super) cuts: (u16, u16),
    pub(super) shards: Vec<Shard>,
    /// Holders of all shards, one after another.
    holders: Vec<u16>,
    /// Bytes of weights, gradients and the optimiser's numbers on each device.
    pub(super) weights: Vec<u64>,
    pub(super) gradients: Vec<u64>,
    pub(super) optimizer: Vec<u64>,
    /// Bytes that are there besides on each device while the weights are used, where they are cut
    /// over their holders.
    pub(super) gathered: Vec<u64>,
    /// Nanoseconds from a gradient to the end of the step, at least.
    pub(super) after: u64,
    /// The same from the end of any of its tasks on links; none where there are none.
    pub(super) after_link: Option<u64>,
}

/// One shard: joins at the first three places of its block, then sums, updates, handing out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shard {
    pub(super) block: Block,
    /// Backward tasks that it waits for.
    pub(super) waits: u32,
    pub(super) sums: u16,
    pub(super) updates: u16,
    pub(super) hand_outs: u16,
    /// Nanoseconds of its slowest sum, update and handing out together.
    after: u64,
    /// Those of its slowest update.
    update: u64,
    first_holder: u32,
    holders: u16,
}

/// Tasks of joins at the beginning of a shard's block.
pub(super) const JOINS: u32 = 3;

impl Shard {
    pub(super) fn gathered(&self) -> u32 {
        self.block.base
    }

    pub(super) fn summed(&self) -> u32 {
        self.block.base + 1
    }

    pub(super) fn updated(&self) -> u32 {
        self.block.base + 2
    }

    pub(super) fn sum_tasks(&self) -> std::ops::Range<u32> {
        let first = self.block.base + JOINS;
        first..first + u32::from(self.sums)
    }

    pub(super) fn update_tasks(&self) -> std::ops::Range<u32> {
        let first = self.sum_tasks().end;
        first..first + u32::from(self.updates)
    }

    pub(super) fn hand_out_tasks(&self) -> std::ops::Range<u32> {
        let first = self.update_tasks().end;
        first..first + u32::from(self.hand_outs)
    }

    /// Nanoseconds from the end of any of its tasks on links to the end of the step, at least; none
    /// where there are none.
    fn after_link(&self) -> Option<u64> {
        match (self.sums, self.hand_outs) {
            (0, 0) => None,
            // Sums are followed by the updates, handing out by nothing.
            (_, 0) => Some(self.update),
            _ => Some(0),
        }
    }

    /// All that take time.
    pub(super) fn timed_tasks(&self) -> std::ops::Range<u32> {
        self.sum_tasks().start..self.hand_out_tasks().end
    }
}

/// Shards of one axis that a part covers.
pub(super) fn covered(all: u16, degree: u16, place: u16) -> std::ops::Range<u16> {
    let each = all / degree;
    place * each..(place + 1) * each
}

impl GroupSums {
    fn holders_of(&self, shard: &Shard) -> &[u16] {
        let first = shard.first_holder as usize;
        &self.holders[first..first + shard.holders as usize]
    }
}

fn least_common_multiple(a: u16, b: u16) -> u16 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// Numbers that are counted again for each group, kept to spare allocations.
#[derive(Debug, Default)]
pub(super) struct SumsScratch {
    counts: Vec<u32>,
    timed: Vec<(Kind, u32, u64)>,
}

/// Makes the shards of a group anew; those that have the same holders as before keep their tasks.
/// Blocks that are no longer used are pushed to `unused`, new ones to `made`.
pub(super) fn rebuild(
    shape: &Shape<'_>,
    group: usize,
    (old, new): (&GroupSums, &mut GroupSums),
    arena: &mut Arena,
    scratch: &mut SumsScratch,
    (made, unused): (&mut Vec<Block>, &mut Vec<Block>),
) {
    let problem = shape.problem;
    let devices = problem.devices();
    let own = &problem.graph.groups()[group];
    let cuts = own.operators.iter().map(|&at| shape.chosen(at).cuts);
    let cuts = cuts.fold((1, 1), |all, own| {
        (least_common_multiple(all.0, own.0), least_common_multiple(all.1, own.1))
    });
    let count = cuts.0 as usize * cuts.1 as usize;
    new.cuts = cuts;
    new.shards.clear();
    new.holders.clear();
    for bytes in [&mut new.weights, &mut new.gradients, &mut new.optimizer, &mut new.gathered] {
        bytes.clear();
        bytes.resize(devices, 0);
    }
    let SumsScratch { counts, timed } = scratch;
    count_parts(shape, &own.operators, cuts, counts);
    let same_cuts = old.cuts == cuts && old.shards.len() == count;
    for number in 0..count {
        let row = &counts[number * (devices + 1)..(number + 1) * (devices + 1)];
        let first_holder = new.holders.len();
        new.holders.extend((0..devices as u16).filter(|&device| row[device as usize] > 0));
        let holders = new.holders.len() - first_holder;
        let mut shard = Shard {
            block: Block::NONE,
            waits: row[devices],
            sums: 0,
            updates: 0,
            hand_outs: 0,
            after: 0,
            update: 0,
            first_holder: first_holder as u32,
            holders: holders as u16,
        };
        let held = &new.holders[first_holder..];
        let bytes = shard_bytes(own.elements, count, number);
        for &device in held {
            let [weights, gradients, optimizer] = held_bytes(problem, bytes, holders as u64);
            new.weights[device as usize] += weights;
            new.gradients[device as usize] += gradients;
            new.optimizer[device as usize] += optimizer;
            new.gathered[device as usize] += bytes - weights;
        }
        let before = if same_cuts { old.shards.get(number) } else { None };
        match before {
            Some(before) if old.holders_of(before) == held => {
                let Shard { block, sums, updates, hand_outs, after, update, .. } = *before;
                shard = Shard { block, sums, updates, hand_outs, after, update, ..shard };
            }
            _ => {
                make(problem, (group, number), (held, bytes), &mut shard, arena, timed);
                made.push(shard.block);
                unused.extend(before.map(|before| before.block));
            }
        }
        new.shards.push(shard);
    }
    new.after = new.shards.iter().map(|shard| shard.after).min().unwrap_or(0);
    new.after_link = new.shards.iter().filter_map(Shard::after_link).min();
    if !same_cuts {
        unused.extend(old.shards.iter().map(|shard| shard.block));
    }
}

/// Counts in a row for each shard, device by device and then of all, the parts of operators that
/// need it.
fn count_parts(shape: &Shape<'_>, operators: &[usize], cuts: (u16, u16), counts: &mut Vec<u32>) {
    let devices = shape.problem.devices();
    counts.clear();
    counts.resize(cuts.0 as usize * cuts.1 as usize * (devices + 1), 0);
    for &at in operators {
        let choice = shape.chosen(at);
        for (&device, &place) in shape.devices_of(at).iter().zip(&choice.cut) {
            for first in covered(cuts.0, choice.cuts.0, place.0) {
                for second in covered(cuts.1, choice.cuts.1, place.1) {
                    let row = (first as usize * cuts.1 as usize + second as usize) * (devices + 1);
                    counts[row + device as usize] += 1;
                    counts[row + devices] += 1;
                }
            }
        }
    }
}

/// Bytes of a shard's weights.
fn shard_bytes(elements: u64, count: usize, number: usize) -> u64 {
    let (from, to) = match u16::try_from(count) {
        Ok(count) => range_of_part(elements, count, number as u64),
        Err(_) => (0, elements.div_ceil(count as u64)),
    };
    4 * (to - from)
}

/// Bytes of weights, gradients and the optimiser's numbers that each of some holders has.
fn held_bytes(problem: &Problem, bytes: u64, holders: u64) -> [u64; 3] {
    let training = &problem.training;
    let piece = bytes.div_ceil(holders);
    let of = |from: Sharding| if training.sharding >= from { piece } else { bytes };
    let slots = u64::from(training.optimizer_slots);
    [of(Sharding::Weights), of(Sharding::Gradients), slots * of(Sharding::Optimizer)]
}

/// Fills a shard's tasks.
fn make(
    problem: &Problem,
    (group, number): (usize, usize),
    (held, bytes): (&[u16], u64),
    shard: &mut Shard,
    arena: &mut Arena,
    timed: &mut Vec<(Kind, u32, u64)>,
) {
    timed.clear();
    let whole = 4 * problem.graph.groups()[group].elements;
    list(problem, held, (bytes, whole), timed);
    let count = |kind: Kind| timed.iter().filter(|task| task.0 == kind).count() as u16;
    shard.sums = count(Kind::Sum);
    shard.updates = count(Kind::Update);
    shard.hand_outs = count(Kind::HandOut);
    let slowest = |kind: Kind| timed.iter().filter(|it| it.0 == kind).map(|it| it.2).max();
    shard.after = [Kind::Sum, Kind::Update, Kind::HandOut].into_iter().filter_map(slowest).sum();
    shard.update = slowest(Kind::Update).unwrap_or(0);
    shard.block = arena.take(JOINS as usize + timed.len());
    let joins = [Kind::Gathered, Kind::Summed, Kind::Updated]
        .map(|kind| Task::join(kind, group as u32, number as u32));
    let relation = number as u32;
    let rest = timed.drain(..).map(|(_, resource, duration)| Task { duration, resource, relation });
    let base = shard.block.base as usize;
    for (task, made) in arena.tasks[base..].iter_mut().zip(joins.into_iter().chain(rest)) {
        *task = made;
    }
}

/// Sums, updates and handing out of so many bytes of weights, of which every device holds all, each
/// with its device or link and time; other devices update other weights.
pub(crate) fn sum_tasks(problem: &Problem, held: &[u16], bytes: u64) -> Vec<(Work, u32, u64)> {
    let mut timed = Vec::new();
    list(problem, held, (bytes, u64::MAX), &mut timed);
    let work = |kind: Kind| match kind {
        Kind::Sum => Work::Sum,
        Kind::HandOut => Work::HandOut,
        _ => Work::Update,
    };
    timed.into_iter().map(|(kind, resource, time)| (work(kind), resource, time)).collect()
}

/// Sums, updates and handing out of a shard, of so many bytes of its group's weights, each with its
/// device or link and time.
fn list(
    problem: &Problem,
    held: &[u16],
    (bytes, whole): (u64, u64),
    timed: &mut Vec<(Kind, u32, u64)>,
) {
    let (wires, training) = (&problem.wires, &problem.training);
    let count = held.len() as u64;
    let sharded = training.sums == Sums::Sharded || training.sharding > Sharding::None;
    let piece = bytes.div_ceil(count.max(1));
    let update_bytes = if sharded { piece } else { bytes };
    let others = match count {
        _ if update_bytes < whole => Updating::Shares,
        0 | 1 => Updating::Alone,
        _ => Updating::Copies,
    };
    let update = wires.update_ns(update_bytes, training.optimizer_slots, others);
    let around = |kind: Kind, time: u64, timed: &mut Vec<(Kind, u32, u64)>| {
        let next = held.iter().cycle().skip(1);
        timed.extend(held.iter().zip(next).map(|(&from, &to)| (kind, wires.link(from, to), time)));
    };
    let served = |kind: Kind, timed: &mut Vec<(Kind, u32, u64)>| {
        let server = held[0];
        timed.extend(
            held[1..]
                .iter()
                .map(|&other| (kind, wires.link(server, other), wires.time(server, other, bytes))),
        );
    };
    let updates = |held: &[u16], timed: &mut Vec<(Kind, u32, u64)>| {
        timed.extend(held.iter().map(|&device| (Kind::Update, u32::from(device), update)));
    };
    let rounds = count.saturating_sub(1);
    match training.sums {
        _ if count <= 1 => updates(held, timed),
        _ if sharded => {
            let half = rounds * wires.ring_step(held, piece);
            // Fetching the weights forward costs a third half, see `Sharding::Weights`.
            let fetches = if training.sharding == Sharding::Weights { 2 } else { 1 };
            around(Kind::Sum, half, timed);
            updates(held, timed);
            around(Kind::HandOut, fetches * half, timed);
        }
        Sums::Tree => {
            let rounds = 2 * u64::from(count.next_power_of_two().trailing_zeros());
            around(Kind::Sum, rounds * wires.ring_step(held, bytes), timed);
            updates(held, timed);
        }
        Sums::Server => {
            served(Kind::Sum, timed);
            updates(&held[..1], timed);
            served(Kind::HandOut, timed);
        }
        Sums::Ring | Sums::Sharded => {
            around(Kind::Sum, 2 * rounds * wires.ring_step(held, piece), timed);
            updates(held, timed);
        }
    }
}
