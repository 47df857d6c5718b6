//! Probabilities of a birth-death chain, without factorials.

/// Probabilities of the states 0, 1, ... `last`; of `ratio` see [`weights`].
pub(crate) fn probabilities(last: u32, ratio: impl Fn(u32) -> f64) -> Vec<f64> {
    let mut found = weights(last, ratio);
    let total: f64 = found.iter().sum();
    found.iter_mut().for_each(|weight| *weight /= total);
    found
}

/// Weights of the states 0, 1, ... `last`, of which the likeliest has weight 1.
///
/// `ratio(n)` is the rate from state n-1 up over the rate from n down; it must not grow with n
/// (Kleinrock, "Queueing Systems" volume 1, section 3.1). Products run outwards from the
/// likeliest state, so that nothing overflows and only what is below 1e-308 of it vanishes.
pub(crate) fn weights(last: u32, ratio: impl Fn(u32) -> f64) -> Vec<f64> {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = high - (high - low) / 2;
        if ratio(middle) >= 1.0 { low = middle } else { high = middle - 1 }
    }
    let likeliest = low;
    let mut weights = vec![0.0; last as usize + 1];
    weights[likeliest as usize] = 1.0;
    for n in (0..likeliest).rev() {
        weights[n as usize] = weights[n as usize + 1] / ratio(n + 1);
    }
    for n in likeliest + 1..=last {
        weights[n as usize] = weights[n as usize - 1] * ratio(n);
    }
    weights
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn neighbours_balance_and_the_peak_is_one(load in 0.01f64..300.0, last in 0u32..400) {
            let found = weights(last, |n| load / f64::from(n));
            let peak = found.iter().copied().fold(0.0, f64::max);
            prop_assert!((peak - 1.0).abs() < 1e-15);
            for n in 1..=last as usize {
                let (flow, back) = (found[n - 1] * load, found[n] * n as f64);
                prop_assert!((flow - back).abs() <= 1e-14 * back.max(1e-290), "{n}");
            }
        }
    }
}
