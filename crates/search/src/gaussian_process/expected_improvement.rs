//! What a measurement is expected to gain (Jones, Schonlau and Welch, "Efficient global
//! optimization of expensive black-box functions", 1998, section 4.1).

use trainwright_stats::Normal;

use super::process::Posterior;

/// How far below `best` the value is expected to come; 0 counts where it does not.
pub fn expected_improvement(own: Posterior, best: f64) -> f64 {
    let Posterior { mean, deviation } = own;
    if deviation <= 0.0 {
        return (best - mean).max(0.0);
    }
    let z = (best - mean) / deviation;
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    // Far out the two parts cancel; what is left is below any number that matters.
    (deviation * (density + z * Normal.upper_tail(-z))).max(0.0)
}

/// The chance of a value of at most `limit`.
pub fn improvement_chance(own: Posterior, limit: f64) -> f64 {
    let Posterior { mean, deviation } = own;
    if deviation <= 0.0 {
        return f64::from(u8::from(mean <= limit));
    }
    Normal.upper_tail((mean - limit) / deviation)
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;

    use super::super::slice_sampling::normal;
    use super::*;

    #[test]
    fn both_are_what_many_draws_give() {
        let mut random = Random::new(11);
        let draws: Vec<f64> = (0..400_000).map(|_| normal(&mut random)).collect();
        for (mean, deviation, best) in
            [(0.0, 1.0, 0.0), (2.0, 0.5, 1.5), (-1.0, 2.0, 0.5), (1.0, 1.0, -1.0), (5.0, 3.0, 9.0)]
        {
            let own = Posterior { mean, deviation };
            let gains: Vec<f64> =
                draws.iter().map(|z| (best - (mean + deviation * z)).max(0.0)).collect();
            let count = gains.len() as f64;
            let average = gains.iter().sum::<f64>() / count;
            let below = gains.iter().filter(|gain| **gain > 0.0).count() as f64 / count;
            let square = gains.iter().map(|gain| gain * gain).sum::<f64>() / count;
            // Five standard errors of what the draws give.
            let error = 5.0 * ((square - average * average) / count).sqrt();
            let found = expected_improvement(own, best);
            assert!((found - average).abs() < error, "{own:?} {best}: {found} {average}");
            assert!((improvement_chance(own, best) - below).abs() < 0.005, "{own:?} {best}");
        }
    }

    #[test]
    fn what_is_certain_gains_its_difference_or_nothing() {
        let certain = |mean: f64| Posterior { mean, deviation: 0.0 };
        assert_eq!(expected_improvement(certain(1.0), 3.0), 2.0);
        assert_eq!(expected_improvement(certain(4.0), 3.0), 0.0);
        assert_eq!(improvement_chance(certain(3.0), 3.0), 1.0);
    }
}
