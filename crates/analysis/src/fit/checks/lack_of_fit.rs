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
             test of a Gaussian process), so a smooth shape is left that its terms cannot follow",
            p_value(left.p)
        )
    };
    let (statistic, p) = (Some(left.statistic), Some(left.p));
    Check { name: NAME, statistic, p, holds: Some(holds), verdict }
}

/// What the terms that are missing would take up.
fn named(missing: &[MissingTerm]) -> String {
    let share = |own: &MissingTerm| format!("{} {}", own.term, percent(own.percent));
    match missing {
        [] => String::new(),
        [one] => format!("; {} would take up {} of that", one.term, percent(one.percent)),
        more => {
            let shares: Vec<String> = more.iter().map(share).collect();
            format!("; of that would take up {}", list(&shares))
        }
    }
}
