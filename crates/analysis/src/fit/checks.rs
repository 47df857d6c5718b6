//! Assumptions checked, each with a sentence that says what its p-value means.

use trainwright_stats::{OneWay, brown_forsythe};

use crate::fit::analysis::Check;
use crate::fit::fitted::{Fitted, row_of};
use crate::model::problem::{Order, Problem};
use crate::wording::{brief, p_value};

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

const TOO_LONG: &str = "not computed for tables of more than 20,000 rows";

fn normality(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "normality";
    let Some(test) = fitted.of_residuals.shapiro else {
        let why = if fitted.fit.log_likelihood.is_none() {
            "the equation leaves no residuals, so their distribution cannot be checked"
        } else {
            "the Shapiro-Wilk test covers 3 to 5000 residuals; judge the normal plot by eye"
        };
        return unchecked(name, why);
    };
    let holds = test.p >= problem.check_level();
    let p = p_value(test.p);
    let verdict = if holds {
        format!("{p} gives no evidence against normal residuals (Shapiro-Wilk)")
    } else {
        format!(
            "{p} is evidence against normal residuals (Shapiro-Wilk): intervals and p-values \
             are approximate"
        )
    };
    Check { name, statistic: Some(test.w), p: Some(test.p), holds: Some(holds), verdict }
}

fn equal_variance(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "equal-variance";
    let Some((test, over)) = variance_test(problem, fitted) else {
        return constant_spread(problem, fitted);
    };
    let holds = test.p >= problem.check_level();
    let p = p_value(test.p);
    let verdict = if holds {
        format!("{p} gives no evidence of unequal spread over {over} (Brown-Forsythe)")
    } else {
        format!(
            "{p} is evidence that the spread differs over {over} (Brown-Forsythe): one residual \
             standard deviation does not fit all of them"
        )
    };
    Check { name, statistic: Some(test.f), p: Some(test.p), holds: Some(holds), verdict }
}

/// Breusch-Pagan, where there are no groups to compare.
fn constant_spread(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "equal-variance";
    let Some(test) = fitted.of_residuals.breusch_pagan else {
        return unchecked(name, "no groups with repeated values to compare the spread of");
    };
    let holds = test.p >= problem.check_level();
    let p = p_value(test.p);
    let verdict = if holds {
        format!("{p} gives no evidence that the spread follows the equation (Breusch-Pagan)")
    } else {
        format!(
            "{p} is evidence that the spread changes along the equation (Breusch-Pagan): standard \
             errors are off where it is wide"
        )
    };
    Check { name, statistic: Some(test.statistic), p: Some(test.p), holds: Some(holds), verdict }
}

/// Brown-Forsythe over the repeated cells, else over the levels of the largest factor.
fn variance_test(problem: &Problem, fitted: &Fitted) -> Option<(OneWay, String)> {
    let cells: Vec<Vec<f64>> =
        problem.cell_values().into_iter().filter(|values| values.len() >= 2).collect();
    if let Ok(test) = brown_forsythe(&cells) {
        return Some((test, format!("the {} repeated cells", cells.len())));
    }
    fitted.fit.log_likelihood?;
    let mut mains: Vec<(usize, f64)> = problem
        .terms
        .iter()
        .enumerate()
        .filter(|(_, t)| t.len() == 1 && problem.variables[t[0]].is_factor())
        .filter_map(|(i, t)| Some((t[0], row_of(&fitted.type_two, i).sum_sq?)))
        .collect();
    mains.sort_by(|a, b| b.1.total_cmp(&a.1));
    let variable = &problem.variables[mains.first()?.0];
    let mut groups = vec![Vec::new(); variable.levels.len()];
    for (&code, residual) in variable.codes.iter().zip(&fitted.fit.residuals) {
        groups[code].push(*residual);
    }
    groups.retain(|g| g.len() >= 2);
    let test = brown_forsythe(&groups).ok()?;
    Some((test, format!("the levels of {}", variable.name)))
}

fn independence(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "independence";
    let Some(test) = fitted.of_residuals.durbin_watson else {
        return unchecked(name, "too few residuals to look for a drift");
    };
    let order = match problem.order {
        Order::Run => "run order",
        Order::Row => "the order of the rows",
    };
    let d = brief(test.statistic);
    // A drift is what one looks for; neighbours that oppose each other are rarer, so that side
    // gets half the chance of a false alarm.
    let resemble = test.p_positive < problem.check_level();
    let oppose = test.p_negative < 0.5 * problem.check_level();
    let verdict = if resemble || oppose {
        let (how, p) =
            if resemble { ("resemble", test.p_positive) } else { ("oppose", test.p_negative) };
        format!(
            "{} is evidence that neighbours in {order} {how} each other (Durbin-Watson {d}): \
             something drifts or alternates, and p-values are not exact",
            p_value(p)
        )
    } else {
        format!(
            "{} gives no evidence that neighbours in {order} resemble each other (Durbin-Watson {d})",
            p_value(test.p_positive)
        )
    };
    let holds = Some(!resemble && !oppose);
    Check { name, statistic: Some(test.statistic), p: Some(test.p_positive), holds, verdict }
}

fn lack_of_fit(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "lack-of-fit";
    let test = fitted.of_residuals.lack_of_fit.and_then(|l| Some((l.f?, l.p?)));
    let Some((f, p)) = test else {
        return unchecked(name, "no repeated cells beyond the equation's terms to compare with");
    };
    let holds = p >= problem.check_level();
    let verdict = if holds {
        format!("{} gives no evidence that the equation misses terms", p_value(p))
    } else {
        format!(
            "{} is evidence that the equation misses terms: configurations differ from it by \
             more than repeats of one configuration differ from each other",
            p_value(p)
        )
    };
    Check { name, statistic: Some(f), p: Some(p), holds: Some(holds), verdict }
}

fn balance(problem: &Problem) -> Check {
    let name = "balance";
    let Some(holds) = problem.balanced else {
        return unchecked(name, "the variables are readings, not levels of a design");
    };
    let verdict = match (holds, problem.order) {
        (true, Order::Row) => {
            "every combination of levels that was run was run equally often, so effects do not mix"
        }
        (true, Order::Run) => "every row of the design was observed equally often",
        (false, Order::Row) => {
            "combinations of levels were not run equally often, so effects mix: the order of \
             terms matters in type I tables, and types II and III differ"
        }
        (false, Order::Run) => {
            "the rows of the design were not observed equally often, so effects mix: the order \
             of terms matters in type I tables, and types II and III differ"
        }
    };
    Check { name, statistic: None, p: None, holds: Some(holds), verdict: verdict.to_owned() }
}

pub(crate) fn unchecked(name: &'static str, why: &str) -> Check {
    Check { name, statistic: None, p: None, holds: None, verdict: format!("not checked: {why}") }
}
