//! The micro-batches of a step, and which rank has which.

use std::ops::Range;

use crate::learners::learner::Look;

/// How the examples of a step are cut: the unit of a step's arithmetic is the micro-batch, whose
/// gradients are computed at once and added to those of the others in a fixed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MicroBatches {
    examples: usize,
    size: usize,
}

/// A place among the ranks that train together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
}

impl Place {
    /// The place of one that trains alone.
    pub(crate) const ALONE: Self = Self { rank: 0, ranks: 1 };
}

impl MicroBatches {
    /// Cuts a step of so many examples: by the size that is given, else into a share for each rank.
    /// A look at the noise needs two parts at least.
    pub(super) fn new(examples: usize, given: Option<usize>, ranks: usize, look: Look) -> Self {
        let size = given.unwrap_or_else(|| examples.div_ceil(ranks));
        let size = match look {
            Look::AtNoise => size.min(examples.div_ceil(2)),
            Look::No => size.min(examples),
        };
        Self { examples, size: size.max(1) }
    }

    /// How many there are.
    pub(super) fn count(self) -> usize {
        self.examples.div_ceil(self.size)
    }

    /// The examples of one.
    pub(super) fn range(self, number: usize) -> Range<usize> {
        number * self.size..self.examples.min((number + 1) * self.size)
    }

    /// The numbers of those that a rank has.
    pub(super) fn of(self, place: Place) -> Range<usize> {
        let Place { rank, ranks } = place;
        self.count() * rank / ranks..self.count() * (rank + 1) / ranks
    }

    /// The examples that a rank has.
    pub(super) fn examples_of(self, place: Place) -> Range<usize> {
        let own = self.of(place);
        (own.start * self.size).min(self.examples)..(own.end * self.size).min(self.examples)
    }

    /// The harmonic mean of their sizes.
    pub(super) fn mean_size(self) -> f64 {
        let count = self.count();
        let inverse: f64 = (0..count).map(|number| 1.0 / self.range(number).len() as f64).sum();
        count as f64 / inverse
    }
}

/// The examples of a rank in steps to come, as long as they have the size of the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead<'a> {
    /// All examples that are left of the epoch.
    pub(super) rest: &'a [u32],
    pub(super) batch: usize,
    pub(super) given: Option<usize>,
    pub(super) place: Place,
}

impl Ahead<'_> {
    fn own(&self, examples: usize) -> Range<usize> {
        if examples == 0 {
            return 0..0;
        }
        let cut = MicroBatches::new(examples, self.given, self.place.ranks, Look::No);
        cut.examples_of(self.place)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        let (whole, left) = (self.rest.len() / self.batch, self.rest.len() % self.batch);
        whole * self.own(self.batch).len() + self.own(left).len()
    }

    /// Those examples.
    pub(super) fn examples(&self) -> Vec<u32> {
        if self.place.ranks == 1 {
            return self.rest.to_vec();
        }
        let own = |step: &[u32]| step[self.own(step.len())].to_vec();
        self.rest.chunks(self.batch).flat_map(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_example_is_in_one_micro_batch_of_one_rank(
            examples in 1_usize..200, given in proptest::option::of(1_usize..50), ranks in 1_usize..9,
            noise: bool,
        ) {
            let look = if noise { Look::AtNoise } else { Look::No };
            let cut = MicroBatches::new(examples, given, ranks, look);
            let all: Vec<usize> = (0..cut.count()).flat_map(|number| cut.range(number)).collect();
            prop_assert_eq!(all, (0..examples).collect::<Vec<_>>());
            let mut numbers = Vec::new();
            for rank in 0..ranks {
                let place = Place { rank, ranks };
                let own: Vec<usize> = cut.of(place).flat_map(|number| cut.range(number)).collect();
                prop_assert_eq!(own, cut.examples_of(place).collect::<Vec<_>>());
                numbers.extend(cut.of(place));
            }
            prop_assert_eq!(numbers, (0..cut.count()).collect::<Vec<_>>());
            if noise && examples > 1 {
                prop_assert!(cut.count() > 1, "noise is seen between two parts");
            }
            prop_assert!(cut.mean_size() <= cut.range(0).len() as f64 + 1e-9);
        }

        /// What is read ahead is what the steps will ask for, one after the other.
        #[test]
        fn what_lies_ahead_is_what_steps_take(
            left in 0_u32..90, batch in 1_usize..40, given in proptest::option::of(1_usize..9), ranks in 1_usize..5,
        ) {
            let rest: Vec<u32> = (100..100 + left).collect();
            for rank in 0..ranks {
                let place = Place { rank, ranks };
                let mut expected = Vec::new();
                for step in rest.chunks(batch) {
                    let cut = MicroBatches::new(step.len(), given, ranks, Look::No);
                    expected.extend_from_slice(&step[cut.examples_of(place)]);
                }
                let ahead = Ahead { rest: &rest, batch, given, place };
                prop_assert_eq!(ahead.count(), expected.len());
                prop_assert_eq!(ahead.examples(), expected);
            }
        }
    }

    #[test]
    fn a_size_that_is_given_holds_for_any_number_of_ranks() {
        for ranks in 1..6 {
            let cut = MicroBatches::new(10, Some(4), ranks, Look::No);
            let sizes: Vec<usize> =
                (0..cut.count()).map(|number| cut.range(number).len()).collect();
            assert_eq!(sizes, [4, 4, 2], "{ranks} ranks");
        }
    }

    #[test]
    fn without_one_each_rank_has_its_share() {
        let cut = MicroBatches::new(10, None, 3, Look::No);
        assert_eq!(
            (0..3).map(|rank| cut.examples_of(Place { rank, ranks: 3 })).collect::<Vec<_>>(),
            [0..4, 4..8, 8..10]
        );
        assert_eq!(MicroBatches::new(10, None, 1, Look::No).count(), 1);
    }

    #[test]
    fn ranks_have_all_examples_once_even_where_they_are_more_than_the_examples() {
        for (examples, given, ranks) in
            [(7, Some(2), 3), (2, None, 5), (1, Some(9), 4), (64, None, 7)]
        {
            let cut = MicroBatches::new(examples, given, ranks, Look::No);
            let all: Vec<usize> =
                (0..ranks).flat_map(|rank| cut.examples_of(Place { rank, ranks })).collect();
            assert_eq!(all, (0..examples).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_look_at_the_noise_has_two_parts_and_their_mean_size() {
        let cut = MicroBatches::new(9, None, 1, Look::AtNoise);
        assert_eq!((cut.count(), cut.range(0), cut.range(1)), (2, 0..5, 5..9));
        // 2 / (1/5 + 1/4)
        assert!((cut.mean_size() - 40.0 / 9.0).abs() < 1e-12);
        assert_eq!(MicroBatches::new(9, Some(3), 1, Look::AtNoise).count(), 3);
    }

    #[test]
    fn what_lies_ahead_is_counted_as_it_will_come() {
        let rest: Vec<u32> = (0..23).collect();
        for (batch, given, ranks) in
            [(4, None, 2), (5, Some(2), 3), (23, None, 4), (30, Some(1), 2)]
        {
            for rank in 0..ranks {
                let ahead = Ahead { rest: &rest, batch, given, place: Place { rank, ranks } };
                assert_eq!(ahead.count(), ahead.examples().len(), "{batch} {given:?} {ranks}");
            }
        }
    }
}
