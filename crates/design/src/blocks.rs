//! Blocks of runs, such as days or machines, and the effects that are given up for them.

use serde::Serialize;

/// Which rows run in which block, and what cannot be told apart from the blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blocks {
    count: u32,
    /// Block of each row, from 1.
    rows: Vec<u32>,
    generators: Vec<String>,
    confounded: Vec<String>,
}

impl Blocks {
    /// Number of blocks in each replicate.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The block of a row counted from 1; blocks count from 1 too.
    pub fn of_row(&self, number: u32) -> Option<u32> {
        self.rows.get((number as usize).checked_sub(1)?).copied()
    }

    /// Products of factors whose sign tells the blocks apart, such as `ABC`.
    pub fn generators(&self) -> &[String] {
        &self.generators
    }

    /// Every effect that the differences between blocks hide, shortest first.
    pub fn confounded(&self) -> &[String] {
        &self.confounded
    }
}
