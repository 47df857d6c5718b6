//! The area under the curve of hits over false alarms.

/// The share of pairs of a positive and a negative example in which the positive one has the
/// higher score, ties counting half; `None` without such a pair or with a NaN among the scores.
///
/// By ranks (Hanley and McNeil 1982): the sum of the positives' mean ranks decides it.
///
/// ```
/// use trainwright_networks::area_under_curve;
///
/// assert_eq!(area_under_curve(&[0.9, 0.4, 0.4], &[true, true, false]), Some(0.75));
/// ```
pub fn area_under_curve(scores: &[f32], positive: &[bool]) -> Option<f64> {
    assert_eq!(scores.len(), positive.len(), "one class an example");
    let positives = positive.iter().filter(|&&positive| positive).count();
    let pairs = positives as f64 * (positive.len() - positives) as f64;
    if pairs == 0.0 || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    // Adding zero makes -0 and 0 one value.
    let mut sorted: Vec<(f32, bool)> =
        scores.iter().zip(positive).map(|(&score, &positive)| (score + 0.0, positive)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut won) = (0_usize, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let hits = tied.iter().filter(|example| example.1).count();
        let misses = tied.len() - hits;
        won += hits as f64 * (below as f64 + 0.5 * misses as f64);
        below += misses;
    }
    Some(won / pairs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every pair, one by one.
    fn slow(scores: &[f32], positive: &[bool]) -> Option<f64> {
        let of = |class: bool| {
            scores.iter().zip(positive).filter(move |example| *example.1 == class).map(|e| *e.0)
        };
        let pairs = of(true).flat_map(|hit| of(false).map(move |miss| (hit, miss)));
        let wins: Vec<f64> = pairs
            .map(|(hit, miss)| {
                if hit > miss {
                    1.0
                } else if hit == miss {
                    0.5
                } else {
                    0.0
                }
            })
            .collect();
        (!wins.is_empty()).then(|| wins.iter().sum::<f64>() / wins.len() as f64)
    }

    proptest! {
        #[test]
        fn ranks_agree_with_every_pair(
            examples in prop::collection::vec((-4_i8..4, any::<bool>()), 0..60),
        ) {
            // Few different scores, so that there are ties, and both zeros.
            let scores: Vec<f32> = examples.iter().map(|example| f32::from(example.0) * -0.5).collect();
            let positive: Vec<bool> = examples.iter().map(|example| example.1).collect();
            prop_assert_eq!(area_under_curve(&scores, &positive), slow(&scores, &positive));
        }
    }

    #[test]
    fn one_class_or_a_nan_has_no_area() {
        assert_eq!(area_under_curve(&[1.0, 2.0], &[true, true]), None);
        assert_eq!(area_under_curve(&[f32::NAN, 2.0], &[true, false]), None);
    }
}
