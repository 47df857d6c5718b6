//! The exponential of numbers up to 0, in operations that vectorise and round alike everywhere.

use std::f32::consts::LOG2_E;

/// Below this the result would no longer be a normal number and is 0.
const UNDERFLOW: f32 = -87.0;

/// Adding it to a small number leaves the nearest integer in the lowest bits of the sum.
const ROUNDER: f32 = 12_582_912.0;

/// `exp(x)` for `x <= 0` to about two units in the last place; NaN stays NaN.
///
/// Cody and Waite (1980, chapter 6): `exp(x) = 2^n exp(r)` with `n` the integer nearest to
/// `x / ln 2`; here `exp(r)` is its Taylor series to the seventh power, whose remainder for
/// `|r| <= ln(2) / 2` is below 6e-9.
#[inline(always)]
pub(crate) fn exp_of_nonpositive(x: f32) -> f32 {
    // ln 2 in two parts, so that n times the first is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = x * LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    // By Estrin's scheme, whose operations wait less for each other than Horner's.
    let square = r * r;
    let [low, middle, high, highest] = [
        1.0 + r,
        0.5 + r * (1.0 / 6.0),
        1.0 / 24.0 + r * (1.0 / 120.0),
        1.0 / 720.0 + r * (1.0 / 5040.0),
    ];
    let series = (low + middle * square) + (high + highest * square) * (square * square);
    let exponent = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127);
    let scaled = series * f32::from_bits(exponent << 23);
    if x < UNDERFLOW { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_library_over_the_whole_range() {
        for step in 0..870_000 {
            let x = -(step as f32) * 1e-4;
            let expected = f64::from(x).exp();
            let error = (f64::from(exp_of_nonpositive(x)) - expected).abs() / expected;
            assert!(error < 2.0 * f64::from(f32::EPSILON), "exp({x}) is off by {error}");
        }
    }

    #[test]
    fn the_ends_are_exact() {
        assert_eq!(exp_of_nonpositive(0.0), 1.0);
        assert_eq!(exp_of_nonpositive(-1000.0), 0.0);
        assert_eq!(exp_of_nonpositive(f32::NEG_INFINITY), 0.0);
        assert!(exp_of_nonpositive(f32::NAN).is_nan());
    }
}
