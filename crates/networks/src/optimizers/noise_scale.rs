//! The measured noise of gradients, which tells what batch is worth its examples.

/// Running estimate of the simple noise scale `tr(S) / |G|^2` of McCandlish et al. (2018, "An
/// empirical model of large-batch training", section 2.2): about the batch at which noise and
/// signal of a gradient are equal. Much smaller batches waste steps, much larger ones examples.
///
/// Each look compares the gradient of a batch with those of its parts (appendix A.1); the two
/// sums are averaged apart, because their ratio is biased.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NoiseScale {
    signal: f64,
    noise: f64,
    looks: u64,
}

/// Share of the old average that each look keeps, as in the paper's appendix.
const KEPT: f64 = 0.9;

/// Squared norms of gradients of one batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientNorms {
    /// Examples of a part: the harmonic mean, where parts differ in size.
    pub part: f64,
    /// Mean of the squared norms of the parts' gradients.
    pub of_parts: f64,
    /// Examples of the batch.
    pub whole: f64,
    /// Squared norm of the whole batch's gradient.
    pub of_whole: f64,
}

impl NoiseScale {
    /// Takes in one look; norms that are not finite are left to the loss to tell of.
    pub fn look(&mut self, norms: GradientNorms) {
        let GradientNorms { part, of_parts, whole, of_whole } = norms;
        let signal = (whole * of_whole - part * of_parts) / (whole - part);
        let noise = (of_parts - of_whole) / (1.0 / part - 1.0 / whole);
        if signal.is_finite() && noise.is_finite() {
            self.signal = KEPT * self.signal + (1.0 - KEPT) * signal;
            self.noise = KEPT * self.noise + (1.0 - KEPT) * noise;
            self.looks += 1;
        }
    }

    /// The noise scale in examples; `None` before ten looks, or while the signal drowns.
    pub fn estimate(&self) -> Option<f64> {
        // The weight that both averages lack after their zero start cancels in the ratio.
        let known = self.looks >= 10 && self.signal > 0.0 && self.noise > 0.0;
        known.then(|| self.noise / self.signal)
    }

    /// The averages and their number, to be kept.
    pub fn parts(&self) -> (f64, f64, u64) {
        (self.signal, self.noise, self.looks)
    }

    /// An estimate from its parts.
    pub fn from_parts((signal, noise, looks): (f64, f64, u64)) -> Self {
        Self { signal, noise, looks }
    }
}

#[cfg(test)]
mod tests {
    use rand_pcg::Pcg64;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn known_noise_is_found() {
        // Examples have gradient (1, 1, 1, 1) plus uniform noise of variance 3 a coordinate:
        // tr(S) / |G|^2 = 4 * 3 / 4 = 3.
        let mut random = Pcg64::seed_from_u64(5);
        let mut example = || -> [f64; 4] {
            std::array::from_fn(|_| {
                1.0 + 6.0 * (f64::from(random.next_u32()) / 2_f64.powi(32) - 0.5)
            })
        };
        let mut mean = |count: usize| -> [f64; 4] {
            let mut sum = [0.0; 4];
            for _ in 0..count {
                sum.iter_mut().zip(example()).for_each(|(sum, value)| *sum += value);
            }
            sum.map(|value| value / count as f64)
        };
        let square = |values: [f64; 4]| values.iter().map(|value| value * value).sum::<f64>();
        let mut found = Vec::new();
        for _ in 0..400 {
            let mut scale = NoiseScale::default();
            for _ in 0..30 {
                let (one, two) = (mean(8), mean(8));
                let whole = std::array::from_fn(|index| 0.5 * (one[index] + two[index]));
                let of_parts = 0.5 * (square(one) + square(two));
                let of_whole = square(whole);
                scale.look(GradientNorms { part: 8.0, of_parts, whole: 16.0, of_whole });
            }
            found.push(scale.estimate().unwrap());
        }
        // One estimate scatters by about a fifth; the mean of 400 by about 0.03.
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!((mean - 3.0).abs() < 0.15, "{mean}");
    }

    #[test]
    fn few_looks_or_no_signal_give_no_estimate() {
        let mut scale = NoiseScale::default();
        let norms = GradientNorms { part: 4.0, of_parts: 2.0, whole: 8.0, of_whole: 1.5 };
        (0..9).for_each(|_| scale.look(norms));
        assert_eq!(scale.estimate(), None);
        scale.look(norms);
        // signal = 2 * 1.5 - 2 = 1, noise = 0.5 / (1/8) = 4.
        assert!((scale.estimate().unwrap() - 4.0).abs() < 1e-12);
        scale.look(GradientNorms { of_whole: f64::NAN, ..norms });
        assert_eq!(NoiseScale::from_parts(scale.parts()), scale);
        assert_eq!(scale.parts().2, 10);
        (0..60).for_each(|_| scale.look(GradientNorms { of_parts: 4.0, ..norms }));
        assert_eq!(scale.estimate(), None, "of_whole is below half of of_parts");
    }
}
