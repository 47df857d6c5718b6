//! Ranks of a sample, equal values sharing their mean rank.

/// Most values for which rank tests count all orders: the counts stay whole numbers in an `f64`.
pub(crate) const MOST_EXACT: usize = 50;
/// Most pairs of values of which rank tests take the median.
pub(crate) const MOST_PAIRS: usize = 1_000_000;

/// How the p-value of a rank test was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailMethod {
    /// By counting all orders.
    Exact,
    /// By a normal approximation.
    Normal,
    /// By the t distribution.
    Student,
    /// By the chi-squared distribution.
    ChiSquared,
}

impl TailMethod {
    /// The method in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Normal => "normal approximation",
            Self::Student => "t approximation",
            Self::ChiSquared => "chi-squared approximation",
        }
    }
}

/// Ranks from 1, in the order of the values, and the sizes of the groups of equal values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranks {
    pub(crate) ranks: Vec<f64>,
    /// Sizes of all runs of equal values of two or more.
    pub(crate) ties: Vec<usize>,
}

impl Ranks {
    /// Ranks finite values; those no further than `tolerance` from their neighbour count as equal.
    pub(crate) fn of(values: &[f64], tolerance: f64) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let mut ties = Vec::new();
        let mut start = 0;
        for end in 1..=order.len() {
            let goes_on =
                end < order.len() && values[order[end]] - values[order[end - 1]] <= tolerance;
            if goes_on {
                continue;
            }
            // Ranks start + 1 to end share their mean.
            let shared = 0.5 * (start + 1 + end) as f64;
            order[start..end].iter().for_each(|&index| ranks[index] = shared);
            if end - start > 1 {
                ties.push(end - start);
            }
            start = end;
        }
        Self { ranks, ties }
    }

    /// Twice the ranks, which are whole numbers.
    pub(crate) fn doubled(&self) -> Vec<usize> {
        self.ranks.iter().map(|rank| (2.0 * rank) as usize).collect()
    }

    /// Sum of t^3 - t over the ties, by which variances of rank sums shrink.
    pub(crate) fn tie_cubes(&self) -> f64 {
        self.ties.iter().map(|&t| (t as f64).powi(3) - t as f64).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_values_share_their_mean_rank() {
        let found = Ranks::of(&[3.0, 1.0, 3.0, -2.0, 3.0], 0.0);
        assert_eq!(found.ranks, [4.0, 2.0, 4.0, 1.0, 4.0]);
        assert_eq!((found.ties.as_slice(), found.tie_cubes()), ([3].as_slice(), 24.0));
        assert_eq!(Ranks::of(&[0.1 + 0.2, 0.3], 1e-15).ties, [2]);
        // The two zeros are one number.
        assert_eq!(Ranks::of(&[0.0, -0.0], 0.0).ranks, [1.5, 1.5]);
    }

    proptest! {
        #[test]
        fn ranks_count_smaller_and_half_of_equal(values in prop::collection::vec(0..9i32, 0..30)) {
            let floats: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
            for (value, rank) in values.iter().zip(Ranks::of(&floats, 0.0).ranks) {
                let below = values.iter().filter(|v| *v < value).count() as f64;
                let equal = values.iter().filter(|v| *v == value).count() as f64;
                prop_assert_eq!(rank, below + 0.5 * (equal + 1.0));
            }
        }
    }
}
