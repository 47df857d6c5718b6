//! Assumptions checked, each with a sentence that says what its p-value means.

pub(crate) mod curvature;
pub(crate) mod equal_variance;
pub(crate) mod lack_of_fit;
pub(crate) mod missing_terms;
pub(crate) mod smooth_left;

use trainwright_stats::{Fit, Stratum, bonferroni, shapiro_wilk, simulated_p};

use crate::fit::analysis::Check;
use crate::fit::checks::equal_variance::equal_variance;
use crate::fit::checks::lack_of_fit::lack_of_fit;
use crate::fit::fitted::Fitted;
use crate::model::problem::{Cells, Order, Problem};
use crate::wording::{brief, count, p_value};

/// All checks of a fit.
pub(crate) fn checks(problem: &Problem, fitted: &Fitted) -> Vec<Check> {
    vec![
        normality(problem, fitted),
        equal_variance(problem, fitted),
        independence(problem, fitted),
        lack_of_fit(problem, fitted),
        balance(problem),
    ]
}

/// Checks of a random sample of a table of `n` rows.
pub(crate) fn checks_of_sample(problem: &Problem, sampled: &Fitted, n: usize) -> Vec<Check> {
    let mut found = vec![normality(problem, sampled), equal_variance(problem, sampled)];
    let note = format!(", in a random sample of {} of the {n} rows", problem.y.len());
    found.iter_mut().for_each(|check| check.verdict.push_str(&note));
    found.extend(["independence", "lack-of-fit", "balance"].map(|name| unchecked(name, TOO_LONG)));
    found
}

/// The same where the sample cannot be fitted.
pub(crate) fn checks_without_sample() -> Vec<Check> {
    let names = ["normality", "equal-variance", "independence", "lack-of-fit", "balance"];
    names.map(|name| unchecked(name, TOO_LONG)).into()
}

const NO_RESIDUALS: &str =
    "the equation leaves no residuals: it hits every value, so nothing tells of errors";

const TOO_LONG: &str = "not computed for tables of more than 20,000 rows";

fn normality(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "normality";
    let fit = fitted.of_one_error();
    let Some(test) = fitted.of_residuals.shapiro else {
        let why = if fit.log_likelihood.is_none() {
            NO_RESIDUALS
        } else {
            "the Shapiro-Wilk test covers 3 to 5000 residuals; judge the normal plot by eye"
        };
        return unchecked(name, why);
    };
    let inner = if is_crowded(fit) {
        let shortfall = |values: &[f64]| Some(1.0 - shapiro_wilk(values).ok()?.w);
        let Some(p) = simulated_p(fit.decomposition(), &fit.residuals, shortfall) else {
            return unchecked(name, &too_few_degrees(fit));
        };
        p
    } else {
        test.p
    };
    let outer = between_groups(fitted);
    let tests = outer.len() + 1;
    let smallest = outer.into_iter().fold(inner, f64::min);
    let p = bonferroni(smallest, tests);
    let holds = p >= problem.check_level();
    let of = if tests > 1 { "residuals between and within groups" } else { "residuals" };
    let verdict = if holds {
        format!("{} against normal {of} (Shapiro-Wilk)", problem.no_evidence(p))
    } else {
        format!(
            "{} is evidence against normal {of} (Shapiro-Wilk): intervals and p-values \
             are approximate",
            p_value(p)
        )
    };
    Check { name, statistic: Some(test.w), p: Some(p), holds: Some(holds), verdict }
}

/// P-values of the errors of groups, as far as each has enough degrees of freedom for a test.
fn between_groups(fitted: &Fitted) -> Vec<f64> {
    let Some(errors) = &fitted.strata else { return Vec::new() };
    let Some((_, outer)) = errors.strata.split_last() else { return Vec::new() };
    let test = |stratum: &Stratum| shapiro_wilk(&stratum.contrasts).ok().map(|found| found.p);
    outer.iter().filter_map(test).collect()
}

/// Whether the equation takes so much that its residuals are tied to each other, and tables made
/// for independent values would mislead.
pub(crate) fn is_crowded(fit: &Fit) -> bool {
    let n = fit.residuals.len();
    n <= MOST_SIMULATED && 10 * fit.df_residual < 9 * n
}

/// Most observations for which residuals are simulated.
const MOST_SIMULATED: usize = 500;

/// Why residuals show nothing: there are none, or too few are free.
pub(crate) fn too_few_degrees(fit: &Fit) -> String {
    if fit.log_likelihood.is_none() {
        return NO_RESIDUALS.to_owned();
    }
    let df = count(fit.df_residual, "degree");
    format!("with {df} of freedom left, residuals have the same pattern whatever the errors")
}

fn independence(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "independence";
    let Some(test) = fitted.of_residuals.durbin_watson else {
        let why = if fitted.of_one_error().log_likelihood.is_none() {
            NO_RESIDUALS
        } else {
            "too few residuals to look for a drift: it takes 3 degrees of freedom"
        };
        return unchecked(name, why);
    };
    let order = match problem.order {
        Order::Run => "run order",
        Order::Row => "the order of the rows",
    };
    let d = brief(test.statistic);
    let p = p_value(test.p);
    let holds = test.p >= problem.check_level();
    let verdict = if holds {
        format!(
            "{} that neighbours in {order} resemble or oppose each other (Durbin-Watson {d}, \
             two-sided)",
            problem.no_evidence(test.p)
        )
    } else {
        let how = if test.p_positive < test.p_negative { "resemble" } else { "oppose" };
        format!(
            "{p} is evidence that neighbours in {order} {how} each other (Durbin-Watson {d}, \
             two-sided): something drifts or alternates, and p-values are not exact"
        )
    };
    Check { name, statistic: Some(test.statistic), p: Some(test.p), holds: Some(holds), verdict }
}

