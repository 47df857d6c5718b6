//! Draws from a density that is known up to a factor (Neal, "Slice sampling", 2003), along random
//! directions, so that a draw costs the same whatever the number of dimensions.

use trainwright_random::Random;

/// Steps out to each side before the slice counts as found.
const MOST_STEPS_OUT: usize = 8;
/// Shrinkings before the chain stays where it is; each takes a third off on average.
const MOST_SHRINKINGS: usize = 40;

/// Moves from `at`, whose log density is `height`, to another place of the density.
pub(super) fn step(
    log_density: &dyn Fn(&[f64]) -> f64,
    at: &mut [f64],
    height: &mut f64,
    width: f64,
    random: &mut Random,
) {
    let direction = direction(at.len(), random);
    let level = *height - random.exponential();
    let along = |by: f64| -> Vec<f64> {
        at.iter().zip(&direction).map(|(own, part)| own + by * part).collect()
    };
    let offset = random.unit() * width;
    let (mut low, mut high) = (-offset, width - offset);
    for _ in 0..MOST_STEPS_OUT {
        if log_density(&along(low)) <= level {
            break;
        }
        low -= width;
    }
    for _ in 0..MOST_STEPS_OUT {
        if log_density(&along(high)) <= level {
            break;
        }
        high += width;
    }
    for _ in 0..MOST_SHRINKINGS {
        let by = low + random.unit() * (high - low);
        let place = along(by);
        let found = log_density(&place);
        if found > level {
            at.copy_from_slice(&place);
            *height = found;
            return;
        }
        if by < 0.0 {
            low = by;
        } else {
            high = by;
        }
    }
}

/// A direction, every one as likely.
fn direction(size: usize, random: &mut Random) -> Vec<f64> {
    let own: Vec<f64> = (0..size).map(|_| normal(random)).collect();
    let length = own.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length == 0.0 {
        return (0..size).map(|place| f64::from(u8::from(place == 0))).collect();
    }
    own.into_iter().map(|part| part / length).collect()
}

/// A standard normal number (Box and Muller, 1958).
pub(crate) fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * random.exponential()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_moments_of_the_density() {
        // Two correlated normal numbers: variances 1 and 4, covariance 1.2.
        let determinant = 4.0 - 1.44;
        let log_density = |at: &[f64]| {
            -0.5 * (4.0 * at[0] * at[0] - 2.4 * at[0] * at[1] + at[1] * at[1]) / determinant
        };
        let mut random = Random::new(5);
        let (mut at, mut height) = ([3.0, -3.0], log_density(&[3.0, -3.0]));
        let mut sums = [0.0; 5];
        let draws = 40_000;
        for draw in 0..draws + 100 {
            step(&log_density, &mut at, &mut height, 2.0, &mut random);
            if draw >= 100 {
                let [x, y] = at;
                for (sum, part) in sums.iter_mut().zip([x, y, x * x, y * y, x * y]) {
                    *sum += part;
                }
            }
        }
        let means = sums.map(|sum| sum / f64::from(draws));
        // Draws are correlated: about one in five counts, so six standard errors are wide.
        for (mean, expected, deviation) in [
            (means[0], 0.0, 1.0),
            (means[1], 0.0, 2.0),
            (means[2], 1.0, 1.4),
            (means[3], 4.0, 5.7),
            (means[4], 1.2, 2.4),
        ] {
            let error: f64 = 6.0 * deviation / (f64::from(draws) / 5.0).sqrt();
            assert!((mean - expected).abs() < error, "{means:?}");
        }
    }

    #[test]
    fn normal_numbers_are_normal() {
        let mut random = Random::new(2);
        let draws: Vec<f64> = (0..100_000).map(|_| normal(&mut random)).collect();
        let share = |from: f64| draws.iter().filter(|own| **own > from).count() as f64 / 1e5;
        for (from, expected) in [(0.0, 0.5), (1.0, 0.158_655), (2.0, 0.022_750)] {
            // Five standard errors of a share.
            assert!((share(from) - expected).abs() < 0.008, "{from}");
        }
    }
}
