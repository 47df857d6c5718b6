//! The best of all plans of a small problem, by depth-first search with lower bounds.
//!
//! Plans are those whose operators have any choice on a block of neighbouring devices or on devices
//! spread evenly. A partial plan is given up when no completion can be better than the best so far:
//! when some device has as much to compute, when all devices together have, or when the longest
//! path through the operators takes as long.

use crate::plan::{Plan, Split};
use crate::problem::Problem;
use crate::search::placements::placements;
use crate::simulator::{Evaluation, Evaluator, Mode};

/// The best plan of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The plan.
    pub plan: Plan,
    /// Its nanoseconds.
    pub cost: u64,
    /// Whole plans that were simulated.
    pub simulated: u64,
}

/// The best of all plans of a problem; none where they are more than `most`, or none fits.
pub fn optimum(problem: &Problem, first: &Plan, most: f64) -> Option<Optimum> {
    let operators = problem.graph().operators().len();
    let splits: Vec<Vec<Split>> = (0..operators).map(|at| placements(problem, at)).collect();
    if splits.iter().map(|own| own.len() as f64).product::<f64>() > most {
        return None;
    }
    let evaluator = Evaluator::new(problem, first, Mode::Bounded);
    let best_cost = if evaluator.fits() { evaluator.cost() } else { u64::MAX };
    let least_time = |at: usize| {
        let of = |own: &crate::problem::Choice| {
            let parts = (0..own.parts()).map(|part| own.part_ns(part));
            parts.map(|(forward, backward)| forward + backward).min().unwrap_or(0)
        };
        problem.choices(at).iter().map(of).min().unwrap_or(0)
    };
    let least_work = |at: usize| {
        let of = |own: &crate::problem::Choice| {
            let parts = (0..own.parts()).map(|part| own.part_ns(part));
            parts.map(|(forward, backward)| forward + backward).sum::<u64>()
        };
        problem.choices(at).iter().map(of).min().unwrap_or(0)
    };
    let mut own = Search {
        problem,
        evaluator,
        splits,
        least_time: (0..operators).map(least_time).collect(),
        work_from: Vec::new(),
        work: vec![0; problem.devices()],
        path: vec![0; operators],
        chosen: Vec::new(),
        best: first.clone(),
        best_cost,
        simulated: 0,
    };
    own.work_from = vec![0; operators + 1];
    for at in (0..operators).rev() {
        own.work_from[at] = own.work_from[at + 1] + least_work(at);
    }
    own.deeper();
    let Search { best: plan, best_cost: cost, simulated, .. } = own;
    (cost < u64::MAX).then_some(Optimum { plan, cost, simulated })
}

struct Search<'p> {
    problem: &'p Problem,
    evaluator: Evaluator<'p>,
    splits: Vec<Vec<Split>>,
    least_time: Vec<u64>,
    /// Least work of all operators from a place on.
    work_from: Vec<u64>,
    work: Vec<u64>,
    /// Least length of the paths that end at each operator chosen so far.
    path: Vec<u64>,
    chosen: Vec<usize>,
    best: Plan,
    best_cost: u64,
    simulated: u64,
}

impl Search<'_> {
    fn deeper(&mut self) {
        let at = self.chosen.len();
        if at == self.splits.len() {
            return self.simulate();
        }
        for number in 0..self.splits[at].len() {
            let split = self.splits[at][number].clone();
            let choice = &self.problem.choices(at)[split.choice as usize];
            let times: Vec<u64> = (0..choice.parts())
                .map(|part| choice.part_ns(part))
                .map(|(forward, backward)| forward + backward)
                .collect();
            for (&device, &time) in split.devices.iter().zip(&times) {
                self.work[device as usize] += time;
            }
            self.path[at] = self.path_before(at) + times.iter().min().copied().unwrap_or(0);
            self.chosen.push(number);
            if self.bound(at) < self.best_cost {
                self.deeper();
            }
            self.chosen.pop();
            for (&device, &time) in split.devices.iter().zip(&times) {
                self.work[device as usize] -= time;
            }
        }
    }

    fn path_before(&self, at: usize) -> u64 {
        let inputs = self.problem.graph().operators()[at].inputs.iter();
        inputs.map(|input| self.path[input.from]).max().unwrap_or(0)
    }

    /// Less than any completion of the operators up to this one takes.
    fn bound(&self, last: usize) -> u64 {
        let most = self.work.iter().copied().max().unwrap_or(0);
        let all = self.work.iter().sum::<u64>() + self.work_from[last + 1];
        let mut path = self.path[..=last].to_vec();
        for at in last + 1..self.splits.len() {
            let inputs = self.problem.graph().operators()[at].inputs.iter();
            let before = inputs.map(|input| path[input.from]).max().unwrap_or(0);
            path.push(before + self.least_time[at]);
        }
        let longest = path.into_iter().max().unwrap_or(0);
        most.max(all / self.problem.devices() as u64).max(longest)
    }

    fn simulate(&mut self) {
        self.simulated += 1;
        let mut change = Vec::new();
        for (at, &number) in self.chosen.iter().enumerate() {
            let split = &self.splits[at][number];
            if self.evaluator.split(at) != *split {
                change.push((at, split.clone()));
            }
        }
        match self.evaluator.propose(&change, self.best_cost - 1) {
            Evaluation::Cost(cost) => {
                self.evaluator.accept();
                self.best_cost = cost;
                self.best = self.evaluator.plan();
            }
            _ => self.evaluator.undo(),
        }
    }
}
