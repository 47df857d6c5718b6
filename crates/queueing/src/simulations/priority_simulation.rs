//! An event simulation of a queue with classes, with intervals from batch means.
//!
//! It knows nothing of the closed forms, so that each can check the other.

use std::collections::VecDeque;

use serde::Serialize;
use trainwright_random::Random;

use crate::error::QueueingError;
use crate::interval::Interval;
use crate::limits::fraction;
use crate::models::priority::{Discipline, PriorityClass, check_classes};
use crate::simulations::times::Times;

/// A queue with classes to simulate, and how long.
#[derive(Debug, Clone, PartialEq)]
pub struct PrioritySimulation {
    /// The classes, the most urgent first.
    pub classes: Vec<PriorityClass>,
    /// Servers.
    pub servers: u32,
    /// Whether urgent jobs interrupt others.
    pub discipline: Discipline,
    /// Arrivals before anything is counted.
    pub warm_up: u32,
    /// Arrivals in a batch.
    pub batch: u32,
    /// Batches.
    pub batches: u32,
    /// Confidence of the intervals, such as 0.95.
    pub confidence: f64,
    /// Decides every random number.
    pub seed: u64,
}

/// What a simulation saw of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SimulatedClass {
    /// Jobs of the class that wait or are in service.
    pub mean_jobs: Interval,
    /// Jobs of the class that wait.
    pub mean_queue: Interval,
    /// Time that a job of the class spends in the system without being served.
    pub mean_wait: Interval,
    /// Time from a job's arrival to its end.
    pub mean_response: Interval,
}

/// Simulates a queue with classes; several servers may have classes of any service.
///
/// # Errors
/// A number out of range, arrivals that the servers cannot keep up with, or batches so short
/// that one lacks jobs of a class.
pub fn simulate_classes(
    request: &PrioritySimulation,
) -> Result<Vec<SimulatedClass>, QueueingError> {
    check_classes(&request.classes, request.servers)?;
    fraction("confidence", request.confidence)?;
    for (what, value, least) in
        [("batches", request.batches, 2), ("arrivals in a batch", request.batch, 100)]
    {
        if value < least {
            let (value, least) = (u64::from(value), u64::from(least));
            return Err(QueueingError::Count { what, value, least, most: u64::from(u32::MAX) });
        }
    }
    let mut run = Run::new(request)?;
    run.batch(request.warm_up);
    let seen: Vec<Vec<Seen>> = (0..request.batches).map(|_| run.batch(request.batch)).collect();
    (0..request.classes.len()).map(|class| summary(&seen, class, request.confidence)).collect()
}

fn summary(
    seen: &[Vec<Seen>],
    class: usize,
    confidence: f64,
) -> Result<SimulatedClass, QueueingError> {
    let fewest = seen.iter().map(|batch| batch[class].ended).fold(f64::INFINITY, f64::min);
    if fewest < 1.0 {
        let what = "every batch of the simulation, in jobs of every class,";
        return Err(QueueingError::TooFew { what, needed: 1, found: 0 });
    }
    let over = |value: fn(&Seen) -> f64| {
        let values: Vec<f64> = seen.iter().map(|batch| value(&batch[class])).collect();
        Interval::of_mean(&values, confidence)
    };
    Ok(SimulatedClass {
        mean_jobs: over(|own| own.jobs / own.time),
        mean_queue: over(|own| own.queue / own.time),
        mean_wait: over(|own| own.wait / own.ended),
        mean_response: over(|own| own.response / own.ended),
    })
}

/// Sums over a batch for one class.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    time: f64,
    jobs: f64,
    queue: f64,
    ended: f64,
    wait: f64,
    response: f64,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    class: usize,
    arrived: f64,
    service: f64,
    /// Service still to come.
    left: f64,
}

struct Run<'a> {
    request: &'a PrioritySimulation,
    times: Vec<(Times, Times)>,
    random: Random,
    now: f64,
    next_arrivals: Vec<f64>,
    /// Jobs in service and when they end.
    busy: Vec<(f64, Job)>,
    queues: Vec<VecDeque<Job>>,
}

impl<'a> Run<'a> {
    fn new(request: &'a PrioritySimulation) -> Result<Self, QueueingError> {
        let times = |class: &PriorityClass| {
            let arrivals = Times::exponential(1.0 / class.arrival_rate)?;
            Ok((arrivals, Times::with_scv(1.0 / class.service_rate, class.scv_service)?))
        };
        let times: Vec<(Times, Times)> =
            request.classes.iter().map(times).collect::<Result<_, QueueingError>>()?;
        let mut random = Random::new(request.seed);
        let next_arrivals = times.iter().map(|(arrivals, _)| arrivals.draw(&mut random)).collect();
        let queues = vec![VecDeque::new(); times.len()];
        Ok(Self { request, times, random, now: 0.0, next_arrivals, busy: Vec::new(), queues })
    }

