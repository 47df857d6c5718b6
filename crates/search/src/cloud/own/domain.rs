//! What is believed of times without any history: more processors are faster, a job whose data do
//! not fit into memory is slower, and configurations that are alike take alike.

use super::belief::Beliefs;
use crate::cloud::candidate::Candidate;
use crate::cloud::problem::Problem;
use crate::gaussian_process::correlation;

/// Variance of the common offset: a job may take from seconds to days.
const OFFSET: f64 = 16.0;
/// Time falls with a power of the processors: how much each kind of job is believed, the power and
/// its standard deviation. The second kind only loses by waiting for others.
const SCALING: [(f64, f64, f64); 2] = [(0.8, 0.6, 0.3), (0.2, 0.0, 0.3)];
/// Standard deviation of the slope along each feature, over its whole span.
const SLOPE: f64 = 0.4;
/// Standard deviation of what no feature explains.
const NUGGET: f64 = 0.04;
/// Standard deviations and lengths of the smooth part that are tried.
const AMPLITUDES: [f64; 3] = [0.1, 0.25, 0.6];
const LENGTHS: [f64; 2] = [0.5, 1.5];
/// How much it is believed that some candidates have too little memory for the job's data.
const CLIFF_SHARE: f64 = 0.3;
/// Those are slower by this power of e, and its standard deviation.
const CLIFF: (f64, f64) = (1.0, 0.5);

/// How a belief lets candidates differ.
pub(super) struct Shape {
    /// Standard deviation of the power of the processors.
    pub(super) scaling: f64,
    /// Standard deviation of the slope along each feature.
    pub(super) slope: f64,
    /// Standard deviation of the smooth part.
    pub(super) amplitude: f64,
    /// Its length.
    pub(super) length: f64,
    /// Standard deviation of what no feature explains.
    pub(super) nugget: f64,
}

/// Beliefs that differ in how rough the surface is and in how much memory the job needs;
/// measurements decide between them.
pub(super) fn beliefs(problem: &Problem) -> Vec<Beliefs> {
    let needs = memory_needs(problem);
    let kinds = (AMPLITUDES.len() * LENGTHS.len()) as f64;
    let mut all = Vec::new();
    for (share, power, scaling) in SCALING {
        let mean = mean(problem, power);
        for amplitude in AMPLITUDES {
            for length in LENGTHS {
                let shape = Shape { scaling, slope: SLOPE, amplitude, length, nugget: NUGGET };
                let smooth = covariance(problem, &shape);
                let part = share / kinds;
                let flat = if needs.is_empty() { 1.0 } else { 1.0 - CLIFF_SHARE };
                for need in &needs {
                    let weight = (part * CLIFF_SHARE / needs.len() as f64).ln();
                    all.push(with_cliff(problem, &mean, &smooth, *need, weight));
                }
                let members = vec![((part * flat).ln(), mean.clone())];
                all.push(Beliefs { members, covariance: smooth });
            }
        }
    }
    all
}

/// The logarithm of the memory of all nodes.
pub(super) fn log_memory(own: &Candidate) -> f64 {
    (own.machine.memory_gib * f64::from(own.nodes)).ln()
}

/// Logarithms of memory that divide the candidates.
fn memory_needs(problem: &Problem) -> Vec<f64> {
    let mut memories: Vec<f64> = problem.candidates().iter().map(log_memory).collect();
    memories.sort_by(f64::total_cmp);
    memories.dedup_by(|a, b| (*a - *b).abs() < 0.03);
    memories.windows(2).map(|own| (own[0] + own[1]) / 2.0).collect()
}

fn with_cliff(
    problem: &Problem,
    mean: &[f64],
    covariance: &[f64],
    need: f64,
    log_weight: f64,
) -> Beliefs {
    let (mut mean, mut covariance) = (mean.to_vec(), covariance.to_vec());
    let count = mean.len();
    let short: Vec<usize> =
        (0..count).filter(|&at| log_memory(&problem.candidates()[at]) < need).collect();
    for &a in &short {
        mean[a] += CLIFF.0;
        for &b in &short {
            covariance[a * count + b] += CLIFF.1 * CLIFF.1;
        }
    }
    Beliefs { members: vec![(log_weight, mean)], covariance }
}

fn log_vcpus(problem: &Problem) -> Vec<f64> {
    let all: Vec<f64> = problem.candidates().iter().map(|own| own.total_vcpus().ln()).collect();
    let centre = all.iter().sum::<f64>() / all.len() as f64;
    all.iter().map(|own| own - centre).collect()
}

fn mean(problem: &Problem, power: f64) -> Vec<f64> {
    log_vcpus(problem).iter().map(|own| -power * own).collect()
}

/// How log times vary together, row by row.
pub(super) fn covariance(problem: &Problem, shape: &Shape) -> Vec<f64> {
    let (features, vcpus) = (problem.features(), log_vcpus(problem));
    let square = |own: f64| own * own;
    let mut covariance = Vec::with_capacity(vcpus.len() * vcpus.len());
    for a in 0..vcpus.len() {
        for b in 0..vcpus.len() {
            let (left, right) = (features.unit(a), features.unit(b));
            let slopes: f64 = left.iter().zip(right).map(|(x, y)| (x - 0.5) * (y - 0.5)).sum();
            let squared: f64 = left.iter().zip(right).map(|(x, y)| square(x - y)).sum();
            let smooth = square(shape.amplitude) * correlation(squared / square(shape.length));
            let scaling = square(shape.scaling) * vcpus[a] * vcpus[b];
            let own = if a == b { square(shape.nugget) } else { 0.0 };
            covariance.push(OFFSET + scaling + square(shape.slope) * slopes + smooth + own);
        }
    }
    covariance
}

#[cfg(test)]
mod tests {
    use super::super::super::candidate::Machine;
    use super::super::super::problem::{Limits, Objective};
    use super::super::belief::log_sum;
    use super::*;

    fn problem() -> Problem {
        let candidate = |(vcpus, memory): (f64, f64)| Candidate {
            machine: Machine::plain(&format!("{vcpus}-{memory}"), vcpus, memory, 0.1),
            nodes: 1,
        };
        let all = [(2.0, 4.0), (4.0, 8.0), (4.0, 32.0), (8.0, 16.0)].map(candidate).to_vec();
        Problem::new(all, Objective::Time, Limits::default()).unwrap()
    }

    #[test]
    fn weights_add_up_to_one() {
        let all: Vec<f64> =
            beliefs(&problem()).iter().flat_map(|own| own.members.iter().map(|m| m.0)).collect();
        assert!(log_sum(&all).abs() < 1e-12);
        assert_eq!(all.len(), 2 * 3 * 2 * 4);
    }

    #[test]
    fn a_fall_where_memory_suffices_is_taken_for_a_cliff() {
        let problem = problem();
        // Twice the processors change little, four times the memory a lot.
        let measured = [(0, 5.0), (1, 4.8), (2, 3.2)];
        let left: Vec<_> = beliefs(&problem).iter().flat_map(|own| own.after(&measured)).collect();
        let all = log_sum(&left.iter().map(|own| own.log_weight).collect::<Vec<_>>());
        let expected: f64 = left.iter().map(|own| (own.log_weight - all).exp() * own.mean[3]).sum();
        // 16 GiB may or may not be enough: what is expected lies between both.
        assert!(expected > 3.0 && expected < 4.7, "{expected}");
        let deviation = |own: &super::super::belief::Left| own.deviation[3];
        assert!(left.iter().all(|own| deviation(own) > 0.0));
    }
}
