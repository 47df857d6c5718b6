//! Sparse examples laid out for speed: frequent features first.
//!
//! Features are numbered anew by how often they come, so that the weights which are needed most
//! lie together in the caches, and each example's features are sorted by groups of the new numbers,
//! so that threads find their share of an example without searching. Both depend on the data
//! alone: the number of threads changes no sum.

use std::ops::Range;

use crate::large_pages::room_for;

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
    /// Where the groups end, in new numbers; each holds about as many occurrences.
    bounds: [u32; GROUPS],
}

/// Examples with the new numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSet {
    pub(crate) starts: Vec<usize>,
    pub(crate) ids: Vec<u32>,
    pub(crate) values: Option<Vec<f32>>,
    pub(crate) positive: Vec<bool>,
    /// Where each group but the last ends in each example, counted from its start.
    cuts: Vec<[u32; GROUPS - 1]>,
}

/// Groups of features of equal work, and so the most threads that share a batch. More of them
/// would cut examples into pieces too short for their loops.
pub(crate) const GROUPS: usize = 4;

/// The most frequent features, of which asynchronous threads keep copies of their own.
pub(crate) const HOT: u32 = 1024;

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
        let (mut scratch, mut cuts) = (Vec::new(), room_for(positive.len()));
        let (mut new_ids, mut new_starts) = (room_for(ids.len()), room_for(starts.len()));
        let mut new_values = values.as_ref().map(|values| room_for(values.len()));
        for bounds in starts.windows(2) {
            let range = bounds[0]..bounds[1];
            let row_values = values.as_ref().map(|values| &values[range.clone()]);
            cuts.push(order.sort_row(&ids[range], row_values, &mut scratch));
            new_ids.extend(scratch.iter().map(|feature| feature.1));
            if let Some(values) = &mut new_values {
                values.extend(scratch.iter().map(|feature| feature.2));
            }
        }
        new_starts.extend(starts);
        SparseSet { starts: new_starts, ids: new_ids, values: new_values, positive, cuts }
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
        let (mut bounds, mut group, mut sum) = ([features; GROUPS], 0, 0);
        for (rank, &id) in (0..).zip(&by_count) {
            ranks[id as usize] = rank;
            let due = examples.ids.len() as u64 * (group as u64 + 1);
            if sum * GROUPS as u64 >= due && group + 1 < GROUPS {
                bounds[group] = rank;
                group += 1;
            }
            sum += counts[id as usize];
        }
        Self { ranks, bounds }
    }

    /// How many features there are.
    pub fn features(&self) -> usize {
        self.ranks.len()
    }

    /// The new number of a feature.
    pub(crate) fn rank(&self, feature: usize) -> usize {
        self.ranks[feature] as usize
    }

    /// Renumbers a row and sorts it by groups, stably, the hot features first of all; tells where
    /// all groups but the last end.
    fn sort_row(
        &self,
        ids: &[u32],
        values: Option<&[f32]>,
        row: &mut Vec<(u32, u32, f32)>,
    ) -> [u32; GROUPS - 1] {
        let key = |rank: u32| {
            2 * self.bounds.partition_point(|&bound| bound <= rank) as u32 + u32::from(rank >= HOT)
        };
        row.clear();
        let value = |place: usize| values.map_or(1.0, |values| values[place]);
        row.extend(ids.iter().enumerate().map(|(place, &id)| {
            let rank = self.ranks[id as usize];
            (key(rank), rank, value(place))
        }));
        row.sort_by_key(|feature| feature.0);
        let end = |group: usize| row.partition_point(|feature| feature.0 / 2 <= group as u32);
        std::array::from_fn(|group| u32::try_from(end(group)).expect("an example below 2^32 ids"))
    }
}

impl SparseSet {
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

    /// New numbers of an example's features, and their values.
    #[inline(always)]
    pub(crate) fn row(&self, example: usize) -> (&[u32], Option<&[f32]>) {
        let range = self.starts[example]..self.starts[example + 1];
        (&self.ids[range.clone()], self.values.as_ref().map(|values| &values[range]))
    }

    /// As [`Self::row`], of some groups.
    #[inline(always)]
    pub(crate) fn groups(&self, example: usize, groups: Range<usize>) -> (&[u32], Option<&[f32]>) {
        let (ids, values) = self.row(example);
        let cuts = &self.cuts[example];
        let cut = |group: usize| match group {
            0 => 0,
            GROUPS => ids.len(),
            _ => cuts[group - 1] as usize,
        };
        let range = cut(groups.start)..cut(groups.end);
        (&ids[range.clone()], values.map(|values| &values[range]))
    }

    /// Where the ends of an example's groups are kept.
    #[inline(always)]
    pub(crate) fn cuts(&self, example: usize) -> &[u32; GROUPS - 1] {
        &self.cuts[example]
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

    proptest! {
        #[test]
        fn ordering_keeps_every_feature_of_every_example(draft in drafts(3000)) {
            let order = FeatureOrder::of(&draft, 3000);
            let set = draft.clone().ordered(&order);
            for example in 0..set.len() {
                let (ids, values) = set.row(example);
                let value = |place: usize| values.map_or(1.0, |values| values[place]);
                let mut found: Vec<(u32, f32)> =
                    ids.iter().enumerate().map(|(place, &id)| (id, value(place))).collect();
                let range = draft.starts[example]..draft.starts[example + 1];
                let mut expected: Vec<(u32, f32)> = range.map(|place| {
                    let value = draft.values.as_ref().map_or(1.0, |values| values[place]);
                    (order.rank(draft.ids[place] as usize) as u32, value)
                }).collect();
                for features in [&mut found, &mut expected] {
                    features.sort_by_key(|feature| feature.0);
                }
                prop_assert_eq!(found, expected);
                prop_assert!(ids.is_sorted_by_key(|&id| id >= HOT));
                let mut joined = Vec::new();
                for (group, &end) in order.bounds.iter().enumerate() {
                    let start = group.checked_sub(1).map_or(0, |before| order.bounds[before]);
                    let own = set.groups(example, group..group + 1).0;
                    prop_assert!(own.iter().all(|id| (start..end).contains(id)), "{ids:?}");
                    joined.extend_from_slice(own);
                }
                prop_assert_eq!(&joined, ids);
            }
        }

        #[test]
        fn groups_rise_to_the_end_and_share_the_work(draft in drafts(3000)) {
            let order = FeatureOrder::of(&draft, 3000);
            prop_assert!(order.bounds.is_sorted());
            prop_assert_eq!(order.bounds.last(), Some(&3000));
            let mut counts = vec![0_usize; 3000];
            draft.ids.iter().for_each(|&id| counts[order.rank(id as usize)] += 1);
            let most_frequent = counts.first().copied().unwrap_or(0);
            let mut start = 0;
            for end in order.bounds {
                let own: usize = counts[start..end as usize].iter().sum();
                prop_assert!(own <= draft.ids.len().div_ceil(GROUPS) + most_frequent);
                start = end as usize;
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
}
