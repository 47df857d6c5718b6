//! What a queue of real jobs did: waits, services and responses as they were measured.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::error::QueueingError;
use crate::interval::{mean_and_variance, sorted_quantile};
use crate::measurements::exponential_check::{ExponentialCheck, exponential_check};
use crate::measurements::service_fit::{ServiceFit, fit_service};
use crate::simulations::queue_simulation::Moment;
use crate::steady_state::TimeQuantiles;

/// When a job came, began and ended, since the beginning of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredJob {
    /// When it came.
    pub arrival: f64,
    /// When a server took it.
    pub start: f64,
    /// When it left.
    pub end: f64,
}

impl MeasuredJob {
    /// Time from arrival to start.
    pub fn wait(&self) -> f64 {
        self.start - self.arrival
    }

    /// Time from start to end.
    pub fn service(&self) -> f64 {
        self.end - self.start
    }

    /// Time from arrival to end.
    pub fn response(&self) -> f64 {
        self.end - self.arrival
    }

    /// How long of a window it spends between two moments.
    fn overlap(from: f64, to: f64, window: [f64; 2]) -> f64 {
        (to.min(window[1]) - from.max(window[0])).max(0.0)
    }
}

/// What a queue of real jobs did.
///
/// Means are over the jobs after the first `skipped`; the window runs from the first of them to
/// the last end, so that it holds the time in which the queue drains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredQueue {
    /// Jobs that count.
    pub jobs: usize,
    /// Jobs at the beginning that do not count.
    pub skipped: usize,
    /// Length of the window.
    pub window: f64,
    /// Jobs that arrive in a unit of time, from the first to the last arrival.
    pub arrival_rate: f64,
    /// Variance of the times between arrivals over their squared mean.
    pub scv_arrival: f64,
    /// Rate and variation of service.
    pub service: ServiceFit,
    /// Whether service could be exponential.
    pub exponential: ExponentialCheck,
    /// Work that arrives in a unit of time for each server.
    pub offered: f64,
    /// Fraction of the servers that is busy in the window.
    pub utilisation: f64,
    /// Fraction of the jobs that find all servers busy.
    pub p_wait: f64,
    /// Jobs waiting or in service, over the window.
    pub mean_jobs: f64,
    /// Jobs waiting, over the window.
    pub mean_queue: f64,
    /// Mean time waiting.
    pub mean_wait: f64,
    /// Mean time from arrival to end.
    pub mean_response: f64,
    /// Quantiles of the wait.
    pub wait_quantiles: TimeQuantiles,
    /// Quantiles of the response.
    pub response_quantiles: TimeQuantiles,
    /// Whether jobs began in the order in which they came.
    pub first_come_first_served: bool,
}

/// Sums up jobs that are listed in the order of their arrival.
///
/// # Errors
/// Fewer than three jobs that count, a job that ends before it begins or begins before it comes,
/// jobs out of order, or all at the same moment.
pub fn measure(
    jobs: &[MeasuredJob],
    skipped: usize,
    servers: u32,
    seed: u64,
) -> Result<MeasuredQueue, QueueingError> {
    check(jobs)?;
    let counted = jobs.get(skipped..).unwrap_or_default();
    if counted.len() < 3 {
        let what = "a summary of a queue";
        return Err(QueueingError::TooFew { what, needed: 3, found: counted.len() });
    }
    if counted[0].arrival == counted[counted.len() - 1].arrival {
        return Err(QueueingError::AllAtOnce { moment: counted[0].arrival });
    }
    let times = |value: fn(&MeasuredJob) -> f64| counted.iter().map(value).collect::<Vec<f64>>();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let services = times(MeasuredJob::service);
    let (waits, responses) = (times(MeasuredJob::wait), times(MeasuredJob::response));
    let first = counted[0].arrival;
    let last = jobs.iter().map(|job| job.end).fold(first, f64::max);
    let (window, ends) = (last - first, [first, last]);
    let area = |from: fn(&MeasuredJob) -> f64, to: fn(&MeasuredJob) -> f64| -> f64 {
        jobs.iter().map(|job| MeasuredJob::overlap(from(job), to(job), ends)).sum()
    };
    let gaps: Vec<f64> = counted.windows(2).map(|pair| pair[1].arrival - pair[0].arrival).collect();
    let (mean_gap, gap_variance) = mean_and_variance(&gaps);
    let service = fit_service(&services, seed)?;
    let arrival_rate = 1.0 / mean_gap;
    let busy = area(|job| job.start, |job| job.end);
    Ok(MeasuredQueue {
        jobs: counted.len(),
        skipped,
        window,
        arrival_rate,
        scv_arrival: gap_variance / (mean_gap * mean_gap),
        offered: arrival_rate * service.mean.estimate / f64::from(servers),
        service,
        exponential: exponential_check(&services, seed)?,
        utilisation: busy / window / f64::from(servers),
        p_wait: delayed(jobs, skipped, servers) as f64 / counted.len() as f64,
        mean_jobs: area(|job| job.arrival, |job| job.end) / window,
        mean_queue: area(|job| job.arrival, |job| job.start) / window,
        mean_wait: mean(&waits),
        mean_response: mean(&responses),
        wait_quantiles: quantiles(waits),
        response_quantiles: quantiles(responses),
        first_come_first_served: jobs.is_sorted_by(|a, b| a.start <= b.start),
    })
}

