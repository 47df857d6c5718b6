//! Initial weights: uniform with a variance that keeps activations or gradients in scale.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// Largest weight of He et al. (2015, section 2.2) for a layer that feeds a ReLU: variance
/// `2 / inputs`, which for a uniform distribution is `limit^2 / 3`.
pub(crate) fn he_limit(inputs: usize) -> f32 {
    (6.0 / inputs as f64).sqrt() as f32
}

/// Largest weight of Glorot and Bengio (2010, equation 16) for a layer without ReLU.
pub(crate) fn glorot_limit(inputs: usize, outputs: usize) -> f32 {
    (6.0 / (inputs + outputs) as f64).sqrt() as f32
}

/// Fills with numbers between `-limit` and `limit`.
pub(crate) fn fill_uniform(values: &mut [f32], limit: f32, random: &mut Pcg64) {
    for value in values {
        // The upper 24 bits as a fraction of 2^24 are exact in `f32`.
        let unit = (random.next_u32() >> 8) as f32 / (1 << 24) as f32;
        *value = limit * (2.0 * unit - 1.0);
    }
}

/// That many random numbers in [-1, 1], for tests.
#[cfg(test)]
pub(crate) fn test_values(count: usize, seed: u64) -> Vec<f32> {
    use rand_pcg::rand_core::SeedableRng;

    let mut values = vec![0.0; count];
    fill_uniform(&mut values, 1.0, &mut Pcg64::seed_from_u64(seed));
    values
}

#[cfg(test)]
mod tests {
    use rand_pcg::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn weights_have_the_stated_mean_and_variance() {
        let mut values = vec![0.0; 100_000];
        fill_uniform(&mut values, he_limit(50), &mut Pcg64::seed_from_u64(1));
        let count = values.len() as f64;
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let variance = values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / count;
        // Four standard errors: 0.2 / sqrt(1e5) for the mean, 0.9 * 0.04 / sqrt(1e5) for the
        // variance.
        assert!(mean.abs() < 4.0 * 0.2 / count.sqrt(), "{mean}");
        assert!((variance - 0.04).abs() < 4.0 * 0.036 / count.sqrt(), "{variance}");
    }

    #[test]
    fn limits_follow_from_the_sides_of_a_layer() {
        // Roots of 6 / 6, 6 / 24 and 6 / (2 + 4).
        assert_eq!((he_limit(6), he_limit(24), glorot_limit(2, 4)), (1.0, 0.5, 1.0));
        assert_eq!(glorot_limit(4, 2), glorot_limit(2, 4));
    }

    #[test]
    fn weights_stay_within_the_limit_and_follow_the_seed() {
        let values = test_values(10_000, 5);
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        assert_eq!(values, test_values(10_000, 5));
        assert_ne!(values, test_values(10_000, 6));
        // Twenty equally wide steps have 500 draws each; six standard deviations are 131.
        for step in 0..20 {
            let start = -1.0 + 0.1 * step as f32;
            let count = values.iter().filter(|&&it| it >= start && it < start + 0.1).count();
            assert!(count.abs_diff(500) < 131, "{count} from {start}");
        }
        let mut nothing: [f32; 0] = [];
        fill_uniform(&mut nothing, 1.0, &mut Pcg64::seed_from_u64(1));
        let mut scaled = vec![0.0; 10_000];
        fill_uniform(&mut scaled, 0.25, &mut Pcg64::seed_from_u64(5));
        assert!(scaled.iter().zip(&values).all(|(scaled, value)| *scaled == 0.25 * value));
    }
}
