//! Sparse examples laid out for speed: frequent features first.
//!
//! Features are numbered anew by how often they come, so that the weights which are needed most
//! lie together in the caches, and each example's features are sorted by the new numbers, so that
//! the hot ones come first. What is needed to find an example lies in one place.

use crate::arithmetic::large_pages::room_for;

/// Examples of which most features are 0, as they were read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseDraft {
    /// Where each example starts among the ids, and where the last one ends.
    pub starts: Vec<usize>,
    /// Ids of the features that are not 0, each once in an example.
    pub ids: Vec<u32>,
    /// Value of each; `None` when every one is 1.
    pub values: Option<Vec<f32>>,
    /// Whether each example belongs to the class that is predicted.
    pub positive: Vec<bool>,
}

/// New numbers for features, frequent ones first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureOrder {
    /// The new number of each feature.
    ranks: Vec<u32>,
    /// How many features come in at least one of [`FREQUENT`] examples.
    frequent: usize,
}

/// Examples with the new numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSet {
    places: Vec<Place>,
    /// Each is below `features`; loops over examples rely on it.
    ids: Vec<u32>,
    values: Option<Vec<f32>>,
    pub(crate) positive: Vec<bool>,
    features: usize,
    frequent: usize,
}

/// Where an example lies, and what is known of it before it is read. Four fill a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(16))]
pub(crate) struct Place {
    start: usize,
    length: u32,
    /// Twice the number of hot features, and one more for a positive example.
    hot_and_class: u32,
}

/// The examples of a set in which every value is 1 (`ONES`), or which has values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a, const ONES: bool> {
    places: &'a [Place],
    ids: &'a [u32],
    values: Option<&'a [f32]>,
}

/// An example with the new numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) features: Features<'a>,
    /// How many of the features, which come first, are hot.
    pub(crate) hot: usize,
    pub(crate) positive: bool,
}

/// New numbers of features in rising order, and their values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Features<'a> {
    pub(crate) ids: &'a [u32],
    /// `None` when every one is 1.
    pub(crate) values: Option<&'a [f32]>,
}

/// The most frequent features. Their cells stay in the innermost cache, and threads keep copies
/// of them or gather their gradients apart.
pub(crate) const HOT: usize = 1024;

/// A feature is frequent that comes in at least one of that many examples.
const FREQUENT: usize = 16;

impl SparseDraft {
    /// The same examples with ids hashed into `2^bits`; values whose ids collide within an
    /// example are added up.
    ///
    /// The hash is Knuth's multiplicative one (The Art of Computer Programming 3, section 6.4).
    pub fn hashed(&self, bits: u32) -> Self {
        let hash = |id: u32| id.wrapping_mul(0x9e37_79b9).checked_shr(32 - bits).unwrap_or(0);
        let mut out = Self { starts: vec![0], positive: self.positive.clone(), ..Self::default() };
        let (mut row, mut all_one) = (Vec::new(), true);
        let mut values = Vec::with_capacity(self.ids.len());
        for bounds in self.starts.windows(2) {
            row.clear();
            row.extend((bounds[0]..bounds[1]).map(|place| {
                let value = self.values.as_ref().map_or(1.0, |values| values[place]);
                (hash(self.ids[place]), value)
            }));
            row.sort_by_key(|feature: &(u32, f32)| feature.0);
            row.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                earlier.1 += if same { later.1 } else { 0.0 };
                same
            });
            all_one &= row.iter().all(|feature| feature.1 == 1.0);
            out.ids.extend(row.iter().map(|feature| feature.0));
            values.extend(row.iter().map(|feature| feature.1));
            out.starts.push(out.ids.len());
        }
        out.values = (!all_one).then_some(values);
        out
    }

    /// The examples in a feature order.
    ///
    /// # Panics
    /// When an id is beyond the order's features or the lengths do not fit together.
    pub fn ordered(self, order: &FeatureOrder) -> SparseSet {
        let Self { starts, ids, values, positive } = self;
        assert_eq!(starts.len(), positive.len() + 1, "one start an example, and the end");
        assert_eq!(starts.last(), Some(&ids.len()), "the last example ends at the end");
        assert!(values.as_ref().is_none_or(|values| values.len() == ids.len()), "one value an id");
        let (mut scratch, mut places) = (Vec::new(), room_for(positive.len()));
        let mut new_ids = room_for(ids.len());
        let mut new_values = values.as_ref().map(|values| room_for(values.len()));
        for (bounds, &positive) in starts.windows(2).zip(&positive) {
            let range = bounds[0]..bounds[1];
            let row_values = values.as_ref().map(|values| &values[range.clone()]);
            order.sort_row(&ids[range], row_values, &mut scratch);
            places.push(Place::of(new_ids.len(), &scratch, positive));
            new_ids.extend(scratch.iter().map(|feature| feature.0));
            if let Some(values) = &mut new_values {
                values.extend(scratch.iter().map(|feature| feature.1));
            }
        }
        let (features, frequent) = (order.features(), order.frequent);
        SparseSet { places, ids: new_ids, values: new_values, positive, features, frequent }
    }
}

