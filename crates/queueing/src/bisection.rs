//! Where a monotone condition on positive floats changes, to the last bit.

/// The largest float from `low` on for which the condition holds; it holds at `low`, fails at
/// `high`, and changes once between.
///
/// Positive floats are ordered as their bits, so halving the bits finds the place in 64 steps
/// whatever the scale.
pub(crate) fn last_where(mut holds: impl FnMut(f64) -> bool, low: f64, high: f64) -> f64 {
    let (mut low, mut high) = (low.to_bits(), high.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) { low = middle } else { high = middle }
    }
    f64::from_bits(low)
}

/// The time beyond which a falling tail probability is at most `beyond`; `scale` is any time of
/// the distribution's order of magnitude.
pub(crate) fn quantile(tail: impl Fn(f64) -> f64, beyond: f64, scale: f64) -> f64 {
    if tail(0.0) <= beyond {
        return 0.0;
    }
    let mut high = scale;
    while tail(high) > beyond {
        high *= 2.0;
    }
    last_where(|time| tail(time) > beyond, 0.0, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_place_at_any_scale() {
        for scale in [1e-90, 1e-3, 1.0, 1e90] {
            let found = quantile(|time| (-time / scale).exp(), 0.25, scale);
            assert!((found / (4f64.ln() * scale) - 1.0).abs() < 1e-15);
        }
        assert_eq!(quantile(|_| 0.1, 0.2, 1.0), 0.0);
        assert_eq!(last_where(|x| x * x <= 4.0, 0.0, 3.0), 2.0);
    }
}
