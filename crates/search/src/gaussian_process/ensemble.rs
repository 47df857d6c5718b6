//! Several Gaussian processes over the same points, one for each of several believable sets of
//! hyper-parameters: what is uncertain about those then counts too (Snoek, Larochelle and Adams,
//! "Practical Bayesian optimization of machine learning algorithms", 2012, section 3.2).

use trainwright_random::Random;

use super::expected_improvement::{expected_improvement, improvement_chance};
use super::hyper_parameters::Priors;
use super::process::{GaussianProcess, Measured, Posterior, best};
use super::slice_sampling;

/// Width of a first slice, in logarithms.
const WIDTH: f64 = 1.0;

/// How hyper-parameters are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draws {
    /// Steps that are thrown away first; the chain begins at the most believable place.
    pub burn_in: usize,
    /// Sets that are kept.
    pub kept: usize,
    /// Steps from one to the next.
    pub apart: usize,
}

impl Draws {
    /// Enough for a search: the draws begin at the top.
    pub fn few() -> Self {
        Self { burn_in: 2, kept: 6, apart: 1 }
    }

    /// Those of Spearmint and CherryPick.
    pub fn spearmint() -> Self {
        Self { burn_in: 100, kept: 10, apart: 3 }
    }
}

/// Gaussian processes whose answers are averaged.
#[derive(Debug, Clone)]
pub struct Ensemble {
    members: Vec<GaussianProcess>,
}

impl Ensemble {
    /// Draws hyper-parameters by slice sampling; nothing where no matrix is regular.
    pub fn draw(
        measured: &Measured,
        priors: Priors,
        draws: Draws,
        random: &mut Random,
    ) -> Option<Self> {
        let likelihood = measured.likelihood(priors);
        let (mut at, mut height) = best(&likelihood)?;
        let density = |place: &[f64]| likelihood.log_density(place);
        let mut members = vec![GaussianProcess::at(measured, &likelihood, &at, priors)?];
        for _ in 0..draws.burn_in {
            slice_sampling::step(&density, &mut at, &mut height, WIDTH, random);
        }
        while members.len() < draws.kept {
            for _ in 0..draws.apart.max(1) {
                slice_sampling::step(&density, &mut at, &mut height, WIDTH, random);
            }
            members.push(GaussianProcess::at(measured, &likelihood, &at, priors)?);
        }
        Some(Self { members })
    }

    /// The processes; the first has the most believable hyper-parameters.
    pub fn members(&self) -> &[GaussianProcess] {
        &self.members
    }

    /// Takes for granted that a trial under way will give what is expected of it.
    pub fn believe(&mut self, point: &[f64]) {
        self.members.iter_mut().for_each(|own| own.believe(point));
    }

    /// What is expected at each of many points, all members taken together.
    pub fn posteriors<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<Posterior> {
        let all: Vec<Vec<Posterior>> =
            self.members.iter().map(|own| own.posteriors(points)).collect();
        let count = all.len() as f64;
        (0..points.len())
            .map(|place| {
                let own = || all.iter().map(|member| member[place]);
                let mean = own().map(|posterior| posterior.mean).sum::<f64>() / count;
                let second = own().map(|p| p.deviation * p.deviation + p.mean * p.mean);
                let variance = second.sum::<f64>() / count - mean * mean;
                Posterior { mean, deviation: variance.max(0.0).sqrt() }
            })
            .collect()
    }

    /// How much below the best known value each point is expected to come, averaged over the
    /// members. Each member judges by itself which of `known` is best, so that a lucky
    /// measurement of a noisy function is no bar.
    pub fn expected_improvements<P: AsRef<[f64]>, Q: AsRef<[f64]>>(
        &self,
        points: &[P],
        known: &[Q],
    ) -> Vec<f64> {
        self.improvements_below(points, &self.lowest(known))
    }

