//! Faults of times over workers, of correlations, steps and surfaces.

use std::fmt::Write;

use trainwright_analysis::{
    Finding, ScalingOptions, SurfaceOptions, correlations_of_table, overhead_of_table,
    scaling_of_table, surface_of_table,
};
use trainwright_study::Direction;

use super::{Fault, fault};
use crate::rates::kinds::questions::{
    overhead_options, scaling_options, scaling_times, step_times,
};
use crate::rates::kinds::tables::table;
use crate::rates::noise::Noise;

pub(super) const FAULTS: &[Fault] = &[
    fault("no-speed-up", |noise| scaling(&scaling_times(1.0, 4, noise))),
    fault("slowdown", |noise| {
        scaling(&times(noise, &[1.0, 2.0, 4.0, 8.0, 16.0], |n| 100.0 / n + 4.0 * n))
    }),
    fault("law-does-not-fit", |noise| {
        scaling(&times(noise, &[1.0, 2.0, 4.0, 8.0, 16.0], |n| {
            100.0 / n + if n == 4.0 { 10.0 } else { 0.0 }
        }))
    }),
    fault("low-efficiency", |noise| scaling(&scaling_times(0.5, 4, noise))),
    fault("superlinear-speed-up", |noise| {
        scaling(&times(noise, &[1.0, 2.0, 4.0, 8.0, 16.0], |n| {
            if n == 1.0 { 200.0 } else { 100.0 / n }
        }))
    }),
    fault("fewer-points-than-terms", |noise| {
        scaling(&times(noise, &[1.0, 2.0, 4.0], |n| 100.0 / n))
    }),
    fault("terms-not-separable", |noise| scaling(&times(noise, &[1.0, 2.0, 4.0], |n| 100.0 / n))),
    fault("extrapolation", |noise| {
        let options = ScalingOptions { predict: vec![160.0], ..scaling_options() };
        scaling_of_table(&table(&scaling_times(0.1, 4, noise)), &options).unwrap().findings
    }),
    fault("step-overhead", |noise| overhead(&step_times(2.0, noise))),
    fault("per-sample-cost-dominates", |noise| overhead(&step_times(0.02, noise))),
    fault("linear-fit-inadequate", |noise| correlated(noise, |x, e| (4.0 * x * x + e, 0.0, 0.0))),
    fault("data-size-is-product", |noise| correlated(noise, |x, e| (e, x + 3.0, 2.0 * (x + 3.0)))),
    fault("flat-surface", |noise| surface(noise, |_, _| 0.0)),
    fault("stationary-point-outside", |noise| {
        surface(noise, |a, b| 4.0 * ((a - 3.0).powi(2) + b * b))
    }),
];

fn scaling(csv: &str) -> Vec<Finding> {
    scaling_of_table(&table(csv), &scaling_options()).unwrap().findings
}

/// Four times for each number of workers.
fn times(noise: &mut Noise, workers: &[f64], time: impl Fn(f64) -> f64) -> String {
    let mut csv = "time,nodes\n".to_owned();
    for nodes in workers.iter().flat_map(|n| [*n; 4]) {
        writeln!(csv, "{},{nodes}", time(nodes) + noise.normal()).unwrap();
    }
    csv
}

fn overhead(csv: &str) -> Vec<Finding> {
    overhead_of_table(&table(csv), &overhead_options()).unwrap().findings
}

/// Forty rows of a response, and of two further columns, over x from -1 to 1.
fn correlated(noise: &mut Noise, row: impl Fn(f64, f64) -> (f64, f64, f64)) -> Vec<Finding> {
    let mut csv = "y,x,part,whole,two\n".to_owned();
    for place in 0..40 {
        let x = f64::from(place) / 19.5 - 1.0;
        let (y, part, _) = row(x, noise.normal());
        let two = 2.0 + f64::from(place % 3);
        writeln!(csv, "{y},{x},{part},{},{two}", part * two).unwrap();
    }
    correlations_of_table(&table(&csv), "y", &[]).unwrap().findings
}

/// A grid of three levels of two factors, run three times.
fn surface(noise: &mut Noise, height: impl Fn(f64, f64) -> f64) -> Vec<Finding> {
    let mut csv = "y,a,b\n".to_owned();
    for run in 0..27 {
        let (a, b) = (f64::from(run % 3) - 1.0, f64::from(run / 3 % 3) - 1.0);
        writeln!(csv, "{},{a},{b}", 50.0 + height(a, b) + noise.normal()).unwrap();
    }
    let options = SurfaceOptions {
        column: "y".to_owned(),
        factors: vec!["a".to_owned(), "b".to_owned()],
        direction: Some(Direction::Minimize),
        alpha: 0.05,
    };
    surface_of_table(&table(&csv), &options).unwrap().findings
}
