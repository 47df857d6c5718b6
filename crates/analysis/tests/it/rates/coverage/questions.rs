//! Intervals of comparisons, correlations, scaling and the cost a step.

use trainwright_analysis::{
    CompareOptions, Comparison, CorrelationRow, Law, Scaling, ScalingOptions, compare_table,
    correlations_of_table, overhead_of_table, scaling_of_table,
};

use super::{Printed, between, conservative, printed};
use crate::rates::kinds::questions::{
    overhead_options, scaling_options, scaling_times, step_times,
};
use crate::rates::kinds::tables::table;
use crate::rates::noise::Noise;

pub(crate) const INTERVALS: &[Printed] = &[
    printed("ratio to the baseline", 2_000, ratio),
    printed("ratio to the baseline, pairs", 2_000, paired_ratio),
    printed("ratio of geometric means", 2_000, geometric),
    printed("correlation of Pearson", 2_000, pearson),
    printed("correlation of Spearman, n = 20", 2_000, spearman),
    printed("correlation of Spearman, n = 7", 2_000, spearman_of_few),
    printed("speed-up", 2_000, speed_up),
    printed("efficiency", 2_000, efficiency),
    printed("serial share of Amdahl", 2_000, serial_share),
    printed("time of one worker of Amdahl", 2_000, time_of_one),
    printed("prediction of Amdahl", 2_000, amdahl_predicts),
    printed("serial share of Gustafson", 2_000, gustafson_share),
    // A share cannot be below 0: where the truth lies there, only the upper end can miss.
    conservative("serial share of Amdahl, none is", 2_000, no_serial_share),
    printed("shared work of Ernest", 2_000, shared_work),
    printed("prediction of Ernest", 2_000, ernest_predicts),
    printed("cost of a step", 2_000, per_step),
    printed("time beside the steps", 2_000, constant),
];

fn compare(csv: &str, paired: Option<&str>) -> Comparison {
    let options = CompareOptions {
        column: "y".to_owned(),
        by: "g".to_owned(),
        baseline: None,
        paired: paired.map(str::to_owned),
        objective: None,
        alpha: 0.05,
    };
    compare_table(&table(csv), &options).unwrap()
}

/// Two groups of means 10 and 12, the second twice as wide.
fn two_groups(noise: &mut Noise) -> String {
    let mut csv = "y,g,pair\n".to_owned();
    for pair in 0..6 {
        csv += &format!("{},p,{pair}\n", 10.0 + noise.normal());
        csv += &format!("{},q,{pair}\n", 12.0 + 2.0 * noise.normal());
    }
    csv
}

fn ratio(noise: &mut Noise) -> Option<bool> {
    let own = &compare(&two_groups(noise), None).levels[0];
    between(own.ci_low, 1.2, own.ci_high)
}

fn paired_ratio(noise: &mut Noise) -> Option<bool> {
    let mut csv = "y,g,pair\n".to_owned();
    for pair in 0..6 {
        let shared = 3.0 * noise.normal();
        csv += &format!("{},p,{pair}\n", 10.0 + shared + 0.5 * noise.normal());
        csv += &format!("{},q,{pair}\n", 12.0 + shared + 0.5 * noise.normal());
    }
    let own = &compare(&csv, Some("pair")).levels[0];
    between(own.ci_low, 1.2, own.ci_high)
}

fn geometric(noise: &mut Noise) -> Option<bool> {
    let mut csv = "y,g\n".to_owned();
    for _ in 0..6 {
        csv += &format!(
            "{},p\n{},q\n",
            (0.3 * noise.normal()).exp(),
            2.0 * (0.3 * noise.normal()).exp()
        );
    }
    let own = compare(&csv, None).levels[0].geometric?;
    Some(own.low <= 2.0 && 2.0 <= own.high)
}

/// The correlation of columns that are normal with 0.6.
fn correlation(count: usize, noise: &mut Noise) -> CorrelationRow {
    let mut csv = "y,x\n".to_owned();
    for _ in 0..count {
        let x = noise.normal();
        csv += &format!("{},{x}\n", 0.6 * x + 0.8 * noise.normal());
    }
    correlations_of_table(&table(&csv), "y", &[]).unwrap().rows.remove(0)
}

fn pearson(noise: &mut Noise) -> Option<bool> {
    let own = correlation(20, noise);
    between(own.ci_low, 0.6, own.ci_high)
}

/// Spearman's correlation of normal columns is (6 / pi) asin(r / 2) in the long run, and of `count`
/// rows the mean of ((count - 2) that + 3 tau) / (count + 1), with tau = (2 / pi) asin(r): the
/// interval is about the long run.
fn rank_truth() -> f64 {
    6.0 / std::f64::consts::PI * (0.3_f64).asin()
}

