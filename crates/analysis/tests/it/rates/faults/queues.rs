//! Faults of queues, of measured times and of load tests.

use trainwright_analysis::{
    CutShort, Finding, LoadMeasured, MeasuredTimes, findings_of_load, findings_of_queue, fit_times,
};
use trainwright_queueing::{ArrivalPlan, LoadModel, MeasuredJob, QueueDraft, QueueName, measure};

use super::{Fault, fault};
use crate::rates::kinds::questions::{jobs, measured_times};
use crate::rates::noise::Noise;

pub(super) const FAULTS: &[Fault] = &[
    fault("queue-unstable", |noise| {
        fitted(MeasuredTimes { arrival_rate: Some(2.0), ..measured_times(60, noise) })
    }),
    fault("queue-nearly-full", |_| queue(QueueName::Mm1, 0.95, None)),
    fault("queue-not-exponential", |noise| {
        // Sums of two exponential times: half the squared variation.
        let service = (0..60).map(|_| noise.exponential() + noise.exponential()).collect();
        fitted(MeasuredTimes { service, ..measured_times(60, noise) })
    }),
    fault("queue-approximation", |_| queue(QueueName::Ggc, 0.5, Some(2.0))),
    fault("queue-few-times", |noise| fitted(measured_times(10, noise))),
    fault("queue-mixed-configurations", |noise| {
        fitted(MeasuredTimes { configurations: 2, ..measured_times(60, noise) })
    }),
    fault("load-model-disagrees", |noise| load(slowed(noise), 0, None, noise)),
    fault("load-cut-short", |noise| {
        let cut = CutShort { why: "it was stopped", stopped: 1, waiting: 1, never_came: 1 };
        load(jobs(100, noise), 0, Some(cut), noise)
    }),
    fault("load-failed-jobs", |noise| load(jobs(100, noise), 1, None, noise)),
    fault("load-few-jobs", |noise| load(jobs(15, noise), 0, None, noise)),
];

fn fitted(times: MeasuredTimes) -> Vec<Finding> {
    fit_times(&times).unwrap().findings
}

fn queue(name: QueueName, arrival_rate: f64, scv: Option<f64>) -> Vec<Finding> {
    let draft = QueueDraft {
        name,
        arrival_rate: Some(arrival_rate),
        service_rate: Some(1.0),
        servers: scv.map(|_| 1),
        capacity: None,
        population: None,
        scv_arrival: scv,
        scv_service: scv,
        target: None,
    };
    findings_of_queue(&draft.answer().unwrap())
}

/// Jobs that take twice as long where they had to wait, as on a machine that is short of memory.
fn slowed(noise: &mut Noise) -> Vec<MeasuredJob> {
    let (mut now, mut free) = (0.0, 0.0_f64);
    let mut job = |_| {
        now += noise.exponential() / 0.3;
        let start = free.max(now);
        let slow = if start > now { 2.0 } else { 1.0 };
        free = start + slow * noise.exponential();
        MeasuredJob { arrival: now, start, end: free }
    };
    (0..200).map(&mut job).collect()
}

fn load(
    jobs: Vec<MeasuredJob>,
    failed: usize,
    cut_short: Option<CutShort>,
    noise: &mut Noise,
) -> Vec<Finding> {
    let plan = ArrivalPlan::Poisson { rate: 0.3 };
    let measured = measure(&jobs, 5, 1, noise.seed()).unwrap();
    let model = LoadModel::of(&plan, &jobs, &measured, 1, noise.seed()).unwrap();
    findings_of_load(&LoadMeasured {
        measured: Some(&measured),
        model: Some(&model),
        not_summed: None,
        slots: 1,
        jobs: jobs.len(),
        failed,
        cut_short,
    })
}
