//! Changes of a plan: made in place, taken or undone.

use crate::plan::Split;
use crate::simulator::arena::Block;
use crate::simulator::evaluator::{Evaluator, Memory, Mode};
use crate::simulator::shape::EdgeTasks;
use crate::simulator::sums::GroupSums;
use crate::simulator::task::Task;

/// What a change replaced, so that it can be undone.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) is_open: bool,
    /// Whether it was proposed to leave everything as it is.
    pub(super) is_empty: bool,
    pub(super) operators: Vec<(u32, u16)>,
    pub(super) devices: Vec<u16>,
    /// Operators whose tasks change: their own, or how many messages they wait for.
    pub(super) rows: Vec<u32>,
    pub(super) tasks: Vec<Task>,
    pub(super) edges: Vec<(u32, EdgeTasks)>,
    pub(super) groups: Vec<(u32, GroupSums)>,
    pub(super) made: Vec<Block>,
    pub(super) unused: Vec<Block>,
    pub(super) work: Vec<u64>,
    pub(super) updates: Vec<u64>,
    pub(super) memory: Memory,
}

impl Evaluator<'_> {
    pub(super) fn save_splits<'a>(&mut self, splits: impl IntoIterator<Item = &'a (usize, Split)>) {
        let change = &mut self.change;
        change.is_open = true;
        change.operators.clear();
        change.devices.clear();
        for (operator, _) in splits {
            change.operators.push((*operator as u32, self.shape.choice[*operator]));
            change.devices.extend_from_slice(self.shape.devices_of(*operator));
        }
    }

    /// Keeps the tasks of an operator's parts as they are.
    fn save_row(&mut self, operator: u32) {
        if self.change.rows.contains(&operator) {
            return;
        }
        let width = 2 * self.shape.problem.devices();
        let first = operator as usize * width;
        self.change.rows.push(operator);
        self.change.tasks.extend_from_slice(&self.arena.tasks[first..first + width]);
    }

    pub(super) fn apply(&mut self, splits: &[&(usize, Split)]) {
        self.shape.forget_tables();
        self.save_splits(splits.iter().copied());
        let problem = self.shape.problem;
        self.change.work.clone_from(&self.work);
        self.change.updates.clone_from(&self.updates);
        self.change.memory.clone_from(&self.memory);
        self.change.tasks.clear();
        self.change.rows.clear();
        self.change.edges.clear();
        for (operator, _) in splits {
            self.save_row(*operator as u32);
            for &edge in problem.edges_in[*operator].iter().chain(&problem.edges_out[*operator]) {
                if !self.change.edges.iter().any(|&(other, _)| other == edge) {
                    self.change.edges.push((edge, self.shape.edges[edge as usize]));
                    self.save_row(problem.edges[edge as usize].from);
                    self.save_row(problem.edges[edge as usize].to);
                }
            }
        }
        for at in 0..self.change.edges.len() {
            self.forget_edge(self.change.edges[at].0 as usize);
        }
        for (operator, split) in splits {
            self.forget_operator(*operator);
            self.put_split(*operator, split);
            self.make_operator(*operator);
        }
        for at in 0..self.change.edges.len() {
            let edge = self.change.edges[at].0 as usize;
            let new = self.make_edge(edge);
            self.shape.edges[edge] = new;
        }
        for (operator, _) in splits {
            let Some(weights) = &problem.graph.operators()[*operator].weights else { continue };
            let group = weights.group;
            if self.change.groups.iter().any(|&(other, _)| other as usize == group) {
                continue;
            }
            let old = std::mem::take(&mut self.shape.groups[group]);
            let mut new = self.spare.pop().unwrap_or_default();
            self.make_group(group, &old, &mut new);
            self.shape.groups[group] = new;
            self.change.groups.push((group as u32, old));
        }
    }

    /// Keeps the plan that was proposed; it must have been given a cost.
    ///
    /// # Panics
    /// When no change is open.
    pub fn accept(&mut self) {
        assert!(self.change.is_open, "only what was proposed is taken");
        self.change.is_open = false;
        if self.change.is_empty {
            return;
        }
        self.stale = false;
        if self.mode != Mode::Rebuild {
            let change = &mut self.change;
            for (_, old) in change.edges.drain(..) {
                self.arena.give_back(old.block);
            }
            change.unused.drain(..).for_each(|block| self.arena.give_back(block));
            change.made.clear();
            self.spare.extend(change.groups.drain(..).map(|(_, old)| old));
        }
        self.schedule.take(&self.shape);
    }

    /// Goes back to the plan before the proposal.
    pub fn undo(&mut self) {
        if !self.change.is_open {
            return;
        }
        self.change.is_open = false;
        if self.change.is_empty {
            return;
        }
        let mut first = 0;
        for &(operator, choice) in &self.change.operators {
            let operator = operator as usize;
            self.shape.choice[operator] = choice;
            let parts = self.shape.chosen(operator).parts();
            let place = operator * self.shape.problem.devices();
            self.shape.device[place..place + parts]
                .copy_from_slice(&self.change.devices[first..first + parts]);
            first += parts;
        }
        if self.mode == Mode::Rebuild {
            self.schedule.drop_fresh();
            return;
        }
        self.schedule.drop_fresh();
        let width = 2 * self.shape.problem.devices();
        let change = &mut self.change;
        for (&operator, old) in change.rows.iter().zip(change.tasks.chunks_exact(width)) {
            let place = operator as usize * width;
            self.arena.tasks[place..place + width].copy_from_slice(old);
        }
        for (edge, old) in change.edges.drain(..) {
            let new = std::mem::replace(&mut self.shape.edges[edge as usize], old);
            self.arena.give_back(new.block);
        }
        for (group, old) in change.groups.drain(..) {
            let new = std::mem::replace(&mut self.shape.groups[group as usize], old);
            self.spare.push(new);
        }
        change.made.drain(..).for_each(|block| self.arena.give_back(block));
        change.unused.clear();
        std::mem::swap(&mut self.work, &mut change.work);
        std::mem::swap(&mut self.updates, &mut change.updates);
        std::mem::swap(&mut self.memory, &mut change.memory);
    }
}
