//! Jobs that arrive by the clock, whether a slot is free or not: a load.

use std::time::Duration;

use trainwright_study::{Configuration, Observation, PlannedTrial, Seed};

use crate::{Proposal, Proposer};

/// What all jobs of a load have in common.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// What runs.
    pub configuration: Configuration,
    /// Row of the design that it is; absent where it is none.
    pub row: Option<u32>,
    /// What the jobs' seeds derive from.
    pub seed: Seed,
}

/// Proposes one job after the other, none before its time.
#[derive(Debug)]
pub struct Arrivals {
    common: Arrival,
    /// Seconds since the beginning, ascending.
    moments: Vec<f64>,
    proposed: usize,
}

impl Arrivals {
    /// Jobs that come at these moments, in seconds since the beginning, ascending.
    pub fn new(common: Arrival, moments: Vec<f64>) -> Self {
        Self { common, moments, proposed: 0 }
    }
}

impl Proposer for Arrivals {
    fn ask(&mut self, now: Duration) -> Proposal {
        let Some(moment) = self.moments.get(self.proposed) else { return Proposal::Done };
        if *moment > now.as_secs_f64() {
            // Rounded up, so that whoever asks again at that time is not too early.
            let at = Duration::try_from_secs_f64(*moment).unwrap_or(Duration::MAX);
            return Proposal::Later(at.saturating_add(Duration::from_nanos(1)));
        }
        self.proposed += 1;
        let number = u32::try_from(self.proposed).unwrap_or(u32::MAX);
        // Seeds fit 31 bits, as many programs want.
        let seed = (self.common.seed.derive(u64::from(number)).value() >> 33) as u32;
        Proposal::Try(PlannedTrial {
            number,
            row: self.common.row,
            replicate: number,
            configuration: self.common.configuration.clone(),
            seed,
            block: None,
            whole_plot: None,
        })
    }

    fn tell(&mut self, _: &Observation) {}
}
