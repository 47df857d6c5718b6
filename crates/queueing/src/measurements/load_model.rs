//! What a queue model says about a measurement of real jobs, which is short and begins empty.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;
use trainwright_random::Random;

use crate::error::QueueingError;
use crate::interval::{Interval, sorted_quantile};
use crate::limits::{count, positive};
use crate::measurements::dependence::{Dependence, ServiceRanks};
use crate::measurements::measured::{MeasuredJob, MeasuredQueue};
use crate::queue::QueueKind;
use crate::simulations::queue_simulation::Moment;
use crate::simulations::times::Times;
use crate::steady_state::SteadyState;

/// Times that are drawn at most for a prediction; longer measurements get fewer runs.
const MOST_DRAWN: usize = 20_000_000;

/// Level of each of the two tests by which a model is judged.
const LEVEL: f64 = 0.025;

/// When jobs arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrivalPlan {
    /// Exponential times between arrivals.
    Poisson {
        /// Jobs in a unit of time.
        rate: f64,
    },
    /// Equal times between arrivals.
    Deterministic {
        /// Jobs in a unit of time.
        rate: f64,
    },
    /// These moments, ascending.
    Given {
        /// Moments since the beginning.
        moments: Vec<f64>,
    },
}

/// What a model says about a measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadModel {
    /// The model's name, such as `M/G/1`.
    pub queue: String,
    /// Jobs that arrive in a unit of time, as planned.
    pub arrival_rate: f64,
    /// Variance of the times between arrivals over their squared mean, as planned.
    pub scv_arrival: f64,
    /// Jobs that one busy server ends in a unit of time, as measured.
    pub service_rate: f64,
    /// Variance of the service times over their squared mean, as measured.
    pub scv_service: f64,
    /// Servers.
    pub servers: u32,
    /// Work that arrives for each server in a unit of time; from 1 on the queue grows for ever.
    pub utilisation: f64,
    /// What the queue does in the long run; `None` where it would grow for ever.
    pub steady_state: Option<SteadyState>,
    /// Mean wait of as many jobs from an empty queue: mean over runs, and where 95 % of runs lie.
    pub mean_wait: Interval,
    /// The same for the mean response.
    pub mean_response: Interval,
    /// Simulated runs behind the two.
    pub runs: usize,
    /// Whether the measured mean response lies where 97.5 % of the runs do.
    pub response_agrees: bool,
    /// How service goes with busy servers; absent where one of the two never varies.
    pub dependence: Option<Dependence>,
    /// Whether the measurement could be a run of the model: the mean response agrees, and service
    /// does not go with busy servers, each tested at 2.5 %.
    pub agrees: bool,
}

impl ArrivalPlan {
    /// Moments of the first `jobs` arrivals.
    ///
    /// # Errors
    /// A rate out of range.
    pub fn moments(&self, jobs: usize, seed: u64) -> Result<Vec<f64>, QueueingError> {
        let mut random = Random::new(seed);
        Ok(match self {
            Self::Poisson { rate } => {
                let mean = 1.0 / positive("arrival rate", *rate)?;
                let mut now = 0.0;
                let next = |_| {
                    now += mean * random.exponential();
                    now
                };
                (0..jobs).map(next).collect()
            }
            Self::Deterministic { rate } => {
                let gap = 1.0 / positive("arrival rate", *rate)?;
                (1..=jobs).map(|number| number as f64 * gap).collect()
            }
            Self::Given { moments } => moments.iter().copied().take(jobs).collect(),
        })
    }

    fn rate(&self, measured: &MeasuredQueue) -> f64 {
        match self {
            Self::Poisson { rate } | Self::Deterministic { rate } => *rate,
            Self::Given { .. } => measured.arrival_rate,
        }
    }

    fn scv(&self, measured: &MeasuredQueue) -> f64 {
        match self {
            Self::Poisson { .. } => 1.0,
            Self::Deterministic { .. } => 0.0,
            Self::Given { .. } => measured.scv_arrival,
        }
    }
}

impl LoadModel {
    /// The model that the arrivals and the measured service times make.
    ///
    /// # Errors
    /// A number out of range.
    pub fn of(
        plan: &ArrivalPlan,
        jobs: &[MeasuredJob],
        measured: &MeasuredQueue,
        servers: u32,
        seed: u64,
    ) -> Result<Self, QueueingError> {
        count("servers", servers)?;
        let (arrival_rate, scv_arrival) = (plan.rate(measured), plan.scv(measured));
        let (service_rate, scv_service) = (measured.service.rate, measured.service.scv.estimate);
        let kind = QueueKind::Ggc { scv_arrival, scv_service };
        let utilisation = arrival_rate / service_rate / f64::from(servers);
        let steady_state = if utilisation < 1.0 {
            Some(kind.queue(arrival_rate, service_rate, servers)?.steady_state())
        } else {
            None
        };
        let counted = &jobs[measured.skipped.min(jobs.len())..];
        let service = Times::measured(counted.iter().map(MeasuredJob::service).collect())?;
        let runs = (MOST_DRAWN / jobs.len().max(1)).clamp(200, 2000);
        let mut random = Random::new(seed);
        let (mut waits, mut responses) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
        let ranks = ServiceRanks::new(counted);
        let own = ranks.correlation(jobs, measured.skipped, servers);
        let mut correlations = Vec::new();
        for _ in 0..runs {
            let moments = plan.moments(jobs.len(), random.bits())?;
            let path = serve(&moments, &service, servers, &mut random);
            let counted = &path[measured.skipped..];
            let mean = |value: fn(&MeasuredJob) -> f64| {
                counted.iter().map(value).sum::<f64>() / counted.len() as f64
            };
            waits.push(mean(MeasuredJob::wait));
            responses.push(mean(MeasuredJob::response));
            if own.is_some() {
                correlations.extend(ranks.correlation(&path, measured.skipped, servers));
            }
        }
        let dependence = own.map(|own| Dependence::among(own, &correlations));
        let response_agrees = middle(&mut responses, LEVEL).contains(measured.mean_response);
        let (mean_wait, mean_response) = (middle(&mut waits, 0.05), middle(&mut responses, 0.05));
        let arrivals = if matches!(plan, ArrivalPlan::Poisson { .. }) { "M" } else { "G" };
        Ok(Self {
            queue: format!("{arrivals}/G/{servers}"),
            arrival_rate,
            scv_arrival,
            service_rate,
            scv_service,
            servers,
            utilisation,
            steady_state,
            mean_wait,
            mean_response,
            runs,
            response_agrees,
            dependence,
            agrees: response_agrees && dependence.is_none_or(|own| own.p >= LEVEL),
        })
    }
}