/// How many jobs after the first `skipped` find all servers busy; starting a job takes a moment
/// too, so that a wait above zero does not tell.
fn delayed(jobs: &[MeasuredJob], skipped: usize, servers: u32) -> usize {
    let mut ends: BinaryHeap<Reverse<Moment>> = BinaryHeap::new();
    let mut delayed = 0;
    for (index, job) in jobs.iter().enumerate() {
        while ends.peek().is_some_and(|Reverse(end)| end.0 <= job.arrival) {
            ends.pop();
        }
        delayed += usize::from(index >= skipped && ends.len() >= servers as usize);
        ends.push(Reverse(Moment(job.end)));
    }
    delayed
}

/// Number of jobs in the system after each change: the moment, and how many from then on.
pub fn jobs_over_time(jobs: &[MeasuredJob]) -> Vec<(f64, u32)> {
    let comes = jobs.iter().map(|job| (job.arrival, 1i64));
    let goes = jobs.iter().map(|job| (job.end, -1i64));
    let mut changes: Vec<(f64, i64)> = comes.chain(goes).collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut present = 0i64;
    let mut path: Vec<(f64, u32)> = Vec::with_capacity(changes.len());
    for (moment, change) in changes {
        present += change;
        let now = u32::try_from(present).expect("a job comes before it goes");
        match path.last_mut() {
            Some(last) if last.0 == moment => last.1 = now,
            _ => path.push((moment, now)),
        }
    }
    path
}

fn quantiles(mut values: Vec<f64>) -> TimeQuantiles {
    values.sort_by(f64::total_cmp);
    TimeQuantiles::of(|beyond| sorted_quantile(&values, 1.0 - beyond))
}

fn check(jobs: &[MeasuredJob]) -> Result<(), QueueingError> {
    for (number, job) in (1..).zip(jobs) {
        let MeasuredJob { arrival, start, end } = *job;
        let finite = arrival.is_finite() && start.is_finite() && end.is_finite();
        if !(finite && arrival <= start && start < end) {
            return Err(QueueingError::BadJob { number, arrival, start, end });
        }
    }
    match jobs.windows(2).position(|pair| pair[1].arrival < pair[0].arrival) {
        Some(place) => Err(QueueingError::OutOfOrder { number: place + 2 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Jobs of these gaps and services at one server, first come first served.
    fn served(pairs: &[(f64, f64)]) -> Vec<MeasuredJob> {
        let (mut now, mut free) = (0.0, 0.0f64);
        let job = |&(gap, service): &(f64, f64)| {
            now += gap;
            let start = free.max(now);
            free = start + service;
            MeasuredJob { arrival: now, start, end: free }
        };
        pairs.iter().map(job).collect()
    }

    #[test]
    fn a_path_by_hand() {
        let jobs = served(&[(1.0, 2.0), (1.0, 2.0), (1.0, 1.0)]);
        let found = measure(&jobs, 0, 1, 1).unwrap();
        assert_eq!((found.mean_wait, found.mean_response), (1.0, 8.0 / 3.0));
        assert_eq!((found.window, found.utilisation, found.p_wait), (5.0, 1.0, 2.0 / 3.0));
        assert_eq!((found.mean_jobs, found.mean_queue), (8.0 / 5.0, 3.0 / 5.0));
        let path = jobs_over_time(&jobs);
        assert_eq!(path, [(1.0, 1), (2.0, 2), (3.0, 2), (5.0, 1), (6.0, 0)]);
    }

    #[test]
    fn impossible_jobs_are_named() {
        let good = served(&[(1.0, 2.0), (1.0, 2.0), (1.0, 1.0)]);
        let mut early = good.clone();
        early[1].start = 1.5;
        let error = measure(&early, 0, 1, 1).unwrap_err().to_string();
        assert!(error.starts_with("job 2 comes at 2, begins at 1.5"), "{error}");
        let mut swapped = good.clone();
        swapped.swap(0, 2);
        assert!(matches!(measure(&swapped, 0, 1, 1), Err(QueueingError::OutOfOrder { number: 2 })));
        let mut same = good.clone();
        same.iter_mut().for_each(|job| job.arrival = 1.0);
        assert!(matches!(measure(&same, 0, 1, 1), Err(QueueingError::AllAtOnce { .. })));
        assert!(matches!(measure(&good, 1, 1, 1), Err(QueueingError::TooFew { found: 2, .. })));
    }

    proptest! {
        #[test]
        fn little_holds_on_every_path(
            pairs in prop::collection::vec((0.01f64..3.0, 0.01f64..3.0), 3..60), skip in 0usize..5,
        ) {
            let jobs = served(&pairs);
            let found = measure(&jobs, 0, 1, 1).unwrap();
            let rate = found.jobs as f64 / found.window;
            prop_assert!((found.mean_jobs - rate * found.mean_response).abs() < 1e-9);
            prop_assert!((found.mean_queue - rate * found.mean_wait).abs() < 1e-9);
            let own = found.mean_response - found.mean_wait - found.service.mean.estimate;
            prop_assert!(own.abs() < 1e-9);
            prop_assert!(found.first_come_first_served && found.utilisation <= 1.0 + 1e-12);
            // The area under the path is the same as the sum of the stays.
            let path = jobs_over_time(&jobs);
            let area: f64 = path.windows(2).map(|w| (w[1].0 - w[0].0) * f64::from(w[0].1)).sum();
            prop_assert!((area - found.mean_jobs * found.window).abs() < 1e-8);
            prop_assert_eq!(path.last().unwrap().1, 0);
            if pairs.len() >= skip + 3 {
                let later = measure(&jobs, skip, 1, 1).unwrap();
                prop_assert_eq!(later.jobs + later.skipped, jobs.len());
                prop_assert!(later.window <= found.window);
            }
        }
    }
}
