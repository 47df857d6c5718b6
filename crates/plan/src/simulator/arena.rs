//! Room for tasks in blocks of powers of two, taken and given back without allocating.

use crate::simulator::task::{MOST_TASKS, Task};

/// Tasks, and the blocks among them that are free.
#[derive(Debug)]
pub(super) struct Arena {
    pub(super) tasks: Vec<Task>,
    free: Vec<Vec<u32>>,
}

/// A block of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) base: u32,
    class: u8,
}

impl Block {
    pub(super) const NONE: Self = Self { base: 0, class: u8::MAX };
}

impl Arena {
    /// Room whose first tasks are never given back.
    pub(super) fn new(fixed: usize) -> Self {
        Self { tasks: vec![Task::EMPTY; fixed], free: vec![Vec::new(); 25] }
    }

    /// Room for at least that many tasks.
    ///
    /// # Panics
    /// When there are more than [`MOST_TASKS`]; plans for so many devices are refused before.
    pub(super) fn take(&mut self, count: usize) -> Block {
        if count == 0 {
            return Block::NONE;
        }
        let class = count.next_power_of_two().trailing_zeros() as u8;
        if let Some(base) = self.free[class as usize].pop() {
            return Block { base, class };
        }
        let base = self.tasks.len();
        let end = base + (1 << class);
        assert!(end <= MOST_TASKS, "more than {MOST_TASKS} tasks");
        self.tasks.resize(end, Task::EMPTY);
        Block { base: base as u32, class }
    }

    /// The tasks of a range of places.
    pub(super) fn range(&self, places: std::ops::Range<u32>) -> std::slice::Iter<'_, Task> {
        self.tasks[places.start as usize..places.end as usize].iter()
    }

    pub(super) fn give_back(&mut self, block: Block) {
        if block != Block::NONE {
            self.free[block.class as usize].push(block.base);
        }
    }
}
