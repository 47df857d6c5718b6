//! Root of a monotone function between two bounds.

/// Where `f` crosses zero between `low` and `high`, at which its signs differ.
///
/// Chandrupatla's method (Advances in Engineering Software 28, 1997): inverse quadratic
/// interpolation wherever it is safe, bisection elsewhere. Ends when the bracket is as narrow
/// as the floats around it, or after 200 steps, which bisection alone would not need.
pub(crate) fn root(mut f: impl FnMut(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut a, mut b) = (high, low);
    let (mut fa, mut fb) = (f(a), f(b));
    let mut part = 0.5;
    for _ in 0..200 {
        if fa == 0.0 || fb == 0.0 {
            break;
        }
        let x = a + part * (b - a);
        let fx = f(x);
        let (c, fc);
        if fx.signum() == fa.signum() {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let best = if fa.abs() < fb.abs() { a } else { b };
        let least = 2.0 * f64::EPSILON * best.abs() + f64::MIN_POSITIVE;
        let narrow = least / (b - a).abs();
        if narrow > 0.5 {
            break;
        }
        part = next_part([a, b, c], [fa, fb, fc]).clamp(narrow, 1.0 - narrow);
    }
    if fa.abs() < fb.abs() { a } else { b }
}

/// Fraction of the bracket at which to try next.
fn next_part([a, b, c]: [f64; 3], [fa, fb, fc]: [f64; 3]) -> f64 {
    let xi = (a - b) / (c - b);
    let phi = (fa - fb) / (fc - fb);
    if phi * phi < xi && (1.0 - phi).powi(2) < 1.0 - xi {
        fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(f: impl Fn(f64) -> f64, low: f64, high: f64, expected: f64) {
        let found = root(&f, low, high);
        assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{found}");
    }

    #[test]
    fn finds_roots_of_flat_and_steep_functions() {
        check(|x| x * x - 2.0, 0.0, 2.0, 2f64.sqrt());
        check(|x| (x - 1.0).powi(3), 0.0, 3.0, 1.0);
        check(|x| x.exp() - 1e9, 0.0, 100.0, 1e9f64.ln());
        check(|x| 3.0 - x, 0.0, 3.0, 3.0);
    }
}
