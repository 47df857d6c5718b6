//! A plan: how each operator is split, and where its parts are.

use crate::problem::Problem;

/// A split for every operator of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Plan {
    /// One an operator.
    pub splits: Vec<Split>,
}

/// How an operator is split, and the device of each part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Split {
    /// Place among the choices of its operator.
    pub choice: u16,
    /// One device a part.
    pub devices: Vec<u16>,
}

impl Problem {
    /// The split of an operator with these degrees, if it may have them.
    pub fn choice_with(
        &self,
        operator: usize,
        wanted: &[u16; crate::problem::DEGREES],
    ) -> Option<u16> {
        self.choices(operator).iter().position(|own| own.degrees == *wanted).map(|at| at as u16)
    }

    /// Parts of a choice on consecutive devices from a first one on, or where they are pinned.
    pub fn in_order(&self, operator: usize, choice: u16, first: usize) -> Split {
        let parts = self.choices(operator)[choice as usize].parts();
        let name = &self.graph.operators()[operator].name;
        let devices = match self.constraints.pinned(name) {
            Some(pinned) => pinned.to_vec(),
            None => (0..parts).map(|part| ((first + part) % self.devices()) as u16).collect(),
        };
        Split { choice, devices }
    }
}
