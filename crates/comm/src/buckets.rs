//! The ranges of a gradient that are added up together, in the order in which they are finished.

use std::ops::Range;

/// Ranges of a vector, the last tensors first: a backward pass finishes them in this order.
///
/// The ranges are fixed by the sizes of the tensors alone, so that every rank has the same ones, and
/// they are added up in the same order on every rank whenever they are finished.
///
/// ```
/// use trainwright_comm::Buckets;
///
/// // Three tensors; buckets of at least 80 bytes, the first one of at least 4.
/// let buckets = Buckets::new(&[10, 20, 5], 80, 4);
/// assert_eq!(buckets.ranges(), [30..35, 10..30, 0..10]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    length: usize,
    ranges: Vec<Range<usize>>,
}

impl Buckets {
    /// Buckets of tensors with these numbers of values, in forward order. A bucket is full when it
    /// has at least `bytes` bytes, the first one when it has `first`: a small first bucket lets the
    /// sums begin early. No tensor is cut.
    pub fn new(tensors: &[usize], bytes: usize, first: usize) -> Self {
        let length = tensors.iter().sum();
        let (mut ranges, mut end, mut start) = (Vec::new(), length, length);
        for tensor in tensors.iter().rev() {
            start -= tensor;
            let full = if ranges.is_empty() { first } else { bytes };
            if start < end && (end - start) * size_of::<f32>() >= full {
                ranges.push(start..end);
                end = start;
            }
        }
        if end > 0 {
            ranges.push(0..end);
        }
        Self { length, ranges }
    }

    /// The ranges, in the order in which they are added up.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// The length of the vector.
    pub fn length(&self) -> usize {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn buckets_cover_the_vector_backwards_and_cut_no_tensor(
            tensors in proptest::collection::vec(0_usize..500, 0..30),
            bytes in 0_usize..3000, first in 0_usize..500,
        ) {
            let buckets = Buckets::new(&tensors, bytes, first);
            let starts: Vec<usize> = tensors.iter()
                .scan(0, |start, size| { let own = *start; *start += size; Some(own) }).collect();
            let mut end = tensors.iter().sum::<usize>();
            for (at, range) in buckets.ranges().iter().enumerate() {
                prop_assert_eq!(range.end, end);
                prop_assert!(!range.is_empty() && starts.contains(&range.start));
                let least = if at == 0 { first } else { bytes };
                // The last holds what is left; without its first tensors no other one is full.
                prop_assert!(range.len() * 4 >= least || range.start == 0);
                end = range.start;
            }
            prop_assert_eq!(end, 0);
        }
    }
}
