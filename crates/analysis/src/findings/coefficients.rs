//! Coefficients in raw units that say the opposite of what the factor does.

use super::{Evidence, Finding, warning};
use crate::fit::fitted::Fitted;
use crate::model::model_matrix::Coding;
use crate::model::problem::Problem;
use crate::wording::{brief, list};

pub(super) fn findings(evidence: &Evidence<'_>) -> Option<Finding> {
    match evidence.problem.coding {
        Coding::Raw => opposite_signs(evidence.fitted, evidence.problem),
        Coding::Coded => None,
    }
}

/// Factors whose raw coefficient has another sign than their average effect, which the data are
/// sure of. `raw` is the problem fitted in raw units.
///
/// Without products the two never differ. With them a raw coefficient is the slope at zero of the
/// other factors, which may lie far from any level tried.
pub(crate) fn opposite_signs(raw: &Fitted, problem: &Problem) -> Option<Finding> {
    let rows = raw.summary(problem.alpha).coefficients;
    let opposite: Vec<String> = problem
        .terms
        .iter()
        .enumerate()
        .filter(|(_, term)| {
            matches!(term.as_slice(), [own] if problem.variables[*own].is_numeric())
                && !problem.has_power(term)
        })
        .filter_map(|(term, _)| {
            let name = &problem.term_names[term];
            let raw_slope = rows.iter().find(|row| row.name == *name)?.estimate?;
            let average = raw.coded_fit.coefficients[raw.single_coded_column(term)?]?;
            let sure = average.p.is_some_and(|p| p < problem.alpha);
            (sure && raw_slope * average.estimate < 0.0).then(|| {
                let (verb, size) =
                    (if average.estimate < 0.0 { "lowers" } else { "raises" }, average.estimate.abs());
                let sign = if raw_slope > 0.0 { "+" } else { "" };
                format!(
                    "{name} has the coefficient {sign}{} although going from its lowest to its highest \
                     level {verb} {} by {} on average",
                    brief(raw_slope),
                    problem.response,
                    brief(2.0 * size)
                )
            })
        })
        .collect();
    if opposite.is_empty() {
        return None;
    }
    let text = format!(
        "in raw units {}: with products in the equation a raw coefficient is the slope where the other \
         factors are 0; it cannot be compared with other coefficients or other equations, coded \
         effects can",
        list(&opposite)
    );
    Some(warning("raw-coefficients", text))
}
