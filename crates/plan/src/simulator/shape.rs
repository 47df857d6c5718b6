//! The plan under evaluation: who computes which part where, and the blocks of tasks of edges.

use crate::problem::Problem;
use crate::simulator::arena::{Arena, Block};
use crate::simulator::bounds::EdgeTimes;
use crate::simulator::pairs::PairTable;
use crate::simulator::sums::GroupSums;
use crate::simulator::task::Task;

/// No table of pairs yet.
const NONE: u32 = u32::MAX;

/// Pairs kept before those out of use are dropped.
const MOST_PAIRS: usize = 4 << 20;

/// An edge with the pairs and tasks of its two splits.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeTasks {
    pub(super) table: u32,
    /// Two tasks a pair: forward and backward.
    pub(super) block: Block,
    pub(super) times: EdgeTimes,
}

/// Splits of all operators, and what follows of them without times.
#[derive(Debug)]
pub(super) struct Shape<'p> {
    pub(super) problem: &'p Problem,
    pub(super) choice: Vec<u16>,
    /// Device of each part, `devices` places an operator.
    pub(super) device: Vec<u16>,
    pub(super) edges: Vec<EdgeTasks>,
    pub(super) groups: Vec<GroupSums>,
    pub(super) tables: Vec<PairTable>,
    /// For each class of edges, the table of each two choices.
    known: Vec<Vec<u32>>,
    kept_pairs: usize,
}

impl<'p> Shape<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        let operators = problem.graph.operators().len();
        let mut known = vec![Vec::new(); problem.edge_classes];
        for edge in &problem.edges {
            let count = |at: u32| problem.choices[at as usize].len();
            known[edge.class as usize].resize(count(edge.from) * count(edge.to), NONE);
        }
        Self {
            problem,
            choice: vec![0; operators],
            device: vec![0; operators * problem.devices()],
            edges: vec![
                EdgeTasks { table: NONE, block: Block::NONE, times: EdgeTimes::NONE };
                problem.edges.len()
            ],
            groups: vec![GroupSums::default(); problem.graph.groups().len()],
            tables: Vec::new(),
            known,
            kept_pairs: 0,
        }
    }

    /// Devices of an operator's parts.
    pub(super) fn devices_of(&self, operator: usize) -> &[u16] {
        let first = operator * self.problem.devices();
        &self.device[first..first + self.chosen(operator).parts()]
    }

    pub(super) fn chosen(&self, operator: usize) -> &'p crate::problem::Choice {
        &self.problem.choices[operator][self.choice[operator] as usize]
    }

    /// Messages of an edge forward (0) or backward (1).
    pub(super) fn messages<'a>(
        &self,
        arena: &'a Arena,
        edge: usize,
        pass: usize,
    ) -> impl Iterator<Item = &'a Task> + use<'a> {
        let own = &self.edges[edge];
        // Mostly all parts are on the same devices, and there are none.
        let is_empty = own.times.forward_load == 0;
        let pairs = if is_empty { 0 } else { self.tables[own.table as usize].pairs.len() };
        let first = own.block.base as usize;
        let all = &arena.tasks[first..first + 2 * pairs];
        all.iter().skip(pass).step_by(2).filter(|own| own.duration > 0)
    }

    /// The pairs of an edge as its ends are split now.
    pub(super) fn table_of(&mut self, edge: usize) -> u32 {
        let own = &self.problem.edges[edge];
        let (from, to) = (own.from as usize, own.to as usize);
        let place =
            self.choice[from] as usize * self.problem.choices[to].len() + self.choice[to] as usize;
        let known = self.known[own.class as usize][place];
        if known != NONE {
            return known;
        }
        let table = PairTable::new(&self.problem.graph, own, self.chosen(from), self.chosen(to));
        self.kept_pairs += table.pairs.len();
        let number = self.tables.len() as u32;
        self.tables.push(table);
        self.known[own.class as usize][place] = number;
        number
    }

    /// Drops tables that no edge uses, where there are many.
    pub(super) fn forget_tables(&mut self) {
        if self.kept_pairs < MOST_PAIRS {
            return;
        }
        self.known.iter_mut().for_each(|known| known.fill(NONE));
        let mut old = std::mem::take(&mut self.tables);
        let mut moved = vec![NONE; old.len()];
        self.kept_pairs = 0;
        for (edge, own) in self.edges.iter_mut().enumerate() {
            let at = own.table as usize;
            if moved[at] == NONE {
                moved[at] = self.tables.len() as u32;
                self.kept_pairs += old[at].pairs.len();
                self.tables.push(std::mem::take(&mut old[at]));
            }
            own.table = moved[at];
            let ends = &self.problem.edges[edge];
            let (from, to) = (ends.from as usize, ends.to as usize);
            let place = self.choice[from] as usize * self.problem.choices[to].len()
                + self.choice[to] as usize;
            self.known[ends.class as usize][place] = own.table;
        }
    }
}
