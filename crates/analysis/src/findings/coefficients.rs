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

#[cfg(test)]
mod tests {
    use crate::tests::two_by_two;
    use crate::{Analysis, Coding, Formula, TableOptions, TermOrder, analyze_table};

    fn analysed(coding: Coding) -> Analysis {
        // In raw units y = 10 + 6 (a - 1) + 2 (b / 10 - 1) + 4 (a - 1)(b / 10 - 1), so that b alone
        // has the slope 0.2 - 0.4 = -0.2, though it raises y by 4 on average.
        let formula = Formula::parse("y ~ a * b", TermOrder::Formula).unwrap();
        let options = TableOptions { coding, ..TableOptions::default() };
        analyze_table(&two_by_two(), &formula, &options).unwrap()
    }

    #[test]
    fn a_raw_coefficient_of_the_other_sign_is_told_with_what_the_factor_does() {
        let found = analysed(Coding::Raw);
        let own = found.findings.iter().find(|own| own.id == "raw-coefficients").unwrap();
        assert!(
            own.text.starts_with(
                "in raw units b has the coefficient -0.2 although going from its lowest to its \
                 highest level raises y by 4 on average: "
            ),
            "{}",
            own.text
        );
    }

    #[test]
    fn coded_coefficients_are_what_they_say() {
        let found = analysed(Coding::Coded);
        assert!(found.findings.iter().all(|own| own.id != "raw-coefficients"));
    }
}
