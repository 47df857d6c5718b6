//! Regularised incomplete beta function, right in relative terms far into both tails.
//!
//! The caller gives `x` and `1 - x` separately, because the tails of t and F know both without
//! cancellation. The leading power uses Stirling remainders (Loader, "Fast and accurate
//! computation of binomial probabilities", 2000), so that large parameters lose no digits to
//! differences of log-gammas.

use statrs::function::gamma::ln_gamma;

/// `I_x(a, b)`, the integral of the beta density from 0 to `x`, where `y = 1 - x`.
///
/// Continued fraction of DLMF 8.17.22.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    beta_of_power([a, b], [x, y], power_term(a, b, x, y))
}

/// `I_x(a, b)` for `x` and `y` between 0 and 1, of one who knows the leading power
/// `x^a y^b / B(a, b)` already.
pub(crate) fn beta_of_power([a, b]: [f64; 2], [x, y]: [f64; 2], power: f64) -> f64 {
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - power / b / continued_fraction(b, a, y);
    }
    power / a / continued_fraction(a, b, x)
}

/// Value of the continued fraction by which the leading power is divided.
///
/// Its even part, whose terms are two of DLMF 8.17.23 each, by the recurrence of Wallis: nothing is
/// divided but to see where it comes to rest.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    // The fraction converges in about the square root of the larger parameter.
    const MOST_STEPS: u32 = 100_000;
    let coefficients = |m: f64| {
        let (below, at, above) = (a + 2.0 * m - 2.0, a + 2.0 * m - 1.0, a + 2.0 * m);
        let odd = -(a + m - 1.0) * (a + b + m - 1.0) * x / (below * at);
        [odd, m * (b - m) * x / (at * above)]
    };
    let [first, mut even] = coefficients(1.0);
    let (mut tops, mut bottoms) = ([1.0, 1.0 + even + first], [1.0, 1.0 + even]);
    let mut value = tops[1] / bottoms[1];
    for step in 2..MOST_STEPS {
        let [odd, next_even] = coefficients(f64::from(step));
        let (term, whole) = (-even * odd, 1.0 + odd + next_even);
        even = next_even;
        tops = [tops[1], whole * tops[1] + term * tops[0]];
        bottoms = [bottoms[1], whole * bottoms[1] + term * bottoms[0]];
        let before = value;
        value = tops[1] / bottoms[1];
        if (value - before).abs() <= 4e-16 * value.abs() {
            break;
        }
        if bottoms[1].abs() < 1e-200 {
            tops = tops.map(|it| it * 1e200);
            bottoms = bottoms.map(|it| it * 1e200);
        }
    }
    value
}

/// `x^a y^b / B(a, b)`.
fn power_term(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    // Distance from the share a/n, taken from the smaller of x and y, which carries the digits.
    let shift = if x < y { x - a / n } else { b / n - y };
    let exponent = a * log_less_argument(x * n / a, shift * n / a)
        + b * log_less_argument(y * n / b, -shift * n / b);
    let remainders = stirling_remainder(n) - stirling_remainder(a) - stirling_remainder(b);
    (a / n * b / std::f64::consts::TAU).sqrt() * (exponent + remainders).exp()
}

/// `ln(ratio) - v` for `ratio = 1 + v`, without cancellation near one and without losing a ratio
/// near zero.
fn log_less_argument(ratio: f64, v: f64) -> f64 {
    if v.abs() > 0.3 {
        return ratio.ln() - v;
    }
    let mut power = v;
    let mut sum = 0.0;
    for k in 2..60 {
        power *= -v;
        let term = power / f64::from(k);
        sum += term;
        if term.abs() <= 1e-17 * sum.abs() {
            break;
        }
    }
    sum
}

/// What Stirling's formula for `ln Gamma(v)` leaves out (DLMF 5.11.1).
pub(crate) fn stirling_remainder(v: f64) -> f64 {
    if v == 0.5 {
        // The second parameter of every t: Gamma(1/2) is the root of pi.
        return 0.5 - 0.5 * std::f64::consts::LN_2;
    }
    if v < 12.0 {
        return ln_gamma(v) - ((v - 0.5) * v.ln() - v + 0.5 * std::f64::consts::TAU.ln());
    }
    let w = 1.0 / (v * v);
    let tail = -1.0 / 1680.0 + w * (1.0 / 1188.0 - w * 691.0 / 360_360.0);
    (1.0 / 12.0 + w * (-1.0 / 360.0 + w * (1.0 / 1260.0 + w * tail))) / v
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integer_parameters_agree_with_the_binomial_sum() {
        // I_x(a, b) is the chance of at least a successes in a + b - 1 draws.
        let binomial = |a: u32, b: u32, x: f64| -> f64 {
            let n = a + b - 1;
            (a..=n)
                .map(|k| {
                    let ways: f64 =
                        (0..k).map(|i| f64::from(n - i) / f64::from(k - i)).product::<f64>();
                    ways * x.powi(k as i32) * (1.0 - x).powi((n - k) as i32)
                })
                .sum()
        };
        for (a, b, x) in [(1, 1, 0.3), (3, 4, 0.2), (10, 2, 0.9), (20, 30, 0.5), (2, 40, 0.001)] {
            let found = incomplete_beta(f64::from(a), f64::from(b), x, 1.0 - x);
            let expected = binomial(a, b, x);
            assert!((found / expected - 1.0).abs() < 1e-12, "{a} {b} {x}: {found} {expected}");
        }
    }

    #[test]
    fn far_tails_keep_their_relative_digits() {
        // I_x(1, b) = 1 - (1 - x)^b and I_x(a, 1) = x^a.
        for exponent in [-20, -100, -280] {
            let x = 10f64.powi(exponent);
            let found = incomplete_beta(1.0, 2.0, x, 1.0);
            assert!((found / (2.0 * x) - 1.0).abs() < 1e-12, "{exponent}");
            let root = 10f64.powi(exponent / 4);
            let found = incomplete_beta(4.0, 1.0, root, 1.0 - root);
            assert!((found / root.powi(4) - 1.0).abs() < 1e-12, "{exponent}");
        }
    }

    proptest! {
        #[test]
        fn both_ends_sum_to_one(a in 0.05..500.0f64, b in 0.05..500.0f64, x in 0.001..0.999f64) {
            let y = 1.0 - x;
            let sum = incomplete_beta(a, b, x, y) + incomplete_beta(b, a, y, x);
            prop_assert!((sum - 1.0).abs() < 1e-11);
        }

        #[test]
        fn recurrence_in_the_first_parameter_holds(
            a in 0.5..200.0f64, b in 0.5..200.0f64, x in 0.01..0.99f64,
        ) {
            // DLMF 8.17.20: I_x(a, b) = I_x(a + 1, b) + x^a y^b / (a B(a, b)).
            let y = 1.0 - x;
            let step = power_term(a, b, x, y) / a;
            let left = incomplete_beta(a, b, x, y);
            prop_assert!((left - incomplete_beta(a + 1.0, b, x, y) - step).abs() < 1e-11);
        }
    }
}
