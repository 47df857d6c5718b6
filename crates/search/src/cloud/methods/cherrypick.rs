//! CherryPick: a Gaussian process and expected improvement (Alipourfard, Liu, Chen, Venkataraman,
//! Yu and Zhang, "CherryPick: adaptively unearthing the best cloud configurations for big data
//! analytics", NSDI 2017).

use super::bayesian::expected;
use super::{first_untried, next, shuffled};
use crate::cloud::advisor::{Advice, Advisor, Stop};
use crate::cloud::problem::{Problem, Told};

/// Runs to begin with.
const START: usize = 3;
/// The fewest runs before it may stop.
const LEAST_RUNS: usize = 6;
/// The improvement that another run must promise.
const THRESHOLD: f64 = 0.10;

/// CherryPick, ready for a problem.
pub(crate) struct CherryPick {
    problem: Problem,
    columns: Vec<usize>,
}

impl CherryPick {
    pub(crate) fn new(problem: &Problem) -> Self {
        let columns = (0..problem.features().names().len()).collect();
        Self { problem: problem.clone(), columns }
    }
}

impl Advisor for CherryPick {
    fn advise(&self, told: &[Told], seed: u64) -> Advice {
        let random = || first_untried(&shuffled(&self.problem, seed), told);
        if told.len() < START {
            return next(random());
        }
        let Some(found) = expected(&self.problem, &self.columns, told, seed) else {
            return next(random());
        };
        let enough = told.len() >= LEAST_RUNS && found.gain < THRESHOLD;
        let stop = Stop::LittleToGain { expected_gain: found.gain, threshold: THRESHOLD };
        Advice {
            next: Some(found.candidate),
            stop: enough.then_some(stop),
            outlook: found.outlook,
            warnings: Vec::new(),
        }
    }
}
