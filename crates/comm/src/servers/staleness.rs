//! How old the numbers were that gradients were computed from.

use std::collections::BTreeMap;

/// How many gradients were applied at each staleness, in updates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Staleness(BTreeMap<u64, u64>);

impl Staleness {
    /// Counts one gradient.
    pub fn add(&mut self, staleness: u64) {
        *self.0.entry(staleness).or_default() += 1;
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        for (staleness, count) in &other.0 {
            *self.0.entry(*staleness).or_default() += count;
        }
    }

    /// Gradients counted.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// The largest staleness; none before the first gradient.
    pub fn largest(&self) -> Option<u64> {
        self.0.last_key_value().map(|own| *own.0)
    }

    /// Each staleness with its count, rising.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(|(staleness, count)| (*staleness, *count))
    }
}

impl FromIterator<(u64, u64)> for Staleness {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(counts: I) -> Self {
        let mut all = Self::default();
        counts.into_iter().for_each(|(staleness, count)| {
            *all.0.entry(staleness).or_default() += count;
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_add_up() {
        let mut all: Staleness = [(0, 2), (3, 1)].into_iter().collect();
        all.merge(&[(3, 4), (1, 1)].into_iter().collect());
        assert_eq!(all.counts().collect::<Vec<_>>(), [(0, 2), (1, 1), (3, 5)]);
        assert_eq!((all.total(), all.largest()), (8, Some(3)));
        assert_eq!(Staleness::default().largest(), None);
    }
}