    /// The value that each member expects of the best of points.
    pub(crate) fn lowest<P: AsRef<[f64]>>(&self, points: &[P]) -> Vec<f64> {
        self.members.iter().map(|own| own.lowest(points)).collect()
    }

    /// How much below a bar of each member each point is expected to come.
    pub(crate) fn improvements_below<P: AsRef<[f64]>>(
        &self,
        points: &[P],
        bars: &[f64],
    ) -> Vec<f64> {
        let mut sums = vec![0.0; points.len()];
        for (member, bar) in self.members.iter().zip(bars) {
            for (sum, own) in sums.iter_mut().zip(member.posteriors(points)) {
                *sum += expected_improvement(own, *bar);
            }
        }
        sums.iter().map(|sum| sum / self.members.len() as f64).collect()
    }

    /// The chance that the function is at most `limit` at each point.
    pub fn chances_below<P: AsRef<[f64]>>(&self, points: &[P], limit: f64) -> Vec<f64> {
        let mut sums = vec![0.0; points.len()];
        for member in &self.members {
            for (sum, own) in sums.iter_mut().zip(member.posteriors(points)) {
                *sum += improvement_chance(own, limit);
            }
        }
        sums.iter().map(|sum| sum / self.members.len() as f64).collect()
    }
}

impl GaussianProcess {
    /// The lowest expected value among points.
    pub fn lowest<P: AsRef<[f64]>>(&self, points: &[P]) -> f64 {
        self.posteriors(points).iter().map(|own| own.mean).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian_process::Distance;

    fn valley() -> Measured {
        let points: Vec<Vec<f64>> = [0.0, 0.2, 0.55, 0.8, 1.0].map(|x| vec![x]).to_vec();
        Measured {
            distances: vec![Distance::Difference],
            values: points.iter().map(|at| (at[0] - 0.4) * (at[0] - 0.4)).collect(),
            counts: vec![1; 5],
            points,
        }
    }

    fn ensemble(seed: u64) -> Ensemble {
        let mut random = Random::new(seed);
        Ensemble::draw(&valley(), Priors::standard(1), Draws::few(), &mut random).unwrap()
    }

    #[test]
    fn improvement_is_expected_in_the_valley_and_not_at_known_points() {
        let own = ensemble(1);
        let points = [[0.4], [0.2], [1.0]];
        let found = own.expected_improvements(&points, &valley().points);
        assert!(found[0] > 10.0 * found[1] && found[1] >= found[2], "{found:?}");
    }

    #[test]
    fn the_same_random_numbers_give_the_same_processes() {
        let at = [[0.37], [0.9]];
        assert_eq!(ensemble(3).posteriors(&at), ensemble(3).posteriors(&at));
        assert_ne!(ensemble(3).posteriors(&at), ensemble(4).posteriors(&at));
        assert_eq!(ensemble(3).members().len(), 6);
    }

    #[test]
    fn members_disagree_and_the_whole_is_less_sure_than_their_mean() {
        let own = ensemble(5);
        let whole = own.posteriors(&[[0.9]])[0];
        let single: Vec<Posterior> =
            own.members().iter().map(|member| member.posterior(&[0.9])).collect();
        let mean = single.iter().map(|own| own.deviation.powi(2)).sum::<f64>() / 6.0;
        assert!(whole.deviation.powi(2) >= mean - 1e-12);
    }

    #[test]
    fn a_believed_trial_leaves_less_to_gain_where_it_runs() {
        let mut own = ensemble(2);
        let at = [[0.4]];
        let before = own.expected_improvements(&at, &valley().points)[0];
        own.believe(&[0.4]);
        let mut known = valley().points;
        known.push(vec![0.4]);
        assert!(own.expected_improvements(&at, &known)[0] < before / 5.0);
    }

    #[test]
    fn chances_of_a_limit_follow_the_function() {
        let chances = ensemble(6).chances_below(&[[0.4], [1.0]], 0.1);
        assert!(chances[0] > 0.7 && chances[1] < 0.1, "{chances:?}");
    }
}
