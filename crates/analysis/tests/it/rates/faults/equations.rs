//! Faults of equations and of the assumptions behind them.

use std::fmt::Write;

use trainwright_analysis::{Finding, Formula, TableOptions, TermOrder, analyze_csv};

use super::{Fault, fault};
use crate::rates::kinds::Truth;
use crate::rates::kinds::designed::{MEAN, Planned, clean};
use crate::rates::kinds::tables::analysis;
use crate::rates::noise::Noise;

pub(super) const FAULTS: &[Fault] = &[
    fault("effect-ranking", |noise| factorial(noise, |at, _, e| 0.75 * at[0] + e)),
    fault("nothing-matters", |noise| factorial(noise, |_, _, e| e)),
    fault("curves-allowed", |noise| {
        let text = "[factors.a]\nlevels = [1, 2, 3]\n[design]\ntype = \"full\"\nreplications = 3";
        clean(text, Truth::NoEffect, noise).findings
    }),
    fault("small-effect", small_effect),
    fault("type-one-order", |noise| together(0.9, 40, noise)),
    fault("aliased-terms", aliased),
    fault("optimum-at-edge", |noise| factorial(noise, |at, _, e| 1.5 * at[0] + e)),
    fault("residuals-not-normal", |noise| {
        let skewed = |noise: &mut Noise| noise.exponential();
        factorial_of(noise, skewed, |at, _, e| at[0] + e)
    }),
    fault("unequal-variances", |noise| {
        factorial(noise, |at, _, e| if at[0] > 0.0 { 4.0 * e } else { e })
    }),
    fault("dependent-residuals", |noise| factorial(noise, |_, run, e| 4.0 * run + e)),
    fault("lack-of-fit", lack_of_fit),
    fault("log-scale", log_scale),
    fault("outlier", outlier),
    fault("collinearity", |noise| together(0.98, 40, noise)),
    fault("collinearity-is-coding", |noise| products(noise, 0.0)),
    fault("raw-coefficients", |noise| products(noise, 0.02)),
    fault("missing-response", missing_response),
    fault("missing-predictor", missing_predictor),
    fault("large-table", large_table),
    fault("unbalanced-strata", unbalanced_strata),
];

const FACTORIAL: &str = "[factors.a]\nlevels = [3, 5]\n[factors.b]\nlevels = [3, 5]\n\
    [factors.c]\nlevels = [3, 5]\n[design]\ntype = \"full\"\nreplications = 4";

/// A 2^3 design run four times; the response is made of the signs, of the place in the run order
/// from 0 to 1, and of noise.
fn factorial(noise: &mut Noise, response: impl Fn(&[f64], f64, f64) -> f64) -> Vec<Finding> {
    factorial_of(noise, Noise::normal, response)
}

fn factorial_of(
    noise: &mut Noise,
    mut draw: impl FnMut(&mut Noise) -> f64,
    response: impl Fn(&[f64], f64, f64) -> f64,
) -> Vec<Finding> {
    let planned = Planned::of(FACTORIAL, noise.seed());
    let last = (planned.trials.len() - 1) as f64;
    let seen = planned.run(|trial| {
        let at = planned.coded(&trial.configuration);
        MEAN + response(&at, f64::from(trial.number - 1) / last, draw(noise))
    });
    planned.analyze(&seen).findings
}

/// A line that explains 0.8 % of 2,000 rows.
fn small_effect(noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,x\n".to_owned();
    for _ in 0..2_000 {
        let x = noise.normal();
        writeln!(csv, "{},{x}", 0.0898 * x + noise.normal()).unwrap();
    }
    analysis(&csv, "y ~ x").findings
}

/// Two columns that move together, of which the second matters.
fn together(correlation: f64, rows: usize, noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,x1,x2\n".to_owned();
    for _ in 0..rows {
        let x2 = noise.normal();
        let x1 = correlation * x2 + (1.0 - correlation * correlation).sqrt() * noise.normal();
        writeln!(csv, "{},{x1},{x2}", x2 + noise.normal()).unwrap();
    }
    analysis(&csv, "y ~ x1 + x2").findings
}

fn aliased(noise: &mut Noise) -> Vec<Finding> {
    let text = "[factors.a]\nlevels = [0, 1]\n[factors.b]\nlevels = [0, 1]\n[factors.c]\n\
        levels = [0, 1]\n[design]\ntype = \"fractional\"\nruns = 4\nreplications = 2";
    let planned = Planned::of(text, noise.seed());
    planned.analyze(&planned.run(|_| MEAN + noise.normal())).findings
}

/// An interaction that an equation of main effects lacks.
fn lack_of_fit(noise: &mut Noise) -> Vec<Finding> {
    let text = format!("{FACTORIAL}\n[analysis]\nresponse = \"y\"\nterms = \"main\"");
    let planned = Planned::of(&text, noise.seed());
    let seen = planned.run(|trial| {
        let at = planned.coded(&trial.configuration);
        MEAN + at[0] * at[1] + noise.normal()
    });
    planned.analyze(&seen).findings
}

fn log_scale(noise: &mut Noise) -> Vec<Finding> {
    factorial(noise, |at, _, e| (2.0 + at[0] + 0.5 * e).exp() - MEAN)
}

fn outlier(noise: &mut Noise) -> Vec<Finding> {
    factorial(noise, |at, run, e| at[0] + e + if run == 0.0 { 6.0 } else { 0.0 })
}

/// Products of raw units far from zero, with a slope that the product turns over at zero.
fn products(noise: &mut Noise, slope: f64) -> Vec<Finding> {
    let mut csv = "y,a,b\n".to_owned();
    for row in 0..32 {
        let (a, b) = ([10.0, 20.0][row % 2], [100.0, 200.0][row / 2 % 2]);
        writeln!(csv, "{},{a},{b}", 50.0 - 2.0 * a + slope * a * b + noise.normal()).unwrap();
    }
    analysis(&csv, "y ~ a*b").findings
}

fn missing_response(noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,x\n,1\n".to_owned();
    for row in 0..12 {
        writeln!(csv, "{},{row}", noise.normal()).unwrap();
    }
    analysis(&csv, "y ~ x").findings
}

fn missing_predictor(noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,x\n1,\n".to_owned();
    for row in 0..12 {
        writeln!(csv, "{},{row}", noise.normal()).unwrap();
    }
    analysis(&csv, "y ~ x").findings
}

fn large_table(noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,x\n".to_owned();
    for _ in 0..20_001 {
        writeln!(csv, "{},{}", noise.normal(), noise.unit()).unwrap();
    }
    let formula = Formula::parse("y ~ x", TermOrder::Formula).unwrap();
    analyze_csv(csv.as_bytes(), &[], &formula, &TableOptions::default()).unwrap().findings
}

/// Groups of which one lacks a run.
fn unbalanced_strata(noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,a,b,plot\n".to_owned();
    for row in 0..23 {
        let (plot, b) = (row / 4, row % 2);
        writeln!(csv, "{},a{},b{b},p{plot}", noise.normal(), plot % 2).unwrap();
    }
    analysis(&csv, "y ~ a*b + Error(plot)").findings
}
