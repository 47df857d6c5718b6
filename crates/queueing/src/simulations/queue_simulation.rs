//! An event simulation of G/G/c/K and of finite populations, first come first served, with
//! intervals from batch means, for quantiles from shares of batches (`pooled_quantile.rs`).
//!
//! It knows nothing of the closed forms, so that each can check the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;
use trainwright_random::Random;

use crate::error::QueueingError;
use crate::interval::Interval;
use crate::limits::{count, fraction, stable};
use crate::simulations::pooled_quantile::Pooled;
use crate::simulations::times::Times;

/// A queue to simulate, and how long.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationRequest {
    /// Times between arrivals; with a population those between a customer's end and its return.
    pub arrivals: Times,
    /// Times of service.
    pub service: Times,
    /// Servers.
    pub servers: u32,
    /// Places, those in service included; endless where `None`.
    pub capacity: Option<u32>,
    /// Customers in all, each of which comes back; arrivals from outside where `None`.
    pub population: Option<u32>,
    /// Arrivals before anything is counted.
    pub warm_up: u32,
    /// Arrivals in a batch.
    pub batch: u32,
    /// Batches; neighbours must be long enough to be nearly independent.
    pub batches: u32,
    /// Confidence of the intervals, such as 0.95.
    pub confidence: f64,
    /// Decides every random number.
    pub seed: u64,
}

/// What a simulation saw, with intervals; times are those of accepted jobs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Simulated {
    /// Fraction of the servers that is busy.
    pub utilisation: Interval,
    /// Fraction of time in which the system is empty.
    pub p0: Interval,
    /// Fraction of the accepted jobs that wait.
    pub p_wait: Interval,
    /// Fraction of the jobs that are turned away.
    pub p_block: Interval,
    /// Jobs accepted in a unit of time.
    pub throughput: Interval,
    /// Jobs waiting or in service.
    pub mean_jobs: Interval,
    /// Jobs waiting.
    pub mean_queue: Interval,
    /// Time waiting.
    pub mean_wait: Interval,
    /// Time from arrival to end.
    pub mean_response: Interval,
    /// The wait that half, nine tenths and 99 hundredths of the jobs keep within.
    pub wait_quantiles: [Interval; 3],
    /// The response that half, nine tenths and 99 hundredths of the jobs keep within.
    pub response_quantiles: [Interval; 3],
}

/// Simulates a queue.
///
/// # Errors
/// A number out of range, arrivals that the servers of an endless queue cannot keep up with, or
/// batches so short that one accepts no job.
pub fn simulate(request: &SimulationRequest) -> Result<Simulated, QueueingError> {
    check(request)?;
    let mut run = Run::new(request);
    run.batch(request.warm_up);
    let seen: Vec<Batch> = (0..request.batches).map(|_| run.batch(request.batch)).collect();
    if seen.iter().any(|batch| batch.waits.is_empty()) {
        return Err(QueueingError::NothingAccepted { arrivals: request.batch });
    }
    let over = |value: &dyn Fn(&Batch) -> f64| {
        let values: Vec<f64> = seen.iter().map(value).collect();
        Interval::of_mean(&values, request.confidence)
    };
    let per_time = |area: &dyn Fn(&Batch) -> f64| over(&|batch| area(batch) / batch.time);
    let jobs = |batch: &Batch| batch.waits.len() as f64;
    let servers = f64::from(request.servers);
    let quantiles = |times: fn(&Batch) -> &Vec<f64>| {
        let pooled = Pooled::new(seen.iter().map(|batch| times(batch).as_slice()).collect());
        [0.5, 0.9, 0.99].map(|part| pooled.quantile(part, request.confidence))
    };
    let mean = |times: fn(&Batch) -> &Vec<f64>| {
        over(&|batch| times(batch).iter().sum::<f64>() / jobs(batch))
    };
    Ok(Simulated {
        utilisation: per_time(&|batch| (batch.jobs - batch.queue) / servers),
        p0: per_time(&|batch| batch.empty),
        p_wait: over(&|batch| {
            batch.waits.iter().filter(|wait| **wait > 0.0).count() as f64 / jobs(batch)
        }),
        p_block: over(&|batch| batch.blocked / (batch.blocked + jobs(batch))),
        throughput: per_time(&jobs),
        mean_jobs: per_time(&|batch| batch.jobs),
        mean_queue: per_time(&|batch| batch.queue),
        mean_wait: mean(|batch| &batch.waits),
        mean_response: mean(|batch| &batch.responses),
        wait_quantiles: quantiles(|batch| &batch.waits),
        response_quantiles: quantiles(|batch| &batch.responses),
    })
}

