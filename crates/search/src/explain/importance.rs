//! How much of the objective's variation each factor causes, alone and with another.
//!
//! The functional analysis of variance of a fitted surface (Hutter, Hoos and Leyton-Brown, "An
//! efficient approach for assessing hyperparameter importance", 2014), here of the mean of a
//! Gaussian process, over the points of `variance_split.rs`. Each member of the ensemble gives an
//! answer of its own; how far they differ is how sure the answer is.

use serde::Serialize;
use trainwright_random::Random;

use super::variance_split::Array;
use crate::{Space, Surrogate};

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
    let array = Array::new(names.len(), &mut Random::new(seed));
    let features: Option<Vec<Vec<f64>>> =
        array.points.iter().map(|point| space.free_features(point)).collect();
    // A condition that cannot be computed somewhere leaves no whole to take shares of.
    let Some(features) = features.filter(|_| !names.is_empty()) else { return Vec::new() };
    let members = surrogate.objective().members().iter();
    let means: Vec<Vec<f64>> = members
        .map(|own| own.posteriors(&features).iter().map(|posterior| posterior.mean).collect())
        .collect();
    let shares = |part: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        let share = |values: &Vec<f64>| {
            let total = array.total(values);
            if total > 0.0 { part(values) / total } else { 0.0 }
        };
        means.iter().map(share).collect()
    };
    let mut singles: Vec<(usize, Importance)> = (0..names.len())
        .map(|own| {
            let shares = shares(&|values| array.single(values, own));
            (own, of_shares(vec![names[own].clone()], &shares))
        })
        .collect();
    singles.sort_by(|a, b| b.1.share.total_cmp(&a.1.share));
    let top: Vec<usize> = singles.iter().take(PAIRED).map(|own| own.0).collect();
    let mut found: Vec<Importance> = singles.into_iter().map(|own| own.1).collect();
    for (place, &first) in top.iter().enumerate() {
        for &second in &top[place + 1..] {
            let shares = shares(&|values| array.pair(values, first, second));
            found.push(of_shares(vec![names[first].clone(), names[second].clone()], &shares));
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
