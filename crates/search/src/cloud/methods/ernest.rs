//! Ernest over a table of candidates: a law for each machine type, from three of its numbers of
//! nodes; where there is but one number, for each family, from its sizes.

use std::collections::BTreeMap;

use super::{next, once_accepted};
use crate::cloud::advisor::{Advice, Advisor, Outlook, Stop};
use crate::cloud::ernest::{Law, ScaledRun};
use crate::cloud::problem::{Problem, Told};

/// Ernest, ready for a problem.
pub(crate) struct Ernest {
    problem: Problem,
    /// Candidates that share a law, in the order of their machines.
    kinds: Vec<Vec<usize>>,
    /// Machines of each candidate, or cores.
    machines: Vec<f64>,
}

impl Ernest {
    pub(crate) fn new(problem: &Problem) -> Self {
        let candidates = problem.candidates();
        let one_count = candidates.iter().all(|own| own.nodes == candidates[0].nodes);
        let machines: Vec<f64> = candidates
            .iter()
            .map(|own| if one_count { own.total_vcpus() } else { f64::from(own.nodes) })
            .collect();
        let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, own) in candidates.iter().enumerate() {
            let name = &own.machine.vm_type;
            let family = name.split_once('.').map_or(name.as_str(), |(family, _)| family);
            let kind = if one_count { family.to_owned() } else { name.clone() };
            kinds.entry(kind).or_default().push(at);
        }
        let mut kinds: Vec<Vec<usize>> = kinds.into_values().collect();
        kinds.iter_mut().for_each(|own| own.sort_by(|a, b| machines[*a].total_cmp(&machines[*b])));
        Self { problem: problem.clone(), kinds, machines }
    }

    /// The fewest machines, the most and those between: where a law of these terms is known best.
    fn training(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for place in [0, 2, 1] {
            for kind in &self.kinds {
                let at = [0, kind.len() / 2, kind.len() - 1][place];
                if !all.contains(&kind[at]) {
                    all.push(kind[at]);
                }
            }
        }
        all
    }

    fn law(&self, kind: &[usize], told: &[Told]) -> Option<Law> {
        let runs: Vec<ScaledRun> = told
            .iter()
            .filter(|own| kind.contains(&own.candidate))
            .filter_map(|own| {
                let machines = self.machines[own.candidate];
                Some(ScaledRun { machines, share: 1.0, elapsed_s: own.finished()? })
            })
            .collect();
        Law::fit(&runs).ok()
    }

    fn foretold(&self, told: &[Told]) -> (Vec<Outlook>, Vec<String>) {
        let untried = self.problem.untried(told);
        let (mut outlook, mut warnings) = (Vec::new(), Vec::new());
        for kind in &self.kinds {
            let Some(law) = self.law(kind, told) else { continue };
            for &candidate in kind.iter().filter(|at| untried.contains(at)) {
                let own = law.predict(1.0, self.machines[candidate]);
                let value = |elapsed: f64| self.problem.value(candidate, elapsed);
                outlook.push(Outlook {
                    candidate,
                    expected: value(own.elapsed_s),
                    low: own.low_s.map(value),
                    high: own.high_s.map(value),
                    chance_accepted: None,
                });
                if own.extrapolates {
                    let label = self.problem.candidates()[candidate].label();
                    warnings.push(format!(
                        "{label} lies beyond the runs of its type: Ernest's law is often wrong there"
                    ));
                }
            }
        }
        outlook.sort_by(|a, b| a.expected.total_cmp(&b.expected));
        (outlook, warnings)
    }
}

impl Advisor for Ernest {
    fn advise(&self, told: &[Told], _seed: u64) -> Advice {
        let training = self.training();
        if let Some(missing) = super::first_untried(&training, told) {
            return next(Some(missing));
        }
        let (outlook, warnings) = self.foretold(told);
        let first = outlook.first().map(|own| own.candidate);
        let mut advice = next(first.or_else(|| self.problem.untried(told).first().copied()));
        let runs = training.len() + 1;
        if told.len() >= runs {
            let spent = once_accepted(&self.problem, told, Stop::RunsSpent { runs });
            advice.stop = advice.stop.or(spent);
        }
        Advice { outlook, warnings, ..advice }
    }
}