impl FeatureOrder {
    /// The order that suits these examples, for so many features.
    ///
    /// # Panics
    /// When an id is not below `features`.
    pub fn of(examples: &SparseDraft, features: u32) -> Self {
        let mut counts = vec![0_u64; features as usize];
        examples.ids.iter().for_each(|&id| counts[id as usize] += 1);
        let mut by_count: Vec<u32> = (0..features).collect();
        by_count.sort_by_key(|&id| (std::cmp::Reverse(counts[id as usize]), id));
        let mut ranks = vec![0; features as usize];
        (0..).zip(&by_count).for_each(|(rank, &id)| ranks[id as usize] = rank);
        let least = examples.positive.len().div_ceil(FREQUENT) as u64;
        let frequent = counts.iter().filter(|&&count| count >= least.max(1)).count();
        Self { ranks, frequent }
    }

    /// How many features there are.
    pub fn features(&self) -> usize {
        self.ranks.len()
    }

    /// The new number of a feature.
    pub(crate) fn rank(&self, feature: usize) -> usize {
        self.ranks[feature] as usize
    }

    /// Renumbers a row and sorts it by the new numbers.
    fn sort_row(&self, ids: &[u32], values: Option<&[f32]>, row: &mut Vec<(u32, f32)>) {
        row.clear();
        let value = |place: usize| values.map_or(1.0, |values| values[place]);
        let features = ids.iter().enumerate();
        row.extend(features.map(|(place, &id)| (self.ranks[id as usize], value(place))));
        row.sort_by_key(|feature| feature.0);
    }
}

impl Place {
    fn of(start: usize, row: &[(u32, f32)], positive: bool) -> Self {
        let length = u32::try_from(row.len()).expect("an example has each id once");
        let hot = row.partition_point(|feature| (feature.0 as usize) < HOT) as u32;
        Self { start, length, hot_and_class: 2 * hot + u32::from(positive) }
    }
}

impl<'a, const ONES: bool> Rows<'a, ONES> {
    /// An example.
    ///
    /// # Panics
    /// When there is no such example.
    #[inline(always)]
    pub(crate) fn row(&self, example: u32) -> Row<'a> {
        let Place { start, length, hot_and_class } = self.places[example as usize];
        let range = start..start + length as usize;
        // SAFETY: `ordered` has put that many ids there, and as many values where there are any.
        let ids = unsafe { self.ids.get_unchecked(range.clone()) };
        let values = if ONES { None } else { self.values };
        // SAFETY: as above.
        let values = values.map(|values| unsafe { values.get_unchecked(range) });
        let (hot, positive) = (hot_and_class as usize / 2, hot_and_class % 2 == 1);
        Row { features: Features { ids, values }, hot, positive }
    }

    /// Where an example's place is kept.
    #[inline(always)]
    pub(crate) fn place(&self, example: u32) -> &'a Place {
        &self.places[example as usize]
    }
}

