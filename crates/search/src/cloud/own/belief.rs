//! Gaussian beliefs about the log times of all candidates, and what measurements leave of them.

use std::rc::Rc;

use crate::gaussian_process::Cholesky;

/// Variance of a measurement about what it measures; keeps matrices regular.
const JITTER: f64 = 1e-6;

/// Beliefs about the log times of all candidates that differ in what they expect and share how
/// candidates vary together; a common offset is part of the covariance.
#[derive(Debug, Clone)]
pub(super) struct Beliefs {
    /// The logarithm of how much each is believed, and its mean.
    pub(super) members: Vec<(f64, Vec<f64>)>,
    /// Row by row.
    pub(super) covariance: Vec<f64>,
}

/// What is left of one belief after measurements.
#[derive(Debug, Clone)]
pub(super) struct Left {
    /// The logarithm of how much it is believed now, up to a constant that all share.
    pub(super) log_weight: f64,
    /// Expected log time of each candidate.
    pub(super) mean: Vec<f64>,
    /// Its standard deviation.
    pub(super) deviation: Rc<[f64]>,
}

impl Beliefs {
    fn size(&self) -> usize {
        self.members.first().map_or(0, |(_, mean)| mean.len())
    }

    fn covariance(&self, a: usize, b: usize) -> f64 {
        self.covariance[a * self.size() + b]
    }

    /// Conditions on log times of some candidates; empty where the covariance is no such.
    pub(super) fn after(&self, measured: &[(usize, f64)]) -> Vec<Left> {
        let Some(factor) = self.factor(measured) else { return Vec::new() };
        let count = self.size();
        let (mut rows, mut deviation) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for candidate in 0..count {
            let mut row: Vec<f64> =
                measured.iter().map(|&(other, _)| self.covariance(candidate, other)).collect();
            factor.solve_lower(&mut row);
            let known: f64 = row.iter().map(|own| own * own).sum();
            deviation.push((self.covariance(candidate, candidate) - known).max(0.0).sqrt());
            rows.push(row);
        }
        let deviation: Rc<[f64]> = deviation.into();
        let left = |(log_weight, mean): &(f64, Vec<f64>)| {
            let mut surprise: Vec<f64> =
                measured.iter().map(|&(own, value)| value - mean[own]).collect();
            factor.solve_lower(&mut surprise);
            let squares: f64 = surprise.iter().map(|own| own * own).sum();
            let shift = |row: &Vec<f64>| row.iter().zip(&surprise).map(|(a, b)| a * b).sum::<f64>();
            Left {
                log_weight: log_weight + log_density(squares, &factor),
                mean: mean.iter().zip(&rows).map(|(mean, row)| mean + shift(row)).collect(),
                deviation: Rc::clone(&deviation),
            }
        };
        self.members.iter().map(left).collect()
    }

    /// The logarithm of how likely measurements are, all members taken together.
    pub(super) fn log_evidence(&self, measured: &[(usize, f64)]) -> Option<f64> {
        let factor = self.factor(measured)?;
        let own = |(log_weight, mean): &(f64, Vec<f64>)| {
            let mut surprise: Vec<f64> =
                measured.iter().map(|&(own, value)| value - mean[own]).collect();
            factor.solve_lower(&mut surprise);
            let squares: f64 = surprise.iter().map(|own| own * own).sum();
            log_weight + log_density(squares, &factor)
        };
        Some(log_sum(&self.members.iter().map(own).collect::<Vec<_>>()))
    }

    fn factor(&self, measured: &[(usize, f64)]) -> Option<Cholesky> {
        let mut factor = Cholesky::default();
        for (at, &(own, _)) in measured.iter().enumerate() {
            let row: Vec<f64> =
                measured[..at].iter().map(|&(other, _)| self.covariance(own, other)).collect();
            factor.extend(&row, self.covariance(own, own) + JITTER)?;
        }
        Some(factor)
    }
}

/// Of a normal vector whose squares, once made independent, add up to this.
fn log_density(squares: f64, factor: &Cholesky) -> f64 {
    let constant = factor.size() as f64 * std::f64::consts::TAU.ln();
    -0.5 * (squares + factor.log_determinant() + constant)
}

/// The logarithm of the sum of numbers whose logarithms are given.
pub(super) fn log_sum(logarithms: &[f64]) -> f64 {
    let top = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + logarithms.iter().map(|own| (own - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variance 2 and 1, covariance 0.8.
    fn two() -> Beliefs {
        Beliefs { members: vec![(0.0, vec![1.0, 3.0])], covariance: vec![2.0, 0.8, 0.8, 1.0] }
    }

    #[test]
    fn conditioning_is_that_of_the_bivariate_normal() {
        let own = &two().after(&[(0, 2.0)])[0];
        // Mean 3 + 0.8 / 2 (2 - 1), variance 1 - 0.8^2 / 2; the jitter is in the tolerance.
        assert!((own.mean[1] - 3.4).abs() < 1e-5);
        assert!((own.deviation[1] - 0.68_f64.sqrt()).abs() < 1e-5);
        assert!((own.mean[0] - 2.0).abs() < 1e-5 && own.deviation[0] < 2e-3);
        let density = -0.5 * (0.5 + (2.0 * std::f64::consts::TAU).ln());
        assert!((own.log_weight - density).abs() < 1e-5);
    }

    #[test]
    fn evidence_of_all_is_that_of_one_and_of_the_next_after_it() {
        let both = two().log_evidence(&[(0, 2.0), (1, 2.5)]).unwrap();
        let first = &two().after(&[(0, 2.0)])[0];
        let z = (2.5 - first.mean[1]) / first.deviation[1];
        let second = -0.5 * (z * z + (std::f64::consts::TAU * first.deviation[1].powi(2)).ln());
        assert!((both - first.log_weight - second).abs() < 1e-4);
    }

    #[test]
    fn members_are_weighed_by_how_well_they_foretold() {
        let mut own = two();
        own.members = vec![(0.5_f64.ln(), vec![1.0, 3.0]), (0.5_f64.ln(), vec![4.0, 3.0])];
        let left = own.after(&[(0, 1.2)]);
        assert!(left[0].log_weight > left[1].log_weight + 1.0);
        let all = log_sum(&left.iter().map(|own| own.log_weight).collect::<Vec<_>>());
        assert!((all - own.log_evidence(&[(0, 1.2)]).unwrap()).abs() < 1e-12);
    }

    #[test]
    fn without_measurements_the_belief_stays() {
        let own = &two().after(&[])[0];
        assert_eq!((own.mean.as_slice(), own.log_weight), (&[1.0, 3.0][..], 0.0));
        assert_eq!(log_sum(&[]), f64::NEG_INFINITY);
    }
}