fn check(request: &SimulationRequest) -> Result<(), QueueingError> {
    let servers = count("servers", request.servers)?;
    if let Some(population) = request.population {
        count("customers", population)?;
    }
    fraction("confidence", request.confidence)?;
    for (what, value, least) in
        [("batches", request.batches, 2), ("arrivals in a batch", request.batch, 100)]
    {
        if value < least {
            let (value, least) = (u64::from(value), u64::from(least));
            return Err(QueueingError::Count { what, value, least, most: u64::from(u32::MAX) });
        }
    }
    match request.capacity {
        None if request.population.is_some() => Ok(()),
        Some(capacity) if capacity < servers => Err(QueueingError::TooSmall { capacity, servers }),
        Some(_) => Ok(()),
        None => stable(1.0 / request.arrivals.mean(), 1.0 / request.service.mean(), servers),
    }
}

/// A moment, ordered for a heap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment(pub(crate) f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What a run of arrivals saw: areas under the number of jobs, and times of accepted jobs,
/// sorted.
#[derive(Debug, Default)]
struct Batch {
    time: f64,
    jobs: f64,
    queue: f64,
    empty: f64,
    blocked: f64,
    waits: Vec<f64>,
    responses: Vec<f64>,
}

/// The state of a simulation at an arrival.
struct Run<'a> {
    request: &'a SimulationRequest,
    arrivals: Random,
    service: Random,
    now: f64,
    /// When each server has done all work given to it so far.
    free: BinaryHeap<Reverse<Moment>>,
    /// When the jobs in the system end.
    ends: BinaryHeap<Reverse<Moment>>,
    /// When the customers of a population come next.
    returns: BinaryHeap<Reverse<Moment>>,
}

impl<'a> Run<'a> {
    fn new(request: &'a SimulationRequest) -> Self {
        let mut random = Random::new(request.seed);
        let (mut arrivals, service) = (random.split(), random.split());
        let first = |_| Reverse(Moment(request.arrivals.draw(&mut arrivals)));
        let returns = (0..request.population.unwrap_or(0)).map(first).collect();
        Self {
            request,
            arrivals,
            service,
            now: 0.0,
            free: (0..request.servers).map(|_| Reverse(Moment(0.0))).collect(),
            ends: BinaryHeap::new(),
            returns,
        }
    }

    fn batch(&mut self, arrivals: u32) -> Batch {
        let mut batch = Batch::default();
        let begun = self.now;
        for _ in 0..arrivals {
            let next = self.next_arrival();
            self.pass_until(next, &mut batch);
            self.arrive(&mut batch);
        }
        batch.time = self.now - begun;
        batch.waits.sort_by(f64::total_cmp);
        batch.responses.sort_by(f64::total_cmp);
        batch
    }

    fn next_arrival(&mut self) -> f64 {
        match self.request.population {
            None => self.now + self.request.arrivals.draw(&mut self.arrivals),
            Some(_) => self.returns.pop().expect("a customer at the queue has its return").0.0,
        }
    }