impl Features<'_> {
    /// The first features and the others.
    #[inline(always)]
    pub(crate) fn split_at(self, count: usize) -> [Self; 2] {
        let (first, others) = self.ids.split_at(count);
        let [first_values, other_values] = match self.values {
            Some(values) => [Some(&values[..count]), Some(&values[count..])],
            None => [None, None],
        };
        [Self { ids: first, values: first_values }, Self { ids: others, values: other_values }]
    }
}

impl SparseSet {
    /// New numbers of the features of an example.
    pub(crate) fn rows_of(&self, example: u32) -> &[u32] {
        let Place { start, length, .. } = self.places[example as usize];
        &self.ids[start..start + length as usize]
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.positive.len()
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty()
    }

    /// Whether an example belongs to the class that is predicted.
    ///
    /// # Panics
    /// When there is no such example.
    pub fn is_positive(&self, example: usize) -> bool {
        self.positive[example]
    }

    /// Whether all features have the value 1.
    pub(crate) fn is_of_ones(&self) -> bool {
        self.values.is_none()
    }

    /// All examples of a set that is of ones or not, as `ONES` tells.
    pub(crate) fn rows<const ONES: bool>(&self) -> Rows<'_, ONES> {
        assert_eq!(ONES, self.is_of_ones(), "a set of ones has no values");
        Rows { places: &self.places, ids: &self.ids, values: self.values.as_deref() }
    }

    /// How many features there can be; each id is below.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    /// How many features, from the first, come in at least one of [`FREQUENT`] examples.
    pub(crate) fn frequent(&self) -> usize {
        self.frequent
    }

    /// About how many features that many examples have.
    pub(crate) fn features_of(&self, examples: usize) -> usize {
        self.ids.len().checked_div(self.len()).unwrap_or(0) * examples
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Random examples, most of whose features are among the first.
    pub(crate) fn drafts(features: u32) -> impl Strategy<Value = SparseDraft> {
        let id = (0.0_f64..1.0).prop_map(move |u| (u * u * u * f64::from(features)) as u32);
        let row = (prop::collection::btree_set(id, 0..12), any::<bool>());
        let values = prop::option::of(any::<u64>());
        (prop::collection::vec(row, 1..60), values).prop_map(|(rows, seed)| {
            let mut draft = SparseDraft { starts: vec![0], ..SparseDraft::default() };
            for (ids, positive) in rows {
                draft.ids.extend(ids);
                draft.starts.push(draft.ids.len());
                draft.positive.push(positive);
            }
            draft.values = seed.map(|seed| {
                let value =
                    |place: u64| (seed.wrapping_mul(place * 2 + 1) >> 40) as f32 / 1e7 - 0.8;
                (0..draft.ids.len() as u64).map(value).collect()
            });
            draft
        })
    }

    fn row(set: &SparseSet, example: u32) -> Row<'_> {
        match set.is_of_ones() {
            true => set.rows::<true>().row(example),
            false => set.rows::<false>().row(example),
        }
    }

    proptest! {
        #[test]
        fn ordering_keeps_every_feature_of_every_example(draft in drafts(3000)) {
            let order = FeatureOrder::of(&draft, 3000);
            let set = draft.clone().ordered(&order);
            for example in 0..set.len() {
                let Row { features: Features { ids, values }, hot, positive } = row(&set, example as u32);
                let value = |place: usize| values.map_or(1.0, |values| values[place]);
                let found: Vec<(u32, f32)> =
                    ids.iter().enumerate().map(|(place, &id)| (id, value(place))).collect();
                let range = draft.starts[example]..draft.starts[example + 1];
                let mut expected: Vec<(u32, f32)> = range.map(|place| {
                    let value = draft.values.as_ref().map_or(1.0, |values| values[place]);
                    (order.rank(draft.ids[place] as usize) as u32, value)
                }).collect();
                expected.sort_by_key(|feature| feature.0);
                prop_assert_eq!(found, expected);
                prop_assert_eq!(positive, draft.positive[example]);
                prop_assert_eq!(hot, ids.iter().filter(|&&id| (id as usize) < HOT).count());
            }
        }
    }

    #[test]
    fn frequent_features_get_low_numbers() {
        let draft = SparseDraft {
            starts: vec![0, 2, 3, 5],
            ids: vec![4, 7, 7, 2, 7],
            values: None,
            positive: vec![true; 3],
        };
        let order = FeatureOrder::of(&draft, 8);
        assert_eq!(order.frequent, 3);
        assert_eq!((order.rank(7), order.rank(2), order.rank(4), order.rank(0)), (0, 1, 2, 3));
    }

    #[test]
    fn hashed_ids_that_collide_are_added_up() {
        let draft = SparseDraft {
            starts: vec![0, 3],
            ids: vec![1, 2, 3],
            values: None,
            positive: vec![false],
        };
        let hashed = draft.hashed(0);
        assert_eq!((hashed.ids, hashed.values), (vec![0], Some(vec![3.0])));
        let hashed = draft.hashed(20);
        assert_eq!((hashed.ids.len(), hashed.values), (3, None));
        assert!(hashed.starts == [0, 3]);
    }

    proptest! {
        #[test]
        fn hashing_keeps_the_sum_of_every_example(draft in drafts(3000), bits in 0..13_u32) {
            let hashed = draft.hashed(bits);
            prop_assert_eq!(&hashed.positive, &draft.positive);
            prop_assert_eq!(hashed.starts.len(), draft.starts.len());
            let sum = |draft: &SparseDraft, example: usize| -> f64 {
                let places = draft.starts[example]..draft.starts[example + 1];
                let values = draft.values.as_ref();
                places.map(|place| values.map_or(1.0, |all| f64::from(all[place]))).sum()
            };
            for example in 0..draft.positive.len() {
                let ids = &hashed.ids[hashed.starts[example]..hashed.starts[example + 1]];
                prop_assert!(ids.is_sorted_by(|a, b| a < b), "each once: {:?}", ids);
                prop_assert!(ids.iter().all(|&id| id < 1 << bits));
                // Up to 12 values below 1.7 are added up in single precision.
                prop_assert!((sum(&hashed, example) - sum(&draft, example)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn features_that_come_in_a_sixteenth_of_the_examples_are_frequent() {
        // 33 examples: a feature is frequent from 3 of them on.
        let ids: Vec<u32> =
            (0..33).map(|example| [0, 0, 0, 1, 1].get(example).copied().unwrap_or(2)).collect();
        let draft =
            SparseDraft { starts: (0..=33).collect(), ids, values: None, positive: vec![true; 33] };
        let order = FeatureOrder::of(&draft, 9);
        assert_eq!((order.frequent, order.features()), (2, 9));
        assert_eq!((order.rank(2), order.rank(0), order.rank(1)), (0, 1, 2));
        let set = draft.ordered(&order);
        assert_eq!((set.len(), set.features_of(10), set.is_empty()), (33, 10, false));
        assert!(set.is_positive(32));
    }

    #[test]
    fn features_are_split_with_their_values() {
        let features = Features { ids: &[1, 4, 9], values: Some(&[0.1, 0.4, 0.9]) };
        let [first, others] = features.split_at(1);
        assert_eq!((first.ids, first.values), (&[1][..], Some(&[0.1][..])));
        assert_eq!((others.ids, others.values), (&[4, 9][..], Some(&[0.4, 0.9][..])));
        let [none, all] = Features { ids: &[1], values: None }.split_at(0);
        assert_eq!((none.ids, all.ids, all.values), (&[][..], &[1][..], None));
    }

    #[test]
    #[should_panic(expected = "one value an id")]
    fn values_that_are_not_as_many_as_ids_are_refused() {
        let values = Some(vec![1.0]);
        let draft =
            SparseDraft { starts: vec![0, 2], ids: vec![0, 1], values, positive: vec![true] };
        let order = FeatureOrder::of(&draft, 2);
        draft.ordered(&order);
    }
}
