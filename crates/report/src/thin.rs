//! Long series cut down to what a chart can show.

/// At most `most` points of a series, in order: both ends, and the smallest and the largest value
/// of each of equally long stretches, so that no peak is lost.
pub(crate) fn thin(at: &[f64], values: &[f64], most: usize) -> Vec<(f64, f64)> {
    let points: Vec<_> = at.iter().copied().zip(values.iter().copied()).collect();
    let most = most.max(4);
    if points.len() <= most {
        return points;
    }
    let last = points.len() - 1;
    let stretches = (most - 2) / 2;
    let mut kept = vec![0];
    for stretch in 0..stretches {
        let from = 1 + (last - 1) * stretch / stretches;
        let to = 1 + (last - 1) * (stretch + 1) / stretches;
        let by_value = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
        kept.extend((from..to).min_by(by_value));
        kept.extend((from..to).max_by(by_value));
    }
    kept.push(last);
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| points[index]).collect()
}

/// At most `most` of `count` indices: those of the greatest weight, then evenly spread ones.
pub(crate) fn sample(weights: &[f64], most: usize) -> Vec<usize> {
    if weights.len() <= most {
        return (0..weights.len()).collect();
    }
    let mut by_weight: Vec<usize> = (0..weights.len()).collect();
    by_weight.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let (heavy, mut light) = (by_weight[..most / 4].to_vec(), by_weight[most / 4..].to_vec());
    light.sort_unstable();
    let room = most - heavy.len();
    let mut kept = heavy;
    kept.extend((0..room).map(|place| light[place * light.len() / room]));
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_series_stay_whole() {
        assert_eq!(thin(&[1.0, 2.0], &[5.0, 6.0], 40), [(1.0, 5.0), (2.0, 6.0)]);
    }

    proptest! {
        #[test]
        fn thinning_keeps_ends_and_extremes(
            values in prop::collection::vec(-1e3f64..1e3, 1..300),
            most in 4usize..60,
        ) {
            let at: Vec<f64> = (0..values.len()).map(|index| index as f64).collect();
            let kept = thin(&at, &values, most);
            prop_assert!(kept.len() <= most.max(4));
            prop_assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert!(kept.iter().all(|&(x, y)| values[x as usize] == y));
            prop_assert_eq!(kept[0].0, 0.0);
            prop_assert_eq!(kept[kept.len() - 1].0, (values.len() - 1) as f64);
            for pick in [f64::min, f64::max] {
                let extreme = values.iter().copied().reduce(pick);
                prop_assert_eq!(kept.iter().map(|&(_, y)| y).reduce(pick), extreme);
            }
        }

        #[test]
        fn a_sample_is_distinct_and_has_the_heaviest(
            weights in prop::collection::vec(0f64..1.0, 0..300),
            most in 4usize..100,
        ) {
            let kept = sample(&weights, most);
            prop_assert_eq!(kept.len(), most.min(weights.len()));
            prop_assert!(kept.is_sorted_by(|a, b| a < b));
            let heaviest = weights.iter().copied().reduce(f64::max);
            prop_assert_eq!(kept.iter().map(|&index| weights[index]).reduce(f64::max), heaviest);
        }
    }
}
