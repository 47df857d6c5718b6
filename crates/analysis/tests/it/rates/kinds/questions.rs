//! Data of other questions: comparisons, correlations, scaling, overhead, queues.

use std::fmt::Write;

use trainwright_analysis::{
    CompareOptions, Finding, LoadMeasured, MeasuredTimes, OverheadOptions, ScalingOptions,
    compare_table, correlations_of_table, findings_of_load, fit_times, overhead_of_table,
    scaling_of_table,
};
use trainwright_queueing::{ArrivalPlan, LoadModel, MeasuredJob, measure};

use super::tables::{readings, table};
use super::{Kind, Truth};
use crate::rates::noise::Noise;

const fn kind(
    name: &'static str,
    findings: fn(&Kind, Truth, &mut Noise) -> Vec<Finding>,
    at_times: &'static [&'static str],
) -> Kind {
    Kind { name, findings, text: "", facts: &[], at_times }
}

pub(crate) const KINDS: &[Kind] = &[
    kind("comparison with a baseline", compared, &[]),
    kind("correlations", correlated, &[]),
    kind("strong scaling", scaled, &[]),
    kind("cost a step", overhead, &[]),
    kind("service times", times, &[]),
    kind("load test", load, &[]),
];

fn compared(_: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    let options = CompareOptions {
        column: "y".to_owned(),
        by: "g".to_owned(),
        baseline: None,
        paired: None,
        objective: None,
        alpha: 0.05,
    };
    compare_table(&table(&readings(truth, 18, noise)), &options).unwrap().findings
}

fn correlated(_: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    let with = ["x1", "x2", "x3"].map(str::to_owned);
    correlations_of_table(&table(&readings(truth, 40, noise)), "y", &with).unwrap().findings
}

/// Times that follow Amdahl's law, or that nothing shortens.
pub(crate) fn scaling_times(serial: f64, repeats: usize, noise: &mut Noise) -> String {
    let mut csv = "time,nodes\n".to_owned();
    for nodes in [1.0, 2.0, 4.0, 8.0, 16.0] {
        for _ in 0..repeats {
            let time = 100.0 * (serial + (1.0 - serial) / nodes) + noise.normal();
            writeln!(csv, "{time},{nodes}").unwrap();
        }
    }
    csv
}

/// What is asked of times of several numbers of nodes.
pub(crate) fn scaling_options() -> ScalingOptions {
    ScalingOptions {
        column: "time".to_owned(),
        workers: "nodes".to_owned(),
        size: None,
        predict: vec![12.0],
        predict_size: None,
        alpha: 0.05,
    }
}

fn scaled(_: &Kind, _: Truth, noise: &mut Noise) -> Vec<Finding> {
    scaling_of_table(&table(&scaling_times(0.02, 4, noise)), &scaling_options()).unwrap().findings
}

/// Times of runs that cost something a step beside the samples.
pub(crate) fn step_times(per_step: f64, noise: &mut Noise) -> String {
    let mut csv = "time,steps\n".to_owned();
    for steps in [100.0, 200.0, 400.0, 800.0] {
        for _ in 0..3 {
            writeln!(csv, "{},{steps}", 50.0 + per_step * steps + noise.normal()).unwrap();
        }
    }
    csv
}

/// What is asked of them.
pub(crate) fn overhead_options() -> OverheadOptions {
    OverheadOptions {
        column: "time".to_owned(),
        steps: "steps".to_owned(),
        by: None,
        samples: None,
        unit: None,
        alpha: 0.05,
    }
}

fn overhead(_: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    let times = step_times(0.02 * truth.slope(), noise);
    overhead_of_table(&table(&times), &overhead_options()).unwrap().findings
}

/// Measured exponential times of mean 2.
pub(crate) fn measured_times(count: usize, noise: &mut Noise) -> MeasuredTimes {
    MeasuredTimes {
        service: (0..count).map(|_| 2.0 * noise.exponential()).collect(),
        interarrival: None,
        left_out: 0,
        configurations: 1,
        arrival_rate: Some(0.3),
        servers: 1,
        seed: noise.seed(),
    }
}

fn times(_: &Kind, _: Truth, noise: &mut Noise) -> Vec<Finding> {
    fit_times(&measured_times(60, noise)).unwrap().findings
}

/// Jobs that come at random and are served one after the other.
pub(crate) fn jobs(count: usize, noise: &mut Noise) -> Vec<MeasuredJob> {
    let (mut now, mut free) = (0.0, 0.0_f64);
    let job = |_| {
        now += noise.exponential() / 0.3;
        let start = free.max(now);
        free = start + 2.0 * noise.exponential();
        MeasuredJob { arrival: now, start, end: free }
    };
    (0..count).map(job).collect()
}

fn load(_: &Kind, _: Truth, noise: &mut Noise) -> Vec<Finding> {
    let jobs = jobs(100, noise);
    let plan = ArrivalPlan::Poisson { rate: 0.3 };
    let measured = measure(&jobs, 5, 1, noise.seed()).unwrap();
    let model = LoadModel::of(&plan, &jobs, &measured, 1, noise.seed()).unwrap();
    findings_of_load(&LoadMeasured {
        measured: Some(&measured),
        model: Some(&model),
        not_summed: None,
        slots: 1,
        jobs: jobs.len(),
        failed: 0,
        cut_short: None,
    })
}
