//! How much of the objective's variation each factor causes, alone and with another.
//!
//! The functional analysis of variance of a fitted surface (Hutter, Hoos and Leyton-Brown, "An
//! efficient approach for assessing hyperparameter importance", 2014), here of the mean of a
//! Gaussian process, estimated over random points (Saltelli and others, "Variance based
//! sensitivity analysis of model output", 2010). Each member of the ensemble gives an answer of its
//! own; how far they differ is how sure the answer is.

use serde::Serialize;
use trainwright_random::Random;

use crate::{Space, Surrogate};

/// Random points that the rest of a configuration is averaged over.
const BASES: usize = 32;
/// Places along a factor: enough that none counts for more than a narrow valley deserves.
const PLACES: usize = 48;
/// Places along each of two factors, and points that the rest is averaged over.
const PAIR_PLACES: usize = 10;
const PAIR_BASES: usize = 16;
/// Factors that are looked at in pairs: the most important ones.
const PAIRED: usize = 5;

/// How much a factor matters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// One factor, or two for what they cause together beyond each alone.
    pub factors: Vec<String>,
    /// Share of the variation that it causes.
    pub share: f64,
    /// Smallest share by any of the believable hyper-parameters.
    pub low: f64,
    /// Largest share by any of them.
    pub high: f64,
}

/// Importances of all factors and of pairs of the most important ones, largest first.
///
/// Constraints are not looked at: shares are those over the whole box. Nothing for a table of
/// candidates.
pub fn importances(space: &Space, surrogate: &Surrogate, seed: u64) -> Vec<Importance> {
    let names: Vec<String> = space.dimensions().iter().map(|own| own.name().to_owned()).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let sample = Sample::new(space, surrogate, seed);
    let mut singles: Vec<(usize, Vec<f64>)> =
        (0..names.len()).map(|own| (own, sample.single(own))).collect();
    let shares = |own: &[f64]| sample.shares(own);
    singles.sort_by(|a, b| mean(&shares(&b.1)).total_cmp(&mean(&shares(&a.1))));
    let mut found: Vec<Importance> = singles
        .iter()
        .map(|(own, variances)| of_shares(vec![names[*own].clone()], &shares(variances)))
        .collect();
    let top: Vec<&(usize, Vec<f64>)> = singles.iter().take(PAIRED).collect();
    for (place, (first, alone)) in top.iter().enumerate() {
        for (second, other) in &top[place + 1..] {
            let joint = sample.pair(*first, *second);
            let beyond: Vec<f64> = joint
                .iter()
                .zip(alone.iter().zip(other))
                .map(|(joint, (a, b))| (joint - a - b).max(0.0))
                .collect();
            let pair = vec![names[*first].clone(), names[*second].clone()];
            found.push(of_shares(pair, &shares(&beyond)));
        }
    }
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found
}

fn of_shares(factors: Vec<String>, shares: &[f64]) -> Importance {
    let low = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Importance { factors, share: mean(shares), low, high }
}

/// Random points and the variance of each member over them.
struct Sample<'a> {
    space: &'a Space,
    surrogate: &'a Surrogate,
    bases: Vec<Vec<f64>>,
    totals: Vec<f64>,
}

impl<'a> Sample<'a> {
    fn new(space: &'a Space, surrogate: &'a Surrogate, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut point = || (0..space.width()).map(|_| random.unit()).collect::<Vec<f64>>();
        let many: Vec<Vec<f64>> = (0..64 * BASES).map(|_| point()).collect();
        let bases = many[..BASES].to_vec();
        let mut own = Self { space, surrogate, bases, totals: Vec::new() };
        own.totals = own.means(&many).iter().map(|values| variance(values)).collect();
        own
    }

    /// The mean of each member at points of the cube.
    fn means(&self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let features: Vec<Vec<f64>> =
            points.iter().filter_map(|point| self.space.free_features(point)).collect();
        let members = self.surrogate.objective().members().iter();
        let means = members.map(|own| own.posteriors(&features).iter().map(|p| p.mean).collect());
        means.collect()
    }

    /// For each member the variance of its mean along one factor.
    fn single(&self, factor: usize) -> Vec<f64> {
        let place = |step: usize| (step as f64 + 0.5) / PLACES as f64;
        let points: Vec<Vec<f64>> = (0..PLACES)
            .flat_map(|step| {
                self.bases.iter().map(move |base| {
                    let mut point = base.clone();
                    point[factor] = place(step);
                    point
                })
            })
            .collect();
        self.variances_of_groups(&points, BASES)
    }

    /// The same along two factors together.
    fn pair(&self, first: usize, second: usize) -> Vec<f64> {
        let place = |step: usize| (step as f64 + 0.5) / PAIR_PLACES as f64;
        let points: Vec<Vec<f64>> = (0..PAIR_PLACES * PAIR_PLACES)
            .flat_map(|step| {
                self.bases[..PAIR_BASES].iter().map(move |base| {
                    let mut point = base.clone();
                    point[first] = place(step / PAIR_PLACES);
                    point[second] = place(step % PAIR_PLACES);
                    point
                })
            })
            .collect();
        self.variances_of_groups(&points, PAIR_BASES)
    }

    /// For each member the variance of the means of groups of points.
    fn variances_of_groups(&self, points: &[Vec<f64>], size: usize) -> Vec<f64> {
        let groups = |values: &Vec<f64>| values.chunks(size).map(mean).collect::<Vec<f64>>();
        self.means(points).iter().map(|values| variance(&groups(values))).collect()
    }

    fn shares(&self, variances: &[f64]) -> Vec<f64> {
        // Both are estimates, whose ratio may come out a little above the whole.
        let share =
            |(own, total): (&f64, &f64)| if *total > 0.0 { (own / total).min(1.0) } else { 0.0 };
        variances.iter().zip(&self.totals).map(share).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|own| (own - centre) * (own - centre)).sum::<f64>() / values.len() as f64
}