fn spearman(noise: &mut Noise) -> Option<bool> {
    let own = correlation(20, noise);
    between(own.rho_low, rank_truth(), own.rho_high)
}

fn spearman_of_few(noise: &mut Noise) -> Option<bool> {
    let own = correlation(7, noise);
    between(own.rho_low, rank_truth(), own.rho_high)
}

fn scaling(serial: f64, noise: &mut Noise) -> Scaling {
    scaling_of_table(&table(&scaling_times(serial, 4, noise)), &scaling_options()).unwrap()
}

fn speed_up(noise: &mut Noise) -> Option<bool> {
    let found = scaling(0.2, noise);
    let own = &found.rows[3];
    between(own.speed_up_low, 1.0 / (0.2 + 0.8 / 8.0), own.speed_up_high)
}

fn efficiency(noise: &mut Noise) -> Option<bool> {
    let found = scaling(0.2, noise);
    let own = &found.rows[1];
    between(own.efficiency_low, 0.5 / (0.2 + 0.8 / 2.0), own.efficiency_high)
}

/// Whether a parameter's interval holds a value.
fn parameter(found: &Scaling, law: Law, name: &str, truth: f64) -> Option<bool> {
    let own = found.fits.iter().find(|own| own.law == law)?;
    let own = own.parameters.iter().find(|own| own.name == name)?;
    between(own.ci_low, truth, own.ci_high)
}

/// Whether the interval of a new time holds one.
fn predicts(found: &Scaling, law: Law, new: f64) -> Option<bool> {
    let own = &found.fits.iter().find(|own| own.law == law)?.predictions[0];
    between(own.low, new, own.high)
}

fn serial_share(noise: &mut Noise) -> Option<bool> {
    parameter(&scaling(0.2, noise), Law::Amdahl, "f", 0.2)
}

fn no_serial_share(noise: &mut Noise) -> Option<bool> {
    parameter(&scaling(0.0, noise), Law::Amdahl, "f", 0.0)
}

fn time_of_one(noise: &mut Noise) -> Option<bool> {
    parameter(&scaling(0.2, noise), Law::Amdahl, "T", 100.0)
}

fn amdahl_predicts(noise: &mut Noise) -> Option<bool> {
    let found = scaling(0.2, noise);
    predicts(&found, Law::Amdahl, 100.0 * (0.2 + 0.8 / 12.0) + noise.normal())
}

/// Work that grows with the workers: its rate is 5 (0.3 + 0.7 n), with noise of one size.
fn gustafson_share(noise: &mut Noise) -> Option<bool> {
    let mut csv = "time,nodes,size\n".to_owned();
    for nodes in [1.0, 2.0, 4.0, 8.0, 16.0] {
        for _ in 0..4 {
            let rate = 5.0 * (0.3 + 0.7 * nodes) + 0.3 * noise.normal();
            csv += &format!("{},{nodes},{}\n", 10.0 * nodes / rate, 10.0 * nodes);
        }
    }
    let options = ScalingOptions { size: Some("size".to_owned()), ..scaling_options() };
    parameter(&scaling_of_table(&table(&csv), &options).unwrap(), Law::Gustafson, "a", 0.3)
}

/// Times with all four parts of Ernest's law, each far from zero.
fn ernest(noise: &mut Noise) -> Scaling {
    let mut csv = "time,nodes\n".to_owned();
    for nodes in [1.0_f64, 2.0, 4.0, 8.0, 16.0, 32.0] {
        for _ in 0..4 {
            let time = 50.0 + 200.0 / nodes + 20.0 * nodes.ln() + 3.0 * nodes;
            csv += &format!("{},{nodes}\n", time + noise.normal());
        }
    }
    scaling_of_table(&table(&csv), &scaling_options()).unwrap()
}

fn shared_work(noise: &mut Noise) -> Option<bool> {
    parameter(&ernest(noise), Law::Ernest, "t1", 200.0)
}

fn ernest_predicts(noise: &mut Noise) -> Option<bool> {
    let found = ernest(noise);
    let time = 50.0 + 200.0 / 12.0 + 20.0 * 12.0_f64.ln() + 3.0 * 12.0;
    predicts(&found, Law::Ernest, time + noise.normal())
}

fn per_step(noise: &mut Noise) -> Option<bool> {
    let found = overhead_of_table(&table(&step_times(0.03, noise)), &overhead_options()).unwrap();
    let own = &found.lines[0];
    between(own.per_step_low, 0.03, own.per_step_high)
}

fn constant(noise: &mut Noise) -> Option<bool> {
    let found = overhead_of_table(&table(&step_times(0.03, noise)), &overhead_options()).unwrap();
    let own = &found.lines[0];
    between(own.constant_low, 50.0, own.constant_high)
}