fn balance(problem: &Problem) -> Check {
    let name = "balance";
    let Some(holds) = problem.balanced else {
        return unchecked(name, "the rows hold readings or were chosen freely, not by a plan");
    };
    let verdict = match (holds, problem.cells) {
        (true, Cells::AsFound) => {
            "every combination of levels that was run was run equally often, so effects do not mix"
        }
        (true, Cells::OfDesign) => "every row of the design was observed equally often",
        (false, Cells::AsFound) => {
            "combinations of levels were not run equally often, so effects mix: the order of \
             terms matters in type I tables, and types II and III differ"
        }
        (false, Cells::OfDesign) => {
            "the rows of the design were not observed equally often, so effects mix: the order \
             of terms matters in type I tables, and types II and III differ"
        }
    };
    Check { name, statistic: None, p: None, holds: Some(holds), verdict: verdict.to_owned() }
}

pub(crate) fn unchecked(name: &'static str, why: &str) -> Check {
    Check { name, statistic: None, p: None, holds: None, verdict: format!("not checked: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, problem, table, two_by_two};

    #[test]
    fn balance_is_told_by_what_the_rows_are() {
        let mut own = problem(&two_by_two(), "y ~ a + b");
        let told = |own: &Problem| {
            let check = balance(own);
            (check.holds, check.verdict.split(',').next().unwrap().to_owned())
        };
        assert_eq!(
            told(&own),
            (
                Some(true),
                "every combination of levels that was run was run equally often".to_owned()
            )
        );
        own.cells = Cells::OfDesign;
        assert_eq!(
            told(&own),
            (Some(true), "every row of the design was observed equally often".to_owned())
        );
        own.balanced = Some(false);
        assert!(balance(&own).verdict.starts_with("the rows of the design were not observed"));
        own.balanced = None;
        let check = balance(&own);
        assert_eq!(check.holds, None);
        assert_eq!(
            check.verdict,
            "not checked: the rows hold readings or were chosen freely, not by a plan"
        );
    }

    #[test]
    fn neighbours_that_resemble_or_oppose_each_other_are_told_apart() {
        let of = |noise: fn(usize) -> f64| {
            let rows: Vec<[f64; 2]> =
                (0..40).map(|at| [f64::from(at as u32 * 7 % 13), noise(at)]).collect();
            let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
            let (problem, fit) = fitted(&table("x,y", &rows), "y ~ x");
            independence(&problem, &fit)
        };
        let drift = of(|at| at as f64);
        assert_eq!(drift.holds, Some(false));
        assert!(drift.statistic.unwrap() < 1.0);
        assert!(drift.verdict.contains("neighbours in the order of the rows resemble each other"));
        let alternating = of(|at| if at % 2 == 0 { 1.0 } else { -1.0 });
        assert!(alternating.statistic.unwrap() > 3.0);
        assert!(alternating.verdict.contains("oppose each other"), "{}", alternating.verdict);
    }

    #[test]
    fn an_equation_that_leaves_nothing_has_nothing_to_check() {
        let exact = table("x,y", &[&[0.0, 1.0], &[1.0, 3.0], &[2.0, 5.0], &[3.0, 7.0]]);
        let (problem, fit) = fitted(&exact, "y ~ x");
        let found = checks(&problem, &fit);
        for name in ["normality", "equal-variance", "independence", "lack-of-fit"] {
            let check = found.iter().find(|own| own.name == name).unwrap();
            assert_eq!((check.holds, check.p), (None, None), "{name}");
            assert!(check.verdict.starts_with("not checked: "), "{}", check.verdict);
            let of_residuals = name != "lack-of-fit";
            assert_eq!(check.verdict.contains(NO_RESIDUALS), of_residuals, "{}", check.verdict);
        }
    }

    #[test]
    fn residuals_are_simulated_where_the_equation_takes_a_tenth_of_the_freedom() {
        let of = |runs: usize| {
            let rows: Vec<[f64; 2]> =
                (0..runs).map(|at| [(at % 2) as f64, (at * 5 % 7) as f64]).collect();
            let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
            is_crowded(&fitted(&table("x,y", &rows), "y ~ x").1.fit)
        };
        // Two coefficients: 17 of 19 degrees of freedom are less than nine tenths, 18 of 20 not.
        assert!(of(19) && !of(20));
    }

    #[test]
    fn a_long_table_says_that_a_sample_was_looked_at() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a + b");
        let found = checks_of_sample(&problem, &fit, 30_000);
        assert!(
            found[0].verdict.ends_with(", in a random sample of 8 of the 30000 rows"),
            "{}",
            found[0].verdict
        );
        let names = |checks: &[Check]| checks.iter().map(|own| own.name).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&checks(&problem, &fit)));
        assert_eq!(names(&checks_without_sample()), names(&found));
        assert!(checks_without_sample().iter().all(|own| own.holds.is_none()));
    }
}
