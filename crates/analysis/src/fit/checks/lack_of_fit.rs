//! Whether the equation misses terms, and which ones would help.

use crate::fit::analysis::{Check, MissingTerm};
use crate::fit::checks::unchecked;
use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;
use crate::wording::{list, p_value, percent};

/// Name of the check.
const NAME: &str = "lack-of-fit";

/// The check against repeats, or against neighbours where the points fill space.
pub(crate) fn lack_of_fit(problem: &Problem, fitted: &Fitted) -> Check {
    if fitted.strata.is_some() {
        return unchecked(NAME, "repeats in other groups differ by the error of the groups too");
    }
    let own = &fitted.of_residuals;
    if let Some((f, p)) = own.lack_of_fit.and_then(|l| Some((l.f?, l.p?))) {
        let holds = p >= problem.check_level();
        let verdict = if holds {
            format!("{} that the equation misses terms", problem.no_evidence(p))
        } else {
            format!(
                "{} is evidence that the equation misses terms: configurations differ from it by \
                 more than repeats of one configuration differ from each other{}",
                p_value(p),
                named(&own.missing_terms)
            )
        };
        return Check { name: NAME, statistic: Some(f), p: Some(p), holds: Some(holds), verdict };
    }
    let Some(left) = own.smooth_left else {
        return unchecked(NAME, "no repeated cells beyond the equation's terms to compare with");
    };
    let holds = left.p >= problem.check_level();
    let verdict = if holds {
        format!(
            "{} that near points have alike residuals, so none that the equation misses terms \
             (score test of a Gaussian process)",
            problem.no_evidence(left.p)
        )
    } else {
        format!(
            "{} is evidence that the equation misses terms: near points have alike residuals (score \
             test of a Gaussian process), so a smooth shape is left that its terms cannot follow{}",
            p_value(left.p),
            named(&own.missing_terms)
        )
    };
    let (statistic, p) = (Some(left.statistic), Some(left.p));
    Check { name: NAME, statistic, p, holds: Some(holds), verdict }
}

/// What the terms that are missing would take up.
fn named(missing: &[MissingTerm]) -> String {
    let share = |own: &MissingTerm| format!("{} {}", own.told_as(), percent(own.percent));
    let shares = match missing {
        [] => return String::new(),
        [one] => format!("; {} would take up {} of that", one.told_as(), percent(one.percent)),
        more => {
            let shares: Vec<String> = more.iter().map(share).collect();
            format!("; of that would take up {}", list(&shares))
        }
    };
    let open = missing.iter().any(|own| !own.others.is_empty());
    let which = if open { ", and these runs cannot tell which" } else { "" };
    format!("{shares}{which}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, two_by_two};

    #[test]
    fn missing_terms_are_told_with_what_they_would_take_up() {
        let own =
            |term: &str, percent| MissingTerm { term: term.to_owned(), percent, others: vec![] };
        assert_eq!(named(&[]), "");
        assert_eq!(named(&[own("a:b", 98.76)]), "; a:b would take up 98.8 % of that");
        assert_eq!(
            named(&[own("a:b", 60.0), own("I(a^2)", 30.0)]),
            "; of that would take up a:b 60.0 % and I(a^2) 30.0 %"
        );
        let mixed = MissingTerm { others: vec!["I(b^2)".to_owned()], ..own("I(a^2)", 97.8) };
        assert_eq!(
            named(&[mixed]),
            "; I(a^2) or I(b^2) would take up 97.8 % of that, and these runs cannot tell which"
        );
    }

    #[test]
    fn repeats_show_the_product_that_an_equation_lacks() {
        // The interaction has the sum of squares 8 against 2 / 4 of the repeats: F = 16.
        let (mut problem, fit) = fitted(&two_by_two(), "y ~ a + b");
        let check = lack_of_fit(&problem, &fit);
        assert!((check.statistic.unwrap() - 16.0).abs() < 1e-9);
        // F(1, 4) beyond 16 has the chance of t(4) beyond 4 on either side, 0.016130.
        assert!((check.p.unwrap() - 0.016_130_09).abs() < 1e-6, "{check:?}");
        assert_eq!(check.holds, Some(true), "one of five checks is held to a fifth of alpha");
        assert_eq!(
            check.verdict,
            "p = 0.016, above the 0.01 to which each of several checks is held, gives no evidence \
             that the equation misses terms"
        );
        problem.alpha = 0.25;
        let check = lack_of_fit(&problem, &Fitted::new(&problem).unwrap());
        assert_eq!(check.holds, Some(false));
        assert!(
            check.verdict.ends_with("; a:b would take up 100.0 % of that"),
            "{}",
            check.verdict
        );
    }

    #[test]
    fn without_freedom_between_terms_and_cells_there_is_nothing_to_compare() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a * b");
        let check = lack_of_fit(&problem, &fit);
        assert_eq!(
            check.verdict,
            "not checked: no repeated cells beyond the equation's terms to compare with"
        );
    }
}
