//! Statements that the data support, in words with figures.
//!
//! One file a group: what matters (`ranking`), what the data lack (`coverage`), which
//! assumptions fail (`assumptions`), what the units do (`collinearity`, `coefficients`), what only a
//! study knows (`trials`), and what the names of columns tell (`training`). `catalogue` lists all. Identifiers are stable; a p-value never stands without its meaning.

pub(crate) mod assumptions;
pub(crate) mod catalogue;
pub(crate) mod coefficients;
pub(crate) mod collinearity;
pub(crate) mod coverage;
mod finding;
pub(crate) mod ranking;
pub(crate) mod training;
pub(crate) mod trials;

pub(crate) use collinearity::in_natural_units;
pub use finding::{Finding, Severity};

use trainwright_stats::Influence;

use crate::fit::analysis::{Best, Check, Effect, LenthSummary, LogScale};
use crate::fit::fitted::Fitted;
use crate::fit::long_table::FEW_ROWS;
use crate::model::problem::Problem;

/// Everything that findings are drawn from.
pub(crate) struct Evidence<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) fitted: &'a Fitted,
    pub(crate) effects: &'a [Effect],
    pub(crate) checks: &'a [Check],
    pub(crate) influence: &'a Influence,
    pub(crate) lenth: Option<&'a LenthSummary>,
    pub(crate) log_scale: Option<&'a LogScale>,
    pub(crate) best: Option<&'a Best>,
}

impl Evidence<'_> {
    /// Whether a check found evidence against its assumption.
    pub(crate) fn fails(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|c| c.name == name && c.holds == Some(false))
    }
}

/// Findings that any table or study can have, the most serious first.
pub(crate) fn of_fit(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = ranking::findings(evidence);
    found.extend(coverage::findings(evidence));
    found.extend(assumptions::findings(evidence));
    found.extend(collinearity::findings(evidence));
    found.extend(coefficients::findings(evidence));
    found
}

/// Findings about a table of `n` rows of which only a sample was looked at row by row.
pub(crate) fn of_large_fit(evidence: &Evidence<'_>, n: usize) -> Vec<Finding> {
    let mut found = ranking::findings(evidence);
    found.extend(assumptions::findings(evidence));
    found.extend(collinearity::findings(evidence));
    let text = format!(
        "coefficients and tables use all {n} rows; the normality and spread of residuals and the \
         Box-Cox power were looked at in a random sample of {}; figures of single rows, serial \
         correlation, lack of fit and means by level are not computed above {FEW_ROWS} rows",
        evidence.problem.y.len()
    );
    found.push(info("large-table", text));
    found
}

/// Puts the most serious findings first and keeps the order among equals.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
}

pub(crate) fn info(id: &'static str, text: String) -> Finding {
    Finding::new(id, Severity::Info, text)
}

pub(crate) fn warning(id: &'static str, text: String) -> Finding {
    Finding::new(id, Severity::Warning, text)
}

pub(crate) fn serious(id: &'static str, text: String) -> Finding {
    Finding::new(id, Severity::Serious, text)
}
