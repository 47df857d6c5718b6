//! Random changes of a plan, as the search draws them.

use trainwright_random::Random;

use crate::plan::Split;
use crate::problem::Problem;

/// Kinds of changes, of a hundred each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveShares {
    /// Changes that only move parts to other devices.
    pub placements: u64,
    /// Changes of all operators that share their weights, at once.
    pub groups: u64,
}

impl MoveShares {
    /// As searches draw them.
    pub const MIXED: Self = Self { placements: 20, groups: 50 };
    /// A new split and place for one operator at a time, as FlexFlow proposes.
    pub const ONE_OPERATOR: Self = Self { placements: 0, groups: 0 };
}

/// Draws changes of plans of a problem; how likely a change is does not depend on the way there, so
/// that every change is as likely as its return.
#[derive(Debug)]
pub struct Moves<'p> {
    problem: &'p Problem,
    shares: MoveShares,
    /// Operators that can change at all.
    open: Vec<usize>,
    /// For each operator, those that share its weights and can be split alike.
    alike: Vec<Vec<usize>>,
}

impl<'p> Moves<'p> {
    /// The changes of a problem's plans.
    pub fn new(problem: &'p Problem, shares: MoveShares) -> Self {
        let operators = problem.graph().operators();
        let degrees = |at: usize| problem.choices(at).iter().map(|it| it.degrees);
        let is_open = |at: usize| problem.choices(at).len() > 1 || problem.devices() > 1;
        let alike = (0..operators.len()).map(|at| match &operators[at].weights {
            Some(weights) => {
                let group = &problem.graph().groups()[weights.group].operators;
                let same = |&other: &usize| degrees(other).eq(degrees(at));
                group.iter().copied().filter(same).collect()
            }
            None => vec![at],
        });
        Self {
            problem,
            shares,
            open: (0..operators.len()).filter(|&at| is_open(at)).collect(),
            alike: alike.collect(),
        }
    }

    /// Draws a change of a plan whose splits `now` tells; empty where nothing can change.
    pub fn draw(
        &self,
        random: &mut Random,
        now: &dyn Fn(usize) -> Split,
        into: &mut Vec<(usize, Split)>,
    ) {
        into.clear();
        if self.open.is_empty() {
            return;
        }
        let operator = self.open[random.index(self.open.len())];
        let only_placement = random.below(100) < self.shares.placements;
        let whole_group = random.below(100) < self.shares.groups;
        let own = [operator];
        let changed = if whole_group { &self.alike[operator][..] } else { &own };
        if only_placement {
            let devices = self.problem.devices() as u64;
            let (first, second) = (random.below(devices) as u16, random.below(devices) as u16);
            for &at in changed {
                let mut split = now(at);
                self.exchange(at, &mut split, first, second);
                into.push((at, split));
            }
            return;
        }
        let choice = random.index(self.problem.choices(operator).len()) as u16;
        let devices =
            self.placement(random, self.problem.choices(operator)[choice as usize].parts());
        for &at in changed {
            let pinned =
                self.problem.constraints.pinned(&self.problem.graph().operators()[at].name);
            let devices = pinned.map_or_else(|| devices.clone(), <[u16]>::to_vec);
            into.push((at, Split { choice, devices }));
        }
    }

    /// Lets two devices change places.
    fn exchange(&self, operator: usize, split: &mut Split, first: u16, second: u16) {
        let name = &self.problem.graph().operators()[operator].name;
        if self.problem.constraints.pinned(name).is_some() {
            return;
        }
        for device in &mut split.devices {
            *device = match *device {
                own if own == first => second,
                own if own == second => first,
                own => own,
            };
        }
    }

    /// Devices for some parts: mostly neighbours, sometimes spread evenly or anywhere.
    fn placement(&self, random: &mut Random, parts: usize) -> Vec<u16> {
        let devices = self.problem.devices();
        let blocks = devices / parts;
        let way = random.below(10);
        if way < 8 {
            let first = random.index(blocks) * parts;
            return (first..first + parts).map(|device| device as u16).collect();
        }
        if way == 8 {
            let first = random.index(blocks);
            return (0..parts).map(|part| (first + part * blocks) as u16).collect();
        }
        let mut all: Vec<u16> = (0..devices as u16).collect();
        for at in 0..parts {
            let other = at + random.index(devices - at);
            all.swap(at, other);
        }
        all.truncate(parts);
        all
    }
}