    /// Lets jobs end until a moment, adding to the areas on the way.
    fn pass_until(&mut self, moment: f64, batch: &mut Batch) {
        loop {
            let jobs = self.ends.len();
            let end = self.ends.peek().map(|Reverse(end)| end.0).filter(|end| *end <= moment);
            let lasted = end.unwrap_or(moment) - self.now;
            batch.jobs += lasted * jobs as f64;
            batch.queue += lasted * jobs.saturating_sub(self.request.servers as usize) as f64;
            if jobs == 0 {
                batch.empty += lasted;
            }
            self.now += lasted;
            if end.is_none() {
                self.now = moment;
                return;
            }
            self.ends.pop();
        }
    }

    fn arrive(&mut self, batch: &mut Batch) {
        if self.request.capacity.is_some_and(|capacity| self.ends.len() >= capacity as usize) {
            batch.blocked += 1.0;
            return;
        }
        let Reverse(free) = self.free.pop().expect("there is a server");
        let begin = free.0.max(self.now);
        let end = begin + self.request.service.draw(&mut self.service);
        self.free.push(Reverse(Moment(end)));
        self.ends.push(Reverse(Moment(end)));
        if self.request.population.is_some() {
            let away = self.request.arrivals.draw(&mut self.arrivals);
            self.returns.push(Reverse(Moment(end + away)));
        }
        batch.waits.push(begin - self.now);
        batch.responses.push(end - self.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> SimulationRequest {
        SimulationRequest {
            arrivals: Times::fixed(1.0).unwrap(),
            service: Times::fixed(1.5).unwrap(),
            servers: 2,
            capacity: None,
            population: None,
            warm_up: 10,
            batch: 100,
            batches: 4,
            confidence: 0.95,
            seed: 1,
        }
    }

    #[test]
    fn clockwork_is_known_exactly() {
        let seen = simulate(&request()).unwrap();
        assert_eq!((seen.mean_wait.estimate, seen.p_wait.estimate), (0.0, 0.0));
        assert_eq!((seen.mean_jobs.estimate, seen.utilisation.estimate), (1.5, 0.75));
        assert_eq!((seen.mean_response.estimate, seen.throughput.estimate), (1.5, 1.0));
    }

    #[test]
    fn one_place_turns_away_every_other_job() {
        // A job every second, each served for a second and a half, one place.
        let request = SimulationRequest { servers: 1, capacity: Some(1), ..request() };
        let seen = simulate(&request).unwrap();
        assert_eq!((seen.p_block.estimate, seen.mean_jobs.estimate), (0.5, 0.75));
        assert_eq!((seen.p0.estimate, seen.mean_queue.estimate), (0.25, 0.0));
    }

    #[test]
    fn a_batch_that_accepts_no_job_is_refused_by_name() {
        // A service lasts longer than many batches, and there is one place.
        let service = Times::fixed(1e6).unwrap();
        let request = SimulationRequest { service, servers: 1, capacity: Some(1), ..request() };
        let error = simulate(&request).unwrap_err();
        assert_eq!(error, QueueingError::NothingAccepted { arrivals: 100 });
        assert!(error.to_string().contains("simulate more jobs"), "{error}");
    }

    #[test]
    fn the_seed_decides_everything() {
        let random = SimulationRequest { arrivals: Times::exponential(1.0).unwrap(), ..request() };
        let other = SimulationRequest { seed: 2, ..random.clone() };
        assert_eq!(simulate(&random).unwrap(), simulate(&random).unwrap());
        assert_ne!(simulate(&random).unwrap(), simulate(&other).unwrap());
    }

    #[test]
    fn faulty_requests_are_refused() {
        for faulty in [
            SimulationRequest { servers: 1, ..request() },
            SimulationRequest { servers: 0, ..request() },
            SimulationRequest { capacity: Some(1), ..request() },
            SimulationRequest { batches: 1, ..request() },
            SimulationRequest { batch: 5, ..request() },
            SimulationRequest { confidence: 1.0, ..request() },
        ] {
            assert!(simulate(&faulty).is_err(), "{faulty:?}");
        }
    }
}
