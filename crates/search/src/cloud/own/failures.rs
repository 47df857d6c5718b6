//! How likely a run is to end well: a job that failed for want of memory fails with less of it.

use super::domain::log_memory;
use crate::cloud::candidate::Candidate;
use crate::cloud::problem::{Problem, Told};

/// Runs and failures that are imagined before any is seen.
const IMAGINED: (f64, f64) = (1.0, 0.05);
/// How much a run of the job on a like candidate counts. Those of other workloads do not: how much
/// memory they needed says little of this one, and a false history would do harm.
const OWN_RUN: f64 = 3.0;
/// Squared distance in logarithms of memory at which a run counts for little.
const REACH: f64 = 0.5;

/// What is known of failures on each candidate.
#[derive(Debug, Clone)]
pub(super) struct Failures {
    /// Logarithms of memory for each processor and of all memory.
    memories: Vec<[f64; 2]>,
}

impl Failures {
    pub(super) fn of(problem: &Problem) -> Self {
        let candidates = problem.candidates();
        let memory =
            |own: &Candidate| [(own.machine.memory_gib / own.machine.vcpus).ln(), log_memory(own)];
        Self { memories: candidates.iter().map(memory).collect() }
    }

    /// The chance that a run on a candidate ends well.
    pub(super) fn chance_completed(&self, candidate: usize, told: &[Told]) -> f64 {
        let (mut runs, mut failed) = IMAGINED;
        for own in told {
            // A failure says nothing of more memory, a success nothing of less.
            let sign = if own.completed { -1.0 } else { 1.0 };
            let pairs = self.memories[candidate].iter().zip(&self.memories[own.candidate]);
            let beyond: f64 = pairs.map(|(a, b)| (sign * (a - b)).max(0.0).powi(2)).sum();
            let counts = OWN_RUN * (-beyond / REACH).exp();
            runs += counts;
            failed += if own.completed { 0.0 } else { counts };
        }
        1.0 - failed / runs
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::candidate::Machine;
    use super::super::super::problem::{Limits, Objective};
    use super::*;

    #[test]
    fn a_failure_speaks_of_less_memory_and_a_success_of_more() {
        let candidate = |memory: f64| Candidate {
            machine: Machine::plain(&format!("m{memory}"), 4.0, memory, 0.1),
            nodes: 1,
        };
        let all = [4.0, 16.0, 64.0].map(candidate).to_vec();
        let problem = Problem::new(all, Objective::Time, Limits::default()).unwrap();
        let own = Failures::of(&problem);
        let told = |completed| {
            [Told { candidate: 1, elapsed_s: Some(9.0), completed, metrics: Vec::new() }]
        };
        let chances = |told: &[Told]| [0, 2].map(|at| own.chance_completed(at, told));
        let before = chances(&[]);
        assert!((before[0] - 0.95).abs() < 1e-12 && before[0] == before[1]);
        let [less, more] = chances(&told(false));
        assert!(less < 0.3 && more > 0.8, "{less} {more}");
        let [less, more] = chances(&told(true));
        assert!(more > 0.98 && less < more, "{less} {more}");
    }
}
