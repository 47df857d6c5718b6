//! How often each finding is wrong, and how often it sees what it is for.
//!
//! The tests under `tests/it/rates` simulate both: no rate may be above what stands here, and no
//! power below.

use serde::Serialize;

/// How often a finding is made where nothing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FalseAlarms {
    /// Never: it states a fact of the rows, the plan or the settings, which is so or is not.
    Never,
    /// In at most this share of clean studies, since a test decides.
    AtMost(f64),
    /// It answers a question; where nothing has an effect, in at most this share of studies.
    WithoutEffect(f64),
    /// It says that evidence is missing, which is no alarm.
    NoEvidence,
}

/// How often a finding is wrong, and how often it sees its fault.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct FindingRate {
    /// Identifier of the finding.
    pub id: &'static str,
    /// How often it is made of clean data.
    pub false_alarms: FalseAlarms,
    /// What was planted in simulated studies, with its size.
    pub fault: &'static str,
    /// How many of these studies it is found in.
    pub power: Found,
}

/// How often a finding sees what was planted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// Always, as a fact is.
    Always,
    /// In this share of 2,000 simulated studies, rounded down to hundredths; below one, since no
    /// count of studies shows that a test never misses.
    AtLeast(f64),
}

impl FindingRate {
    /// Both in a sentence.
    pub(super) fn in_words(&self) -> String {
        let hundredths = |share: f64| format!("{:.0} of 100", 100.0 * share);
        let clean = match self.false_alarms {
            FalseAlarms::Never => "a fact, so never without cause".to_owned(),
            FalseAlarms::AtMost(share) => format!("at most {} clean studies", hundredths(share)),
            FalseAlarms::WithoutEffect(share) => {
                format!("at most {} studies in which nothing has an effect", hundredths(share))
            }
            FalseAlarms::NoEvidence => "wherever evidence is missing".to_owned(),
        };
        match self.power {
            Found::Always => format!("{clean}; {}: always found", self.fault),
            Found::AtLeast(share) => {
                format!("{clean}; {}: found in {} studies", self.fault, hundredths(share))
            }
        }
    }
}

/// What is known about the finding of an identifier.
pub fn finding_rate(id: &str) -> Option<&'static FindingRate> {
    RATES.iter().find(|own| own.id == id)
}

use FalseAlarms::{AtMost, Never, NoEvidence, WithoutEffect};

const fn rate(
    id: &'static str,
    false_alarms: FalseAlarms,
    fault: &'static str,
    power: Found,
) -> FindingRate {
    FindingRate { id, false_alarms, fault, power }
}

