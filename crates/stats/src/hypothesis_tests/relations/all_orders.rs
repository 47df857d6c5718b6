//! Exact chances of a rank statistic over all orders of one of the two samples.
//!
//! Every order of the second sample beside the first is equally likely if the two have nothing to
//! do with each other. Orders are not listed: what is counted is the sums that each set of
//! values, given to the first few of the other sample, can have reached.

/// Most pairs whose orders are counted one set at a time.
pub(crate) const MOST_COUNTED: usize = 12;
/// The same where values tie, which doubles the ranks and so the sums to keep.
pub(crate) const MOST_TIED: usize = 10;

/// Chance of a sum of products of ranks at least as far from its mean as the one seen.
///
/// Ranks come doubled, so that shared ones are whole numbers too.
pub(crate) fn products_as_far(x: &[usize], y: &[usize]) -> f64 {
    let (x, y) = (&halved(x), &halved(y));
    let n = x.len();
    let most: usize = sorted_products(x, y);
    let mut ways = vec![Vec::new(); 1 << n];
    ways[0] = vec![0.0; most + 1];
    ways[0][0] = 1.0;
    for used in 0..ways.len() - 1 {
        let own = std::mem::take(&mut ways[used]);
        let place = used.count_ones() as usize;
        for (value, rank) in y.iter().enumerate().filter(|(value, _)| used >> value & 1 == 0) {
            let step = x[place] * rank;
            let next = &mut ways[used | 1 << value];
            next.resize(most + 1, 0.0);
            for (from, to) in own.iter().zip(&mut next[step..]) {
                *to += from;
            }
        }
    }
    let seen: usize = x.iter().zip(y).map(|(a, b)| a * b).sum();
    let centre = x.iter().sum::<usize>() as f64 * y.iter().sum::<usize>() as f64 / n as f64;
    let sums = ways.pop().unwrap_or_default();
    share_as_far(
        sums.iter().enumerate().map(|(sum, w)| (sum as f64 - centre, *w)),
        seen as f64 - centre,
    )
}

/// Half of all numbers, if they are even.
fn halved(ranks: &[usize]) -> Vec<usize> {
    let unit = if ranks.iter().all(|rank| rank % 2 == 0) { 2 } else { 1 };
    ranks.iter().map(|rank| rank / unit).collect()
}

/// The largest sum of products: that of equal orders.
fn sorted_products(x: &[usize], y: &[usize]) -> usize {
    let [mut x, mut y] = [x.to_vec(), y.to_vec()];
    x.sort_unstable();
    y.sort_unstable();
    x.iter().zip(&y).map(|(a, b)| a * b).sum()
}

/// Chance of at least as many more agreeing than disagreeing pairs, or the reverse, as `seen`.
///
/// `x_groups` are the sizes of the runs of equal values in the first sample, the smallest values
/// first; pairs within one neither agree nor disagree.
pub(crate) fn agreements_as_far(x_groups: &[usize], y: &[usize], seen: f64) -> f64 {
    let n = y.len();
    let most = n * (n - 1) / 2;
    let mut ways = vec![Vec::new(); 1 << n];
    ways[0] = vec![0.0; 2 * most + 1];
    ways[0][most] = 1.0;
    let mut placed = 0;
    for &size in x_groups {
        for used in (0..1usize << n).filter(|used| used.count_ones() as usize == placed) {
            let own = std::mem::take(&mut ways[used]);
            let free = !used & ((1 << n) - 1);
            for chosen in subsets(free).filter(|chosen| chosen.count_ones() as usize == size) {
                let next = &mut ways[used | chosen];
                next.resize(2 * most + 1, 0.0);
                add_moved(next, &own, agreements(y, used, chosen));
            }
        }
        placed += size;
    }
    let sums = ways.pop().unwrap_or_default();
    let from_centre = |(place, w): (usize, &f64)| (place as f64 - most as f64, *w);
    share_as_far(sums.iter().enumerate().map(from_centre), seen)
}

/// All subsets of a set of bits, the empty one last.
fn subsets(whole: usize) -> impl Iterator<Item = usize> {
    let next = move |own: &usize| (*own > 0).then(|| (own - 1) & whole);
    std::iter::successors(Some(whole), next)
}

