//! Mistakes of published field reports, and the findings that would have named them.

/// A mistake that somebody made, and what would have said so.
pub(super) struct Mistake {
    /// Which report, and which of its mistakes.
    pub(super) report: &'static str,
    pub(super) mistake: &'static str,
    /// Findings that name it.
    pub(super) ids: &'static [&'static str],
}

const fn mistake(
    report: &'static str,
    mistake: &'static str,
    ids: &'static [&'static str],
) -> Mistake {
    Mistake { report, mistake, ids }
}

pub(super) const MISTAKES: &[Mistake] = &[
    mistake("A, B", "single runs, means without spread", &["no-replication"]),
    mistake("A, B", "one straight line a parameter, with a low R2", &["linear-fit-inadequate"]),
    mistake("A, B", "\"the bottleneck\" without a measured reason", &["bottleneck"]),
    mistake("A, B", "data size correlated beside its own factors", &["data-size-is-product"]),
    mistake("A", "batch raised at an unchanged learning rate", &["batch-at-unscaled-rate"]),
    mistake("B", "a bigger batch called faster", &["step-overhead", "per-sample-cost-dominates"]),
    mistake("C", "steps of an epoch not divided by the batch", &["epoch-is-not-a-pass"]),
    mistake("C", "\"2 cores are slower\" from means alone", &["no-replication", "no-speed-up"]),
    mistake("C", "no validation split", &["no-validation-split"]),
    mistake("C", "more threads than cores", &["oversubscribed"]),
    mistake("D 1", "a wrong sign in the table of the design", &["sign-table-misprint"]),
    mistake(
        "D 2",
        "two of 32 runs missing, type I on what was left",
        &["missing-cells", "unbalanced", "type-one-order"],
    ),
    mistake(
        "D 3",
        "p = 7e-29 read as normal, p = 0 as equal variances",
        &["residuals-not-normal", "unequal-variances"],
    ),
    mistake("D 4", "variance inflation of uncoded units", &["collinearity-is-coding"]),
    mistake("D 5", "scale, outlier and missing terms", &["log-scale", "outlier", "lack-of-fit"]),
    mistake("D 6", "raw coefficients of different equations compared", &["raw-coefficients"]),
    mistake("D 7", "an M/M queue for service that is not exponential", &["queue-not-exponential"]),
    mistake("D 9", "the end of the range taken for the optimum", &["optimum-at-edge"]),
    mistake("E", "evaluation counted as training time", &["evaluation-inside-the-time"]),
    mistake(
        "E",
        "\"network-bound\" from bytes a run",
        &["network-not-the-limit", "bytes-per-step-alike", "bottleneck"],
    ),
    mistake("E", "ever larger batches", &["per-sample-cost-dominates"]),
];
