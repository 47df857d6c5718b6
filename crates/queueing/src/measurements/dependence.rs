//! Whether service goes with how busy the servers are, which no queue of independent times shows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::measurements::measured::MeasuredJob;
use crate::simulations::queue_simulation::Moment;

/// How service times go with the servers that a job finds busy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dependence {
    /// Correlation of the rank of the service time with the number of busy servers that the job
    /// finds: above zero where jobs take longer when servers are busy.
    pub correlation: f64,
    /// Two-sided p-value: how often independent times would give as much, by simulation.
    pub p: f64,
}

/// Ranks of service times among those measured, by which paths are compared.
pub(super) struct ServiceRanks {
    sorted: Vec<f64>,
}

impl ServiceRanks {
    pub(super) fn new(jobs: &[MeasuredJob]) -> Self {
        let mut sorted: Vec<f64> = jobs.iter().map(MeasuredJob::service).collect();
        sorted.sort_by(f64::total_cmp);
        Self { sorted }
    }

    /// The middle of the places that a time has among those measured.
    fn rank(&self, time: f64) -> f64 {
        let below = self.sorted.partition_point(|own| *own < time);
        let up_to = self.sorted.partition_point(|own| *own <= time);
        0.5 * (below + up_to) as f64
    }

    /// Correlation of a path after its first jobs; nothing where one side never varies.
    pub(super) fn correlation(
        &self,
        path: &[MeasuredJob],
        skipped: usize,
        servers: u32,
    ) -> Option<f64> {
        let busy = busy_on_arrival(path, servers);
        let pairs =
            || path.iter().zip(&busy).skip(skipped).map(|(job, &b)| (self.rank(job.service()), b));
        let n = pairs().count() as f64;
        let (sum_x, sum_y) = pairs().fold((0.0, 0.0), |(u, v), (x, y)| (u + x, v + y));
        let (mean_x, mean_y) = (sum_x / n, sum_y / n);
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for (x, y) in pairs() {
            let (x, y) = (x - mean_x, y - mean_y);
            (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
        }
        (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
    }
}

impl Dependence {
    /// A measured correlation among those that independent times give.
    pub(super) fn among(correlation: f64, simulated: &[f64]) -> Self {
        let beyond = |keep: fn(&f64, &f64) -> bool| {
            let count = simulated.iter().filter(|own| keep(own, &correlation)).count();
            (count + 1) as f64 / (simulated.len() + 1) as f64
        };
        let p = 2.0 * beyond(f64::ge).min(beyond(f64::le));
        Self { correlation, p: p.min(1.0) }
    }
}

/// Busy servers that each job finds, of jobs in the order of their arrival.
fn busy_on_arrival(path: &[MeasuredJob], servers: u32) -> Vec<f64> {
    let mut ends: BinaryHeap<Reverse<Moment>> = BinaryHeap::new();
    let found = |job: &MeasuredJob| {
        while ends.peek().is_some_and(|Reverse(Moment(end))| *end <= job.arrival) {
            ends.pop();
        }
        let present = ends.len();
        ends.push(Reverse(Moment(job.end)));
        f64::from(servers).min(present as f64)
    };
    path.iter().map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(arrival: f64, start: f64, end: f64) -> MeasuredJob {
        MeasuredJob { arrival, start, end }
    }

    #[test]
    fn jobs_find_those_that_have_not_left() {
        let path = [job(0.0, 0.0, 5.0), job(1.0, 1.0, 2.0), job(1.5, 2.0, 9.0), job(6.0, 6.0, 7.0)];
        assert_eq!(busy_on_arrival(&path, 2), [0.0, 1.0, 2.0, 1.0]);
        assert_eq!(busy_on_arrival(&path, 1), [0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_correlation_is_that_of_ranks_with_busy_servers() {
        // Services 5, 1, 7, 1 have ranks 2.5, 1, 3.5, 1; busy 0, 1, 2, 1.
        let path = [job(0.0, 0.0, 5.0), job(1.0, 1.0, 2.0), job(1.5, 2.0, 9.0), job(6.0, 6.0, 7.0)];
        let ranks = ServiceRanks::new(&path);
        // Products about the means 2 and 1: 1 over the root of 4.5 times 2.
        let found = ranks.correlation(&path, 0, 2).unwrap();
        assert!((found - 1.0 / 3.0).abs() < 1e-12, "{found}");
        let alike = [job(0.0, 0.0, 1.0), job(2.0, 2.0, 3.0), job(4.0, 4.0, 5.0)];
        assert_eq!(ServiceRanks::new(&alike).correlation(&alike, 0, 1), None);
    }

    #[test]
    fn p_counts_both_sides() {
        let simulated: Vec<f64> = (1..=99).map(|k| f64::from(k) / 100.0).collect();
        assert_eq!(Dependence::among(2.0, &simulated).p, 0.02);
        assert_eq!(Dependence::among(-2.0, &simulated).p, 0.02);
        assert_eq!(Dependence::among(0.5, &simulated).p, 1.0);
    }
}
