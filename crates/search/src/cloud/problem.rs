//! What is searched for, and what runs have told.

use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::features::Features;
use crate::error::CloudError;

/// What shall be small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// How long a run takes.
    Time,
    /// What a run costs.
    Cost,
}

/// What an acceptable run keeps within.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Longest time in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Highest cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Candidates, and what is wanted of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    candidates: Vec<Candidate>,
    features: Features,
    objective: Objective,
    limits: Limits,
}

impl Problem {
    /// A problem over these candidates.
    ///
    /// # Errors
    /// No candidates, the same one twice, or a property that is not a positive number.
    pub fn new(
        candidates: Vec<Candidate>,
        objective: Objective,
        limits: Limits,
    ) -> Result<Self, CloudError> {
        if candidates.is_empty() {
            return Err(CloudError::NoCandidates);
        }
        for (at, own) in candidates.iter().enumerate() {
            let machine = &own.machine;
            let numbers = [
                ("vcpus", machine.vcpus),
                ("memory_gib", machine.memory_gib),
                ("price_usd_per_hour", machine.price_usd_per_hour),
                ("nodes", f64::from(own.nodes)),
            ];
            for (property, value) in numbers {
                if !(value.is_finite() && value > 0.0) {
                    let vm_type = machine.vm_type.clone();
                    return Err(CloudError::NotPositive { vm_type, property, value });
                }
            }
            let same = |other: &Candidate| {
                other.machine.vm_type == machine.vm_type && other.nodes == own.nodes
            };
            if candidates[..at].iter().any(same) {
                return Err(CloudError::CandidateTwice { label: own.label() });
            }
        }
        let features = Features::of(&candidates);
        Ok(Self { candidates, features, objective, limits })
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The candidates as numbers.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// What shall be small.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// What an acceptable run keeps within.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The place of a configuration in the table.
    pub fn place(&self, vm_type: &str, nodes: u32) -> Option<usize> {
        self.candidates.iter().position(|own| own.machine.vm_type == vm_type && own.nodes == nodes)
    }

    /// The objective of a run of this length.
    pub fn value(&self, candidate: usize, elapsed_s: f64) -> f64 {
        match self.objective {
            Objective::Time => elapsed_s,
            Objective::Cost => self.candidates[candidate].cost_usd(elapsed_s),
        }
    }

    /// What to add to the logarithm of a time to get that of the objective.
    pub(super) fn log_rate(&self, candidate: usize) -> f64 {
        self.value(candidate, 1.0).ln()
    }

    /// The longest acceptable time on a candidate.
    pub(super) fn longest_s(&self, candidate: usize) -> Option<f64> {
        let by_cost =
            self.limits.cost_usd.map(|most| most / self.candidates[candidate].cost_usd(1.0));
        match (self.limits.time_s, by_cost) {
            (Some(time), Some(cost)) => Some(time.min(cost)),
            (one, other) => one.or(other),
        }
    }

    /// The objective of a run that ended well and kept within the limits.
    pub fn accepted(&self, told: &Told) -> Option<f64> {
        let elapsed = told.finished()?;
        let within = self.longest_s(told.candidate).is_none_or(|longest| elapsed <= longest);
        within.then(|| self.value(told.candidate, elapsed))
    }

    /// The best run so far: its place among those told, and its objective.
    pub fn best(&self, told: &[Told]) -> Option<(usize, f64)> {
        let accepted =
            told.iter().enumerate().filter_map(|(at, own)| Some((at, self.accepted(own)?)));
        accepted.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Candidates that have not run yet, in their order.
    pub(super) fn untried(&self, told: &[Told]) -> Vec<usize> {
        let tried = |at: &usize| told.iter().any(|own| own.candidate == *at);
        (0..self.candidates.len()).filter(|at| !tried(at)).collect()
    }
}

/// What came of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The place of its configuration in the table.
    pub candidate: usize,
    /// How long it took, in seconds; of a failed run until it failed, where that is known.
    pub elapsed_s: Option<f64>,
    /// Whether it ended well.
    pub completed: bool,
    /// Low-level metrics in the order of the history's names.
    pub metrics: Vec<Option<f64>>,
}

impl Told {
    /// The time of a run that ended well.
    pub fn finished(&self) -> Option<f64> {
        self.elapsed_s.filter(|_| self.completed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Machine;
    use super::*;

    fn candidates() -> Vec<Candidate> {
        [("a", 1), ("a", 4), ("b", 2)]
            .map(|(name, nodes)| Candidate { machine: Machine::plain(name, 2.0, 4.0, 0.36), nodes })
            .to_vec()
    }

    fn told(candidate: usize, elapsed_s: f64, completed: bool) -> Told {
        Told { candidate, elapsed_s: Some(elapsed_s), completed, metrics: Vec::new() }
    }

    #[test]
    fn a_quick_failure_is_never_the_best() {
        let problem = Problem::new(candidates(), Objective::Time, Limits::default()).unwrap();
        let runs = [told(0, 5.0, false), told(1, 90.0, true), told(2, 80.0, true)];
        assert_eq!(problem.best(&runs), Some((2, 80.0)));
        assert_eq!(problem.best(&runs[..1]), None);
        assert_eq!(problem.untried(&runs[..2]), [2]);
    }

    #[test]
    fn limits_rule_runs_out() {
        let limits = Limits { time_s: Some(85.0), cost_usd: None };
        let problem = Problem::new(candidates(), Objective::Cost, limits).unwrap();
        // 100 s on one node are cheaper than 80 s on two, and too slow.
        let runs = [told(0, 100.0, true), told(2, 80.0, true)];
        assert_eq!(problem.best(&runs), Some((1, 80.0 / 3600.0 * 0.72)));
        let limits = Limits { time_s: None, cost_usd: Some(0.011) };
        let problem = Problem::new(candidates(), Objective::Time, limits).unwrap();
        assert_eq!(problem.best(&runs), Some((0, 100.0)));
    }

    #[test]
    fn faulty_tables_are_refused() {
        let refused = |own: Vec<Candidate>| {
            Problem::new(own, Objective::Time, Limits::default()).unwrap_err().to_string()
        };
        assert_eq!(refused(Vec::new()), "there are no candidates to choose from");
        let twice = [candidates(), candidates()].concat();
        assert_eq!(refused(twice), "the configuration `a` is listed twice");
        let mut free = candidates();
        free[1].machine.price_usd_per_hour = 0.0;
        assert_eq!(
            refused(free),
            "price_usd_per_hour of `a` is 0, where a number above 0 is needed"
        );
    }
}