/// Agreeing less disagreeing pairs of a value in `earlier` and one in `later`.
fn agreements(y: &[usize], earlier: usize, later: usize) -> isize {
    let values = |set: usize| y.iter().enumerate().filter(move |(k, _)| set >> k & 1 == 1);
    let pairs = values(earlier).flat_map(|(_, a)| values(later).map(move |(_, b)| b.cmp(a)));
    pairs.map(|order| order as isize).sum()
}

/// Adds counts moved by some places; what would leave the range is never there.
fn add_moved(into: &mut [f64], counts: &[f64], by: isize) {
    let (from, to) = if by < 0 { (by.unsigned_abs(), 0) } else { (0, by.unsigned_abs()) };
    for (count, place) in counts[from..].iter().zip(&mut into[to..]) {
        *place += count;
    }
}

fn share_as_far(ways: impl Iterator<Item = (f64, f64)>, seen: f64) -> f64 {
    // Sums are whole numbers, their centre a multiple of 1 / n.
    let limit = seen.abs() - 1e-6;
    let (far, all) = ways.fold((0.0, 0.0), |(far, all), (distance, own)| {
        (if distance.abs() >= limit { far + own } else { far }, all + own)
    });
    far / all
}

/// Chance of each number of disagreeing pairs among `n` without ties: each further value is
/// overtaken by 0 to all of those before it, all equally likely.
pub(crate) fn disagreements_without_ties(n: usize) -> Vec<f64> {
    let mut chances = vec![1.0];
    for size in 2..=n {
        // Sums of their own, since a moving one would lose the digits of the tails.
        let mean = |place: usize| {
            let last = place.min(chances.len() - 1);
            let first = (place + 1).saturating_sub(size);
            chances[first..=last].iter().sum::<f64>() / size as f64
        };
        chances = (0..chances.len() + size - 1).map(mean).collect();
    }
    chances
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All orders of the values, one by one.
    fn orders(values: &[usize]) -> Vec<Vec<usize>> {
        if values.is_empty() {
            return vec![vec![]];
        }
        let mut found = Vec::new();
        for (place, first) in values.iter().enumerate() {
            let mut rest = values.to_vec();
            rest.remove(place);
            for mut order in orders(&rest) {
                order.push(*first);
                found.push(order);
            }
        }
        found
    }

    fn share(values: &[f64], seen: f64) -> f64 {
        let far = values.iter().filter(|v| v.abs() >= seen.abs() - 1e-9).count();
        far as f64 / values.len() as f64
    }

    fn agreement(x: &[usize], y: &[usize]) -> f64 {
        let mut s = 0;
        for i in 0..x.len() {
            for k in 0..i {
                s += (x[i].cmp(&x[k]) as i32) * (y[i].cmp(&y[k]) as i32);
            }
        }
        f64::from(s)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn counted_orders_are_those_listed(
            pairs in prop::collection::vec((1usize..6, 1usize..6), 2..7),
        ) {
            let (mut x, y): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
            x.sort_unstable();
            let all = orders(&y);
            let sum = |y: &[usize]| x.iter().zip(y).map(|(a, b)| a * b).sum::<usize>() as f64;
            let centre = x.iter().sum::<usize>() as f64 * y.iter().sum::<usize>() as f64 / x.len() as f64;
            let listed: Vec<f64> = all.iter().map(|y| sum(y) - centre).collect();
            let expected = share(&listed, sum(&y) - centre);
            prop_assert!((products_as_far(&x, &y) - expected).abs() < 1e-12);
            let groups: Vec<usize> = x.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
            let listed: Vec<f64> = all.iter().map(|y| agreement(&x, y)).collect();
            let seen = agreement(&x, &y);
            let found = agreements_as_far(&groups, &y, seen);
            prop_assert!((found - share(&listed, seen)).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn disagreements_are_the_mahonian_numbers() {
        let found: Vec<f64> =
            disagreements_without_ties(4).iter().map(|c| (24.0 * c).round()).collect();
        assert_eq!(found, [1.0, 3.0, 5.0, 6.0, 5.0, 3.0, 1.0]);
        let all: f64 = disagreements_without_ties(50).iter().sum();
        assert!((all - 1.0).abs() < 1e-12);
    }
}
