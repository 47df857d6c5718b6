//! The scale on which values are modelled: a Gaussian process expects them to be about normal.

/// Golden section, for the search of the power.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// Powers searched: beyond them a handful of values says nothing.
const POWERS: (f64, f64) = (-2.0, 3.0);

/// Turns values into about normal ones, and back. It never changes their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueScale {
    /// As they are.
    Plain,
    /// Their logarithms, as suits times and costs; all values are above 0.
    Log,
    /// The power transformation of Yeo and Johnson, "A new family of power transformations to
    /// improve normality or symmetry", 2000, of centred values.
    Power {
        /// The power; 1 changes nothing.
        power: f64,
        /// What is taken off first.
        centre: f64,
        /// What the rest is divided by.
        spread: f64,
    },
}

impl ValueScale {
    /// Logarithms where all values are above 0, else as they are.
    pub fn log_where_positive(values: &[f64]) -> Self {
        if !values.is_empty() && values.iter().all(|own| *own > 0.0) {
            Self::Log
        } else {
            Self::Plain
        }
    }

    /// The power that makes the values most like normal ones.
    pub fn most_normal(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let centre = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|own| (own - centre) * (own - centre)).sum::<f64>();
        let spread = (squares / count).sqrt();
        if values.len() < 3 || !(spread > 0.0 && spread.is_finite()) {
            return Self::Plain;
        }
        let scaled: Vec<f64> = values.iter().map(|own| (own - centre) / spread).collect();
        let (mut low, mut high) = POWERS;
        while high - low > 0.01 {
            let (a, b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            if log_likelihood(&scaled, a) > log_likelihood(&scaled, b) {
                high = b;
            } else {
                low = a;
            }
        }
        Self::Power { power: (low + high) / 2.0, centre, spread }
    }

    /// A value on this scale.
    pub fn scaled(self, value: f64) -> f64 {
        match self {
            Self::Plain => value,
            Self::Log => value.ln(),
            Self::Power { power, centre, spread } => yeo_johnson((value - centre) / spread, power),
        }
    }

    /// The value that is this one on the scale; where there is none, the nearest that there is.
    pub fn value(self, scaled: f64) -> f64 {
        match self {
            Self::Plain => scaled,
            Self::Log => scaled.exp(),
            Self::Power { power, centre, spread } => centre + spread * inverse(scaled, power),
        }
    }
}

fn yeo_johnson(x: f64, power: f64) -> f64 {
    if x >= 0.0 { half(x, power) } else { -half(-x, 2.0 - power) }
}

/// ((1 + x)^power - 1) / power for x of at least 0; its limit, the logarithm, at 0.
fn half(x: f64, power: f64) -> f64 {
    if power.abs() < 1e-9 { x.ln_1p() } else { (power * x.ln_1p()).exp_m1() / power }
}

fn inverse(y: f64, power: f64) -> f64 {
    if y >= 0.0 { inverse_half(y, power) } else { -inverse_half(-y, 2.0 - power) }
}

fn inverse_half(y: f64, power: f64) -> f64 {
    if power.abs() < 1e-9 {
        return y.exp_m1();
    }
    // With a negative power the scale ends at -1 / power; beyond it the value would be infinite.
    let inside = (power * y).max(-1.0 + 1e-12);
    (inside.ln_1p() / power).exp_m1()
}

/// The log likelihood of normal values on the scale of a power, up to a constant.
fn log_likelihood(scaled: &[f64], power: f64) -> f64 {
    let count = scaled.len() as f64;
    let moved: Vec<f64> = scaled.iter().map(|own| yeo_johnson(*own, power)).collect();
    let mean = moved.iter().sum::<f64>() / count;
    let variance = moved.iter().map(|own| (own - mean) * (own - mean)).sum::<f64>() / count;
    let stretch: f64 = scaled.iter().map(|x| x.signum() * x.abs().ln_1p()).sum();
    -0.5 * count * variance.ln() + (power - 1.0) * stretch
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trainwright_random::Random;

    use super::super::normal;
    use super::*;

    proptest! {
        #[test]
        fn values_are_found_again_in_their_order(
            values in proptest::collection::vec(-1e3..1e3f64, 3..20),
        ) {
            let own = ValueScale::most_normal(&values);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for pair in sorted.windows(2) {
                prop_assert!(own.scaled(pair[0]) <= own.scaled(pair[1]));
            }
            for value in values {
                prop_assert!((own.value(own.scaled(value)) - value).abs() < 1e-5 * 1e3);
            }
        }
    }

    #[test]
    fn a_long_tail_is_drawn_in_and_normal_values_stay() {
        let mut random = Random::new(3);
        let plain: Vec<f64> = (0..500).map(|_| normal(&mut random)).collect();
        let power = |values: &[f64]| match ValueScale::most_normal(values) {
            ValueScale::Power { power, .. } => power,
            other => panic!("{other:?}"),
        };
        assert!((power(&plain) - 1.0).abs() < 0.15, "{}", power(&plain));
        let tailed: Vec<f64> = plain.iter().map(|own| own.exp()).collect();
        assert!(power(&tailed) < 0.2, "{}", power(&tailed));
    }

    #[test]
    fn logarithms_need_values_above_0() {
        assert_eq!(ValueScale::log_where_positive(&[1.0, 2.0]), ValueScale::Log);
        assert_eq!(ValueScale::log_where_positive(&[1.0, 0.0]), ValueScale::Plain);
        assert_eq!(ValueScale::log_where_positive(&[]), ValueScale::Plain);
        assert!((ValueScale::Log.value(ValueScale::Log.scaled(7.0)) - 7.0).abs() < 1e-12);
    }
}