pub(super) const RATES: &[FindingRate] = &[
    rate(
        "effect-ranking",
        WithoutEffect(0.05),
        "one of three factors of a 2^3 design run four times moves the response by 1.5 deviations",
        Found::AtLeast(0.88),
    ),
    rate(
        "nothing-matters",
        NoEvidence,
        "nothing has an effect in a 2^3 design run four times",
        Found::AtLeast(0.94),
    ),
    rate("curves-allowed", Never, "a factor of three numeric levels", Found::Always),
    rate(
        "small-effect",
        WithoutEffect(0.01),
        "a line over 2,000 rows that explains 0.8 %",
        Found::AtLeast(0.65),
    ),
    rate(
        "type-one-order",
        Never,
        "two columns that move together with a correlation of 0.9, one of which matters",
        Found::AtLeast(0.94),
    ),
    rate("aliased-terms", Never, "interactions of a fraction of resolution III", Found::Always),
    rate(
        "optimum-at-edge",
        WithoutEffect(0.05),
        "a factor of a 2^3 design run four times moves the response by 3 deviations",
        Found::AtLeast(0.99),
    ),
    rate(
        "residuals-not-normal",
        AtMost(0.02),
        "noise that is exponential, 32 runs",
        Found::AtLeast(0.41),
    ),
    rate(
        "unequal-variances",
        AtMost(0.02),
        "four times the deviation at one level of a factor, 32 runs",
        Found::AtLeast(0.53),
    ),
    rate(
        "dependent-residuals",
        AtMost(0.02),
        "a drift of 4 deviations over 32 runs",
        Found::AtLeast(0.63),
    ),
    rate(
        "lack-of-fit",
        AtMost(0.02),
        "an interaction of 2 deviations that the equation lacks, 2^3 run four times",
        Found::AtLeast(0.94),
    ),
    rate(
        "log-scale",
        AtMost(0.02),
        "noise that multiplies, with a deviation of 0.5 of the logarithm, 32 runs",
        Found::AtLeast(0.99),
    ),
    rate("outlier", AtMost(0.02), "one of 32 runs off by 6 deviations", Found::AtLeast(0.84)),
    rate("collinearity", Never, "two columns with a correlation of 0.98", Found::Always),
    rate("collinearity-is-coding", Never, "products of raw units", Found::Always),
    rate(
        "raw-coefficients",
        AtMost(0.05),
        "an interaction that turns the raw sign over",
        Found::AtLeast(0.99),
    ),
    rate("missing-response", Never, "rows without a value", Found::Always),
    rate("missing-predictor", Never, "rows with an empty cell", Found::Always),
    rate("large-table", Never, "more than 20,000 rows", Found::Always),
    rate("error-strata", Never, "a hard-to-change factor", Found::Always),
    rate("unbalanced-strata", Never, "runs missing from groups of `Error(...)`", Found::Always),
    rate("missing-cells", Never, "a planned row without a trial", Found::Always),
    rate("unbalanced", Never, "rows run unequally often", Found::Always),
    rate("no-replication", Never, "no configuration run twice", Found::Always),
    rate("values-outside-range", Never, "a value outside the stated range", Found::Always),
    rate("command-changed", Never, "two commands in one study", Found::Always),
    rate("excluded-trials", Never, "a trial that somebody left out", Found::Always),
    rate(
        "curvature",
        AtMost(0.02),
        "centre points 3 deviations off, three of them, 2^3 run twice",
        Found::AtLeast(0.99),
    ),
    rate("blocks", Never, "runs in blocks", Found::Always),
    rate("not-in-design", Never, "a trial that is no row", Found::Always),
    rate("diverged-trials", Never, "a trial that diverged", Found::Always),
    rate("failed-trials", Never, "a trial that failed", Found::Always),
    rate("overlapping-timing", Never, "a time measured with two slots", Found::Always),
    rate("oversubscribed", Never, "more threads than cores", Found::Always),
    rate("sign-table-misprint", Never, "a wrong sign in a fraction", Found::Always),
    rate("no-speed-up", NoEvidence, "times that workers do not change", Found::AtLeast(0.93)),
    rate(
        "slowdown",
        AtMost(0.05),
        "times of 100 / n + 4 n on 1 to 16 workers",
        Found::AtLeast(0.99),
    ),
    rate(
        "law-does-not-fit",
        AtMost(0.05),
        "times on 4 of 1 to 16 workers 10 deviations above their law",
        Found::AtLeast(0.99),
    ),
    rate(
        "low-efficiency",
        AtMost(0.05),
        "half of the work serial, 16 workers",
        Found::AtLeast(0.99),
    ),
    rate(
        "superlinear-speed-up",
        AtMost(0.05),
        "the first setting takes twice as long as it should",
        Found::AtLeast(0.99),
    ),
    rate("fewer-points-than-terms", Never, "three numbers of workers", Found::Always),
    rate("terms-not-separable", Never, "three numbers of workers", Found::Always),
    rate("extrapolation", Never, "a prediction at ten times the workers", Found::Always),
    rate(
        "step-overhead",
        NoEvidence,
        "nearly all of the time spent on steps",
        Found::AtLeast(0.99),
    ),
    rate(
        "per-sample-cost-dominates",
        NoEvidence,
        "nearly none of the time spent on steps",
        Found::AtLeast(0.99),
    ),
    rate(
        "linear-fit-inadequate",
        AtMost(0.05),
        "a parabola over 40 rows that bends by 4 deviations",
        Found::AtLeast(0.99),
    ),
    rate("data-size-is-product", Never, "a column that is the product of two", Found::Always),
    rate("flat-surface", NoEvidence, "no curvature at all", Found::AtLeast(0.99)),
    rate(
        "stationary-point-outside",
        NoEvidence,
        "a bowl whose bottom lies beyond the region",
        Found::AtLeast(0.99),
    ),
    rate("epoch-is-not-a-pass", Never, "steps not divided by the batch", Found::Always),
    rate("no-validation-split", Never, "figures of training and test alone", Found::Always),
    rate(
        "batch-at-unscaled-rate",
        AtMost(0.05),
        "accuracy lower by 0.2 at a larger batch",
        Found::AtLeast(0.99),
    ),
    rate(
        "evaluation-inside-the-time",
        Never,
        "a third of the time outside the steps",
        Found::Always,
    ),
    rate("network-not-the-limit", Never, "a hundredth of the link used", Found::Always),
    rate("bottleneck", Never, "exchange that takes half of each step", Found::Always),
    rate("shared-cores", Never, "half of the computing time spent without a core", Found::Always),
    rate("bytes-per-step-alike", Never, "bytes that follow the steps", Found::Always),
    rate("queue-unstable", Never, "more work than the servers can do", Found::Always),
    rate("queue-nearly-full", Never, "servers busy 95 % of the time", Found::Always),
    rate(
        "queue-not-exponential",
        AtMost(0.05),
        "60 times with half the variation of exponential ones",
        Found::AtLeast(0.97),
    ),
    rate("queue-approximation", Never, "a G/G/c queue", Found::Always),
    rate("queue-few-times", Never, "ten times", Found::Always),
    rate("queue-mixed-configurations", Never, "times of two configurations", Found::Always),
    rate(
        "load-model-disagrees",
        AtMost(0.07),
        "200 jobs, service twice as slow for those that waited",
        Found::AtLeast(0.93),
    ),
    rate("load-cut-short", Never, "a test that ended early", Found::Always),
    rate("load-failed-jobs", Never, "a job that failed", Found::Always),
    rate("load-few-jobs", Never, "ten jobs", Found::Always),
];
