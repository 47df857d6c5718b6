//! Where randomness comes from.

use serde::{Deserialize, Serialize};
use trainwright_random::{Random, finalize, mix};

/// The study's source of randomness; everything random derives from it by name.
///
/// ```
/// use trainwright_study::Seed;
///
/// let seed = Seed::new(7);
/// assert_eq!(seed.derive(1).value(), seed.derive(1).value());
/// assert_ne!(seed.derive(1).value(), seed.derive(2).value());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(u64);

impl Seed {
    /// A seed of this value.
    pub fn new(value: u64) -> Self {
        Self(value)
    }

    /// The value.
    pub fn value(self) -> u64 {
        self.0
    }

    /// An independent seed for the part of the study called `part`.
    pub fn derive(self, part: u64) -> Self {
        Self(finalize(self.0 ^ mix(part)))
    }

    /// The items in an order that this seed decides, by Fisher and Yates' shuffle.
    ///
    /// The order for a seed never changes between versions, so planned trials stay planned.
    pub fn shuffled<T>(self, mut items: Vec<T>) -> Vec<T> {
        Random::new(self.0).shuffle(&mut items);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_order_is_frozen() {
        // Recorded once; a change here would reorder the plans of existing studies.
        assert_eq!(Seed::new(7).shuffled((0..8).collect::<Vec<_>>()), FROZEN);
    }

    const FROZEN: [i32; 8] = [7, 4, 6, 1, 2, 5, 0, 3];

    #[test]
    fn every_position_is_reached_about_equally_often() {
        let mut counts = [[0u32; 5]; 5];
        for seed in 0..5_000 {
            for (position, item) in
                Seed::new(seed).shuffled((0..5).collect::<Vec<usize>>()).into_iter().enumerate()
            {
                counts[position][item] += 1;
            }
        }
        // 1000 expected in each cell, standard deviation 28; 5 deviations are allowed.
        assert!(counts.as_flattened().iter().all(|&c| (860..1140).contains(&c)), "{counts:?}");
    }
}