    fn batch(&mut self, arrivals: u32) -> Vec<Seen> {
        let mut seen = vec![Seen::default(); self.times.len()];
        for _ in 0..arrivals {
            let (class, moment) = first(self.next_arrivals.iter().copied()).expect("a class");
            while let Some((server, end)) = first(self.busy.iter().map(|(end, _)| *end))
                && end <= moment
            {
                self.pass_until(end, &mut seen);
                self.end(server, &mut seen);
            }
            self.pass_until(moment, &mut seen);
            self.arrive(class);
        }
        seen
    }

    fn pass_until(&mut self, moment: f64, seen: &mut [Seen]) {
        let lasted = moment - self.now;
        self.now = moment;
        for (own, queue) in seen.iter_mut().zip(&self.queues) {
            own.time += lasted;
            own.queue += lasted * queue.len() as f64;
            own.jobs += lasted * queue.len() as f64;
        }
        for (_, job) in &self.busy {
            seen[job.class].jobs += lasted;
        }
    }

    fn arrive(&mut self, class: usize) {
        let (arrivals, service) = &self.times[class];
        self.next_arrivals[class] = self.now + arrivals.draw(&mut self.random);
        let service = service.draw(&mut self.random);
        let job = Job { class, arrived: self.now, service, left: service };
        if self.busy.len() < self.request.servers as usize {
            return self.serve(job);
        }
        if self.request.discipline == Discipline::PreemptiveResume {
            let least_urgent = (0..self.busy.len()).max_by_key(|&at| self.busy[at].1.class);
            if let Some(at) = least_urgent.filter(|&at| self.busy[at].1.class > class) {
                let (end, mut other) = self.busy.swap_remove(at);
                other.left = end - self.now;
                self.queues[other.class].push_front(other);
                return self.serve(job);
            }
        }
        self.queues[class].push_back(job);
    }

    fn serve(&mut self, job: Job) {
        self.busy.push((self.now + job.left, job));
    }

    fn end(&mut self, server: usize, seen: &mut [Seen]) {
        let (_, job) = self.busy.swap_remove(server);
        let own = &mut seen[job.class];
        let response = self.now - job.arrived;
        own.ended += 1.0;
        own.response += response;
        own.wait += response - job.service;
        if let Some(next) = self.queues.iter_mut().find_map(VecDeque::pop_front) {
            self.serve(next);
        }
    }
}

/// The earliest of some moments and its place.
fn first(moments: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    moments.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PriorityQueue;

    fn request(classes: &[[f64; 3]], servers: u32, discipline: Discipline) -> PrioritySimulation {
        let class = |&[arrival_rate, service_rate, scv_service]: &[f64; 3]| PriorityClass {
            arrival_rate,
            service_rate,
            scv_service,
        };
        PrioritySimulation {
            classes: classes.iter().map(class).collect(),
            servers,
            discipline,
            warm_up: 10_000,
            batch: 10_000,
            batches: 30,
            // Some fifty intervals are looked at, with one seed.
            confidence: 0.9999,
            seed: 4,
        }
    }

    #[track_caller]
    fn check(classes: &[[f64; 3]], servers: u32) {
        for discipline in [Discipline::NonPreemptive, Discipline::PreemptiveResume] {
            let request = request(classes, servers, discipline);
            let queue = PriorityQueue::new(request.classes.clone(), servers, discipline).unwrap();
            let seen = simulate_classes(&request).unwrap();
            for (found, expected) in seen.iter().zip(queue.classes()) {
                let pairs = [
                    (found.mean_jobs, expected.mean_jobs),
                    (found.mean_queue, expected.mean_queue),
                    (found.mean_wait, expected.mean_wait),
                    (found.mean_response, expected.mean_response),
                ];
                for (interval, expected) in pairs {
                    assert!(interval.contains(expected), "{discipline:?} {interval:?} {expected}");
                }
            }
        }
    }

    #[test]
    fn one_server_agrees_with_the_closed_forms() {
        check(&[[0.3, 1.0, 1.0], [0.4, 1.0, 1.0]], 1);
        check(&[[0.2, 2.0, 0.0], [0.1, 0.5, 3.0], [0.3, 1.5, 0.5]], 1);
    }

    #[test]
    fn several_servers_agree_with_the_closed_forms() {
        check(&[[0.8, 1.0, 1.0], [0.6, 1.0, 1.0], [0.9, 1.0, 1.0]], 3);
    }

    #[test]
    fn faulty_requests_are_refused() {
        let good = request(&[[0.5, 1.0, 1.0]], 1, Discipline::NonPreemptive);
        for faulty in [
            PrioritySimulation { servers: 0, ..good.clone() },
            PrioritySimulation { batch: 5, ..good.clone() },
            PrioritySimulation { confidence: 0.0, ..good.clone() },
            PrioritySimulation { classes: Vec::new(), ..good.clone() },
        ] {
            assert!(simulate_classes(&faulty).is_err(), "{faulty:?}");
        }
        let rare = request(&[[0.5, 1.0, 1.0], [1e-7, 1.0, 1.0]], 1, Discipline::NonPreemptive);
        assert!(matches!(simulate_classes(&rare), Err(QueueingError::TooFew { .. })));
    }
}
