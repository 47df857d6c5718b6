//! A vector cut into contiguous pieces, one for each rank.

use std::ops::Range;

/// A vector cut into contiguous pieces, one for each rank, which owns it.
///
/// ```
/// use trainwright_comm::Pieces;
///
/// let pieces = Pieces::new(10_000, 2, 1024);
/// assert_eq!([pieces.range(0), pieces.range(1)], [0..5120, 5120..10_000]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// Where each piece starts, then the length of the vector.
    bounds: Vec<usize>,
}

impl Pieces {
    /// The numbers that boundaries are multiples of where nothing speaks for another choice: a
    /// page of memory, so that two threads rarely write to one page.
    pub const ALIGN: usize = 1024;

    /// `length` numbers over `ranks` ranks, as equal as boundaries at multiples of `align` allow.
    ///
    /// # Panics
    /// Where `ranks` or `align` is 0.
    pub fn new(length: usize, ranks: usize, align: usize) -> Self {
        assert!(ranks > 0 && align > 0, "pieces need a rank and an alignment above 0");
        let blocks = length.div_ceil(align);
        let bounds = (0..=ranks).map(|rank| (blocks * rank / ranks * align).min(length));
        Self { bounds: bounds.collect() }
    }

    /// All `length` numbers in the piece of rank 0.
    pub(crate) fn all_to_the_first(length: usize, ranks: usize) -> Self {
        Self { bounds: (0..=ranks).map(|rank| if rank == 0 { 0 } else { length }).collect() }
    }

    /// The piece of a rank.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn range(&self, rank: usize) -> Range<usize> {
        self.bounds[rank]..self.bounds[rank + 1]
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The length of the vector.
    pub fn length(&self) -> usize {
        *self.bounds.last().expect("bounds end with the length")
    }

    /// The same owners for a part of the vector, some of whom may own nothing of it.
    pub fn within(&self, part: &Range<usize>) -> Self {
        let inside = |bound: &usize| (*bound).clamp(part.start, part.end) - part.start;
        Self { bounds: self.bounds.iter().map(inside).collect() }
    }

    /// The pieces of a vector, in the order of ranks.
    ///
    /// # Panics
    /// Where the vector has another length.
    pub fn split_mut<'a, T>(&self, mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
        assert_eq!(values.len(), self.length(), "the vector is not the one that was cut");
        let mut parts = Vec::with_capacity(self.ranks());
        for rank in 0..self.ranks() {
            let (part, rest) = values.split_at_mut(self.range(rank).len());
            parts.push(part);
            values = rest;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn owners_of_a_part_are_those_of_the_whole() {
        let pieces = Pieces::new(100, 3, 10);
        assert_eq!([0, 1, 2].map(|rank| pieces.range(rank)), [0..30, 30..60, 60..100]);
        let part = pieces.within(&(20..50));
        assert_eq!([0, 1, 2].map(|rank| part.range(rank)), [0..10, 10..30, 30..30]);
        assert_eq!(part.length(), 30);
        assert_eq!(pieces.within(&(0..100)), pieces);
    }

    proptest! {
        #[test]
        fn pieces_are_aligned_cover_the_vector_and_differ_by_one_block(
            length in 0_usize..50_000, ranks in 1_usize..9, align in 1_usize..3000,
        ) {
            let pieces = Pieces::new(length, ranks, align);
            prop_assert_eq!(pieces.range(0).start, 0);
            prop_assert_eq!(pieces.range(ranks - 1).end, length);
            let sizes: Vec<usize> = (0..ranks).map(|r| pieces.range(r).len()).collect();
            for rank in 1..ranks {
                prop_assert_eq!(pieces.range(rank).start, pieces.range(rank - 1).end);
                let start = pieces.range(rank).start;
                prop_assert!(start.is_multiple_of(align) || start == length);
            }
            let (most, least) = (sizes.iter().max().unwrap(), sizes.iter().min().unwrap());
            // Two blocks only where the last one is cut short.
            prop_assert!(most - least < 2 * align);
        }
    }
}
