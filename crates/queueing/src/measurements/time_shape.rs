//! Families of times that measured ones are compared with.

use statrs::function::gamma::{digamma, ln_gamma};
use trainwright_random::Random;

/// Times of mean or median one, known by their shape alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TimeShape {
    /// Gamma times; exponential ones have shape 1.
    Gamma {
        /// Shape; the variation is one over it.
        shape: f64,
    },
    /// Times whose logarithm is normal: rare ones are much longer.
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

/// Both families fitted by maximum likelihood, with the logarithm of the likelihood of each.
pub(crate) fn likeliest_shapes(times: &[f64]) -> [(TimeShape, f64); 2] {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let log_mean = times.iter().map(|own| own.ln()).sum::<f64>() / count;
    let log_squares: f64 = times.iter().map(|own| (own.ln() - log_mean).powi(2)).sum();
    let shape = gamma_shape(mean.ln() - log_mean);
    let gamma = shape * (shape / mean).ln() - ln_gamma(shape) + (shape - 1.0) * log_mean - shape;
    let variance = log_squares / count;
    let lognormal = -0.5 * ((std::f64::consts::TAU * variance).ln() + 1.0) - log_mean;
    // The divisor n - 1 makes the squared deviation unbiased, as it is for normal values.
    let sigma = (log_squares / (count - 1.0)).sqrt();
    [
        (TimeShape::Gamma { shape }, count * gamma),
        (TimeShape::Lognormal { sigma }, count * lognormal),
    ]
}

impl TimeShape {
    /// Variance over squared mean.
    pub(crate) fn scv(self) -> f64 {
        match self {
            Self::Gamma { shape } => 1.0 / shape,
            Self::Lognormal { sigma } => (sigma * sigma).exp_m1(),
        }
    }

    /// A time, in units of its own.
    pub(crate) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Gamma { shape } if shape < 1.0 => {
                gamma_from_one_up(shape + 1.0, random) * random.positive_unit().powf(1.0 / shape)
            }
            Self::Gamma { shape } => gamma_from_one_up(shape, random),
            Self::Lognormal { sigma } => (sigma * normal(random)).exp(),
        }
    }
}

/// The shape at which ln(shape) - digamma(shape) is the logarithm of the mean less the mean
/// logarithm, by halving; above 10,000 the approximation it starts from is exact enough.
fn gamma_shape(gap: f64) -> f64 {
    let start = (3.0 - gap + ((gap - 3.0).powi(2) + 24.0 * gap).sqrt()) / (12.0 * gap);
    if start.is_nan() || start > 1e4 {
        return start;
    }
    let (mut low, mut high) = (0.5 * start, 2.0 * start);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if middle.ln() - digamma(middle) > gap {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Transactions on
/// Mathematical Software 26, 2000.
fn gamma_from_one_up(shape: f64, random: &mut Random) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && random.positive_unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A standard normal number (Box and Muller, Annals of Mathematical Statistics 29, 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * random.exponential()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_times_have_the_mean_and_the_variation_of_their_shape() {
        let mut random = Random::new(3);
        let shapes = [0.4, 1.0, 4.0].map(|shape| (TimeShape::Gamma { shape }, shape));
        let lognormal = TimeShape::Lognormal { sigma: 0.5 };
        for (shape, mean) in shapes.into_iter().chain([(lognormal, 0.125f64.exp())]) {
            let times: Vec<f64> = (0..200_000).map(|_| shape.draw(&mut random)).collect();
            let (found, variance) = crate::interval::mean_and_variance(&times);
            assert!((found / mean - 1.0).abs() < 0.02, "{shape:?}: {found}");
            let scv = variance / (mean * mean);
            assert!((scv / shape.scv() - 1.0).abs() < 0.05, "{shape:?}: {scv}");
        }
    }

    #[test]
    fn the_family_that_the_times_come_from_is_likelier_and_has_their_shape() {
        let mut random = Random::new(4);
        for shape in [TimeShape::Gamma { shape: 0.7 }, TimeShape::Lognormal { sigma: 1.0 }] {
            let times: Vec<f64> = (0..5_000).map(|_| shape.draw(&mut random)).collect();
            let mut found = likeliest_shapes(&times);
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            assert!((found[0].0.scv() / shape.scv() - 1.0).abs() < 0.15, "{shape:?}: {found:?}");
        }
    }
}
