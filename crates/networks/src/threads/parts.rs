//! A slice cut into parts that the threads of a team write to, each part by one of them.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Parts that are told apart without memory from the heap, and how many of them a word holds.
const FEW_PARTS: usize = 1024;
const WORD: usize = u64::BITS as usize;

/// A mutable slice whose parts can be taken through a shared reference, each once.
pub(crate) struct Parts<'a, T> {
    values: *mut T,
    cut: Cut<'a>,
    length: usize,
    claims: Claims,
    borrowed: PhantomData<&'a mut [T]>,
}

/// Where a slice is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut<'a> {
    /// Into parts of this length, the last of which may be shorter.
    Every(usize),
    /// At these rising places, of which the last is the slice's end.
    At(&'a [usize]),
}

// SAFETY: a part is handed out once, so that threads never share a value of type `T`; they only
// share the atomic bits.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    /// The parts of a slice.
    pub(crate) fn new(values: &'a mut [T], cut: Cut<'a>) -> Self {
        let length = values.len();
        let count = match cut {
            Cut::Every(part) => length.div_ceil(part),
            Cut::At(places) => {
                assert!(places.is_sorted(), "places of a cut rise");
                assert_eq!(places.last().copied().unwrap_or(0), length, "a cut ends at the end");
                places.len()
            }
        };
        let claims = Claims::new(count);
        Self { values: values.as_mut_ptr(), cut, length, claims, borrowed: PhantomData }
    }

    /// Takes a part.
    ///
    /// # Panics
    /// When it was taken before or does not exist.
    #[expect(clippy::mut_from_ref, reason = "a part is handed out once")]
    pub(crate) fn take(&self, part: usize) -> &mut [T] {
        self.claims.claim(part);
        let Range { start, end } = self.range(part);
        assert!(start <= end && end <= self.length, "part {part} exists");
        // SAFETY: the range lies inside the slice that was borrowed for `'a`, it overlaps no
        // other part because the places of a cut rise, and the claim above lets it out only once.
        unsafe { std::slice::from_raw_parts_mut(self.values.add(start), end - start) }
    }

    fn range(&self, part: usize) -> Range<usize> {
        match self.cut {
            Cut::Every(length) => part * length..self.length.min((part + 1) * length),
            Cut::At(places) => part.checked_sub(1).map_or(0, |before| places[before])..places[part],
        }
    }
}

/// Which parts have been taken: one bit each.
pub(crate) struct Claims {
    first: [AtomicU64; FEW_PARTS / WORD],
    rest: Vec<AtomicU64>,
}

impl Claims {
    /// Claims on that many parts, of which none is taken.
    pub(crate) fn new(count: usize) -> Self {
        let first = [const { AtomicU64::new(0) }; FEW_PARTS / WORD];
        let rest = (FEW_PARTS..count).step_by(WORD).map(|_| AtomicU64::new(0)).collect();
        Self { first, rest }
    }

    /// Takes a part.
    ///
    /// # Panics
    /// When it was taken before.
    pub(crate) fn claim(&self, part: usize) {
        let (word, bit) = (part / WORD, 1 << (part % WORD));
        let word = self.first.get(word).unwrap_or_else(|| &self.rest[word - self.first.len()]);
        let before = word.fetch_or(bit, Ordering::Relaxed);
        assert_eq!(before & bit, 0, "part {part} is taken once");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_slice_in_order() {
        let mut values: Vec<usize> = (0..150).collect();
        let parts = Parts::new(&mut values, Cut::Every(2));
        let all: Vec<usize> = (0..75).flat_map(|part| parts.take(part).to_vec()).collect();
        assert_eq!(all, (0..150).collect::<Vec<usize>>());
        let parts = Parts::new(&mut values[..5], Cut::At(&[2, 2, 5]));
        assert_eq!((parts.take(2), parts.take(1)), (&mut [2, 3, 4][..], &mut [][..]));
        assert_eq!(parts.take(0), [0, 1]);
        let parts = Parts::new(&mut values[..5], Cut::Every(4));
        assert_eq!((&*parts.take(1), &*parts.take(0)), (&[4][..], &[0, 1, 2, 3][..]));
    }

    #[test]
    fn parts_may_be_many() {
        let mut values = vec![0_u8; 3000];
        let parts = Parts::new(&mut values, Cut::Every(1));
        (0..3000).for_each(|part| parts.take(part)[0] += 1);
        assert!(values.iter().all(|&value| value == 1));
    }

    #[test]
    #[should_panic(expected = "part 2999 is taken once")]
    fn one_of_many_parts_is_not_handed_out_twice() {
        let mut values = vec![0_u8; 3000];
        let parts = Parts::new(&mut values, Cut::Every(1));
        parts.take(2999);
        parts.take(2999);
    }

    #[test]
    #[should_panic(expected = "part 1 is taken once")]
    fn a_part_is_not_handed_out_twice() {
        let mut values = [0; 4];
        let parts = Parts::new(&mut values, Cut::Every(2));
        parts.take(1);
        parts.take(1);
    }

    #[test]
    #[should_panic(expected = "part 3 exists")]
    fn a_part_beyond_the_end_is_refused() {
        let mut values = [0; 4];
        Parts::new(&mut values, Cut::Every(2)).take(3);
    }
}
