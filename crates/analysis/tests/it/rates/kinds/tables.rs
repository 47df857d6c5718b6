//! Tables that somebody brings, with a formula.

use std::fmt::Write;

use trainwright_analysis::{
    Analysis, Finding, Formula, Table, TableOptions, TermOrder, analyze_table,
};

use super::{Kind, Truth};
use crate::rates::noise::Noise;

const fn kind(name: &'static str, text: &'static str) -> Kind {
    Kind { name, findings, text, facts: &[], at_times: &[] }
}

pub(crate) const KINDS: &[Kind] = &[
    kind("regression on three columns", "y ~ x1 + x2 + x3"),
    kind("a straight line", "y ~ x1"),
    // The inflation depends on the values drawn: those of one study in 2,000 stay under the limit.
    Kind {
        at_times: &["collinearity-is-coding"],
        ..kind("a parabola asked for", "y ~ x1 + I(x1^2)")
    },
    kind("groups of a table", "y ~ g"),
    kind("crossed groups of a table", "y ~ g*h"),
    Kind {
        // Rows as even as a plan's come by chance too, and columns that the order of terms matters to.
        at_times: &["missing-cells", "type-one-order", "unbalanced"],
        findings: drawn,
        ..kind("settings drawn at random", "y ~ batch + epochs + lr")
    },
    Kind {
        name: "training runs",
        findings: training,
        text: "accuracy ~ batch + epochs + lr",
        facts: &["bytes-per-step-alike"],
        at_times: &[],
    },
];

/// A table from text.
pub(crate) fn table(csv: &str) -> Table {
    Table::from_csv(csv.as_bytes(), &[]).unwrap()
}

/// The analysis of a table.
pub(crate) fn analysis(csv: &str, formula: &str) -> Analysis {
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    analyze_table(&table(csv), &formula, &TableOptions::default()).unwrap()
}

/// Readings of three columns and two groups, with a response along straight lines.
pub(crate) fn readings(truth: Truth, rows: usize, noise: &mut Noise) -> String {
    let mut csv = "y,x1,x2,x3,g,h\n".to_owned();
    for row in 0..rows {
        let x = [0; 3].map(|_| 10.0 + 3.0 * noise.normal());
        let (g, h) = (row % 3, row / 3 % 2);
        let sum = x[0] - 0.5 * x[1] + 0.3 * x[2] + 2.0 * g as f64 - h as f64;
        let y = 50.0 + truth.slope() / 3.0 * sum + noise.normal();
        let names = (["p", "q", "r"][g], ["u", "v"][h]);
        writeln!(csv, "{y},{},{},{},{},{}", x[0], x[1], x[2], names.0, names.1).unwrap();
    }
    csv
}

/// Only the columns of a formula move the response, or the rest would be no clean noise.
fn findings(kind: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,x1,x2,x3,g,h\n".to_owned();
    let uses = |name: &str| if kind.text.contains(name) { truth.slope() } else { 0.0 };
    for row in 0..36 {
        let x = [0; 3].map(|_| 10.0 + 3.0 * noise.normal());
        let (g, h) = (row % 3, row / 3 % 2);
        let slopes = [uses("x1") / 3.0, uses("x2") / -6.0, uses("x3") / 9.0];
        let of_x: f64 = x.iter().zip(slopes).map(|(x, s)| s * x).sum();
        let of_groups = uses("g") * g as f64 - uses("h") * h as f64;
        let y = 50.0 + of_x + of_groups + noise.normal();
        let names = (["p", "q", "r"][g], ["u", "v"][h]);
        writeln!(csv, "{y},{},{},{},{},{}", x[0], x[1], x[2], names.0, names.1).unwrap();
    }
    analysis(&csv, kind.text).findings
}

/// Training runs whose settings somebody drew: 48 rows over 18 combinations.
fn drawn(kind: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    let mut csv = "y,batch,epochs,lr\n".to_owned();
    for _ in 0..48 {
        let mut of = |levels: usize| (noise.unit() * levels as f64) as usize;
        let (batch, epochs, lr) = (of(3), of(3), of(2));
        let sum = batch as f64 - epochs as f64 + lr as f64;
        let y = 50.0 + truth.slope() * sum + noise.normal();
        // In even steps, or the truth would not be a line of these columns.
        let settings = ([32, 64, 96][batch], [5, 10, 15][epochs], [0.001, 0.01][lr]);
        writeln!(csv, "{y},{},{},{}", settings.0, settings.1, settings.2).unwrap();
    }
    analysis(&csv, kind.text).findings
}

/// Settings and figures of training runs whose columns agree with each other.
pub(crate) fn runs(truth: Truth, noise: &mut Noise) -> String {
    let mut csv = "batch,epochs,lr,examples,steps,step_time_ms,time_s,network_mb,train_accuracy,\
                   validation_accuracy,test_accuracy,accuracy\n"
        .to_owned();
    for row in 0..36 {
        let (batch, epochs) = ([32.0, 64.0, 128.0][row % 3], [2.0, 4.0][row / 3 % 2]);
        let lr = [0.1, 0.2][row / 6 % 2];
        let examples = 60_000.0;
        let steps = f64::round(epochs * examples / batch);
        let step_ms = 4.0 + 0.05 * truth.slope() * batch + 0.01 * noise.normal();
        let time = 1.02 * steps * step_ms / 1e3 + 0.02 * noise.normal();
        let accuracy = 0.85 + 0.002 * truth.slope() * (epochs + 10.0 * lr) + 0.004 * noise.normal();
        let near = [0; 3].map(|_| accuracy + 0.004 * noise.normal());
        writeln!(
            csv,
            "{batch},{epochs},{lr},{examples},{steps},{step_ms},{time},{},{},{},{},{accuracy}",
            5.0 * steps,
            near[0],
            near[1],
            near[2]
        )
        .unwrap();
    }
    csv
}

fn training(kind: &Kind, truth: Truth, noise: &mut Noise) -> Vec<Finding> {
    analysis(&runs(truth, noise), kind.text).findings
}