/// Jobs of these arrivals, first come first served, with service times drawn anew.
fn serve(moments: &[f64], service: &Times, servers: u32, random: &mut Random) -> Vec<MeasuredJob> {
    let mut free: BinaryHeap<Reverse<Moment>> =
        (0..servers).map(|_| Reverse(Moment(0.0))).collect();
    let job = |&arrival: &f64| {
        let Reverse(Moment(idle)) = free.pop().expect("there is a server");
        let start = idle.max(arrival);
        let end = start + service.draw(random);
        free.push(Reverse(Moment(end)));
        MeasuredJob { arrival, start, end }
    };
    moments.iter().map(job).collect()
}

/// The mean of some values, and the range in which all but a share of them lie.
fn middle(values: &mut [f64], outside: f64) -> Interval {
    values.sort_by(f64::total_cmp);
    let estimate = values.iter().sum::<f64>() / values.len() as f64;
    let low = sorted_quantile(values, 0.5 * outside);
    let high = sorted_quantile(values, 1.0 - 0.5 * outside);
    Interval { estimate, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::measured::measure;

    /// A measurement that is itself a run of the model must lie in the range about as often as
    /// is said.
    #[test]
    fn the_range_holds_true_runs_as_often_as_it_says() {
        let plan = ArrivalPlan::Poisson { rate: 1.4 };
        let mut held = 0;
        for seed in 0..60 {
            let mut random = Random::new(1000 + seed);
            let service = Times::with_scv(1.0, 0.5).unwrap();
            let path = serve(&plan.moments(60, seed).unwrap(), &service, 2, &mut random);
            let measured = measure(&path, 5, 2, 1).unwrap();
            let model = LoadModel::of(&plan, &path, &measured, 2, seed).unwrap();
            held += u32::from(model.agrees);
            assert_eq!((model.queue.as_str(), model.scv_arrival), ("M/G/2", 1.0));
            assert!((model.utilisation - 0.7 * measured.service.mean.estimate).abs() < 1e-12);
        }
        // 57 of 60 are promised; the service times of the model are estimates too.
        assert!(held >= 50, "{held}");
    }

    #[test]
    fn an_overloaded_queue_has_no_long_run_but_a_prediction() {
        let plan = ArrivalPlan::Deterministic { rate: 2.0 };
        let service = Times::fixed(1.0).unwrap();
        let path = serve(&plan.moments(10, 0).unwrap(), &service, 1, &mut Random::new(0));
        let measured = measure(&path, 0, 1, 1).unwrap();
        let model = LoadModel::of(&plan, &path, &measured, 1, 1).unwrap();
        assert_eq!((model.utilisation, model.steady_state), (2.0, None));
        // Job n waits half a unit longer than the one before: the mean of ten is 2.25.
        assert_eq!((measured.mean_wait, model.mean_wait.estimate), (2.25, 2.25));
        assert!(model.agrees);
        let given = ArrivalPlan::Given { moments: vec![0.0, 1.0, 5.0] };
        assert_eq!(given.moments(9, 0).unwrap(), [0.0, 1.0, 5.0]);
        assert!(ArrivalPlan::Poisson { rate: -1.0 }.moments(3, 0).is_err());
    }

    #[test]
    fn service_that_goes_with_busy_servers_is_seen() {
        let plan = ArrivalPlan::Poisson { rate: 0.5 };
        let mut random = Random::new(3);
        let mut free = [0.0_f64; 2];
        let mut job = |arrival: f64| {
            free.sort_by(f64::total_cmp);
            let start = free[0].max(arrival);
            // Three times as slow beside another job.
            let slow = if free[1] > start { 3.0 } else { 1.0 };
            free[0] = start + slow * random.exponential();
            MeasuredJob { arrival, start, end: free[0] }
        };
        let path: Vec<MeasuredJob> =
            plan.moments(300, 4).unwrap().into_iter().map(&mut job).collect();
        let measured = measure(&path, 5, 2, 1).unwrap();
        let model = LoadModel::of(&plan, &path, &measured, 2, 1).unwrap();
        let dependence = model.dependence.unwrap();
        assert!(dependence.correlation > 0.1 && dependence.p < 0.01, "{dependence:?}");
        assert!(!model.agrees);
    }
}
