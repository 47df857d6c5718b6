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
    /// Share of these studies in which it is found.
    pub power: f64,
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
        let found = if self.power == 1.0 {
            "always".to_owned()
        } else {
            format!("in at least {} studies", hundredths(self.power))
        };
        format!("{clean}; {}: {found}", self.fault)
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
    power: f64,
) -> FindingRate {
    FindingRate { id, false_alarms, fault, power }
}

pub(super) const RATES: &[FindingRate] = &[
    rate(
        "effect-ranking",
        WithoutEffect(0.05),
        "one of three factors of a 2^3 design run four times moves the response by 1.5 deviations",
        0.9,
    ),
    rate(
        "nothing-matters",
        NoEvidence,
        "nothing has an effect in a 2^3 design run four times",
        0.95,
    ),
    rate("small-effect", WithoutEffect(0.01), "a line over 2,000 rows that explains 0.8 %", 0.7),
    rate(
        "type-one-order",
        AtMost(0.05),
        "two columns that move together with a correlation of 0.9, one of which matters",
        0.6,
    ),
    rate("aliased-terms", Never, "interactions of a fraction of resolution III", 1.0),
    rate(
        "optimum-at-edge",
        WithoutEffect(0.05),
        "a factor of a 2^3 design run four times moves the response by 3 deviations",
        0.95,
    ),
    rate("residuals-not-normal", AtMost(0.02), "noise that is exponential, 32 runs", 0.7),
    rate(
        "unequal-variances",
        AtMost(0.02),
        "four times the deviation at one level of a factor, 32 runs",
        0.7,
    ),
    rate("dependent-residuals", AtMost(0.02), "a drift of 4 deviations over 32 runs", 0.7),
    rate(
        "lack-of-fit",
        AtMost(0.02),
        "an interaction of 2 deviations that the equation lacks, 2^3 run four times",
        0.9,
    ),
    rate(
        "log-scale",
        AtMost(0.02),
        "noise that multiplies, with a deviation of 0.5 of the logarithm, 32 runs",
        0.9,
    ),
    rate("outlier", AtMost(0.02), "one of 32 runs off by 6 deviations", 0.9),
    rate("collinearity", Never, "two columns with a correlation of 0.98", 1.0),
    rate("collinearity-is-coding", Never, "products of raw units", 1.0),
    rate("raw-coefficients", AtMost(0.05), "an interaction that turns the raw sign over", 0.9),
    rate("missing-response", Never, "rows without a value", 1.0),
    rate("missing-predictor", Never, "rows with an empty cell", 1.0),
    rate("large-table", Never, "more than 20,000 rows", 1.0),
    rate("error-strata", Never, "a hard-to-change factor", 1.0),
    rate("unbalanced-strata", Never, "runs missing from groups of `Error(...)`", 1.0),
    rate("missing-cells", Never, "a planned row without a trial", 1.0),
    rate("unbalanced", Never, "rows run unequally often", 1.0),
    rate("no-replication", Never, "no configuration run twice", 1.0),
    rate("command-changed", Never, "two commands in one study", 1.0),
    rate(
        "curvature",
        AtMost(0.02),
        "centre points 3 deviations off, three of them, 2^3 run twice",
        0.9,
    ),
    rate("blocks", Never, "runs in blocks", 1.0),
    rate("not-in-design", Never, "a trial that is no row", 1.0),
    rate("diverged-trials", Never, "a trial that diverged", 1.0),
    rate("failed-trials", Never, "a trial that failed", 1.0),
    rate("overlapping-timing", Never, "a time measured with two slots", 1.0),
    rate("oversubscribed", Never, "more threads than cores", 1.0),
    rate("sign-table-misprint", Never, "a wrong sign in a fraction", 1.0),
    rate("no-speed-up", NoEvidence, "times that workers do not change", 0.8),
    rate("low-efficiency", AtMost(0.05), "half of the work serial, 16 workers", 0.95),
    rate(
        "superlinear-speed-up",
        AtMost(0.05),
        "the first setting takes twice as long as it should",
        0.95,
    ),
    rate("fewer-points-than-terms", Never, "three numbers of workers", 1.0),
    rate("terms-not-separable", Never, "three numbers of workers", 1.0),
    rate("extrapolation", Never, "a prediction at ten times the workers", 1.0),
    rate("step-overhead", NoEvidence, "nearly all of the time spent on steps", 0.95),
    rate("per-sample-cost-dominates", NoEvidence, "nearly none of the time spent on steps", 0.95),
    rate(
        "linear-fit-inadequate",
        AtMost(0.05),
        "a parabola over 40 rows that bends by 4 deviations",
        0.9,
    ),
    rate("data-size-is-product", Never, "a column that is the product of two", 1.0),
    rate("flat-surface", NoEvidence, "no curvature at all", 0.8),
    rate("stationary-point-outside", NoEvidence, "a bowl whose bottom lies beyond the region", 0.9),
    rate("epoch-is-not-a-pass", Never, "steps not divided by the batch", 1.0),
    rate("no-validation-split", Never, "figures of training and test alone", 1.0),
    rate("batch-at-unscaled-rate", AtMost(0.05), "accuracy lower by 0.2 at a larger batch", 1.0),
    rate("evaluation-inside-the-time", Never, "a third of the time outside the steps", 1.0),
    rate("network-not-the-limit", Never, "a hundredth of the link used", 1.0),
    rate("bytes-per-step-alike", Never, "bytes that follow the steps", 1.0),
    rate("queue-unstable", Never, "more work than the servers can do", 1.0),
    rate("queue-nearly-full", Never, "servers busy 95 % of the time", 1.0),
    rate(
        "queue-not-exponential",
        AtMost(0.05),
        "60 times with half the variation of exponential ones",
        0.9,
    ),
    rate("queue-approximation", Never, "a G/G/c queue", 1.0),
    rate("queue-few-times", Never, "ten times", 1.0),
    rate("queue-mixed-configurations", Never, "times of two configurations", 1.0),
    rate("load-model-disagrees", AtMost(0.07), "service twice as slow when jobs wait", 0.5),
    rate("load-cut-short", Never, "a test that ended early", 1.0),
    rate("load-failed-jobs", Never, "a job that failed", 1.0),
    rate("load-few-jobs", Never, "ten jobs", 1.0),
];
