//! Whether the spread is the same everywhere, by the test that the data allow.
//!
//! Cells of three runs and more are compared by Brown and Forsythe's test. Many small cells hide a
//! level at which all of them are wide, so their distances from the mean are compared between
//! the levels of each factor too. Two runs lie equally far from their middle, so that test says
//! nothing about pairs: their distances are compared between levels alone. Without repeats residuals are compared, between the
//! levels of the factor that matters most or along the equation. P-values of small samples come
//! from simulated normal errors under the same equation, since the tables hold for large ones.

use trainwright_stats::{Fit, brown_forsythe, one_way, sample, simulated_p, simulated_p_of_groups};

use crate::fit::analysis::Check;
use crate::fit::checks::{is_crowded, too_few_degrees, unchecked};
use crate::fit::fitted::{Fitted, row_of};
use crate::model::problem::Problem;
use crate::wording::p_value;

/// Runs a cell from which the table of Brown and Forsythe's test serves.
const MANY_RUNS: usize = 10;

/// Checks that the spread is the same everywhere.
pub(crate) fn equal_variance(problem: &Problem, fitted: &Fitted) -> Check {
    let name = "equal-variance";
    let cells = repeated_cells(problem);
    let found = if cells.iter().any(|own| own.len() > 2) {
        over_small_cells(problem, &cells)
    } else if cells.len() > 1 {
        match over_pairs(problem, &cells) {
            Some(found) => Some(found),
            None => return unchecked(name, "two runs a cell cannot show it"),
        }
    } else {
        over_levels(problem, fitted).or_else(|| along_equation(fitted))
    };
    let one_error = fitted.of_one_error();
    match found {
        Some(found) => check(found, problem),
        None if is_crowded(one_error) || one_error.log_likelihood.is_none() => {
            unchecked(name, &too_few_degrees(one_error))
        }
        None => unchecked(name, "no groups with repeated values to compare the spread of"),
    }
}

/// A test that was made.
struct Spread {
    statistic: f64,
    p: f64,
    over: String,
    test: &'static str,
}

fn check(found: Spread, problem: &Problem) -> Check {
    let Spread { statistic, p, over, test } = found;
    let holds = p >= problem.check_level();
    let verdict = if holds {
        format!("{} of unequal spread {over} ({test})", problem.no_evidence(p))
    } else {
        format!(
            "{} is evidence that the spread differs {over} ({test}): one residual standard \
             deviation does not fit everywhere",
            p_value(p)
        )
    };
    Check {
        name: "equal-variance",
        statistic: Some(statistic),
        p: Some(p),
        holds: Some(holds),
        verdict,
    }
}

/// Rows of each cell that was observed more than once; none where groups have errors of their
/// own, which would count as spread of the cells.
fn repeated_cells(problem: &Problem) -> Vec<Vec<usize>> {
    if !problem.groupings.is_empty() {
        return Vec::new();
    }
    let (cells, count) = problem.cells();
    let mut rows = vec![Vec::new(); count];
    cells.into_iter().enumerate().for_each(|(row, cell)| rows[cell].push(row));
    rows.retain(|own| own.len() > 1);
    rows
}

/// The part of the level that the test between levels of factors gets, and what is left for the one
/// over cells: a level of a factor is likelier to be wide than a lone cell.
const OF_LEVELS: f64 = 0.8;
const OF_CELLS: f64 = 0.2;

/// The stronger of two tests: over cells, and between the levels of factors where cells are small.
fn over_small_cells(problem: &Problem, cells: &[Vec<usize>]) -> Option<Spread> {
    let large: Vec<Vec<usize>> = cells.iter().filter(|own| own.len() > 2).cloned().collect();
    let by_cell = over_cells(problem, &large)?;
    if large.iter().all(|own| own.len() >= MANY_RUNS) {
        return Some(by_cell);
    }
    let Some(by_level) = over_factors(problem, &large) else { return Some(by_cell) };
    let shared = |own: Spread, part: f64| Spread { p: (own.p / part).min(1.0), ..own };
    let (by_level, by_cell) = (shared(by_level, OF_LEVELS), shared(by_cell, OF_CELLS));
    Some(if by_level.p <= by_cell.p { by_level } else { by_cell })
}

/// Brown and Forsythe's test over the cells of three runs and more.
fn over_cells(problem: &Problem, cells: &[Vec<usize>]) -> Option<Spread> {
    let groups = values_of(problem, cells);
    let test = brown_forsythe(&groups).ok()?;
    let statistic = |groups: &[Vec<f64>]| Some(brown_forsythe(groups).ok()?.f);
    let p = if groups.iter().all(|own| own.len() >= MANY_RUNS) {
        test.p
    } else {
        simulated_p_of_groups(&groups, statistic)?
    };
    let over = format!("over the {} repeated cells", groups.len());
    Some(Spread { statistic: test.f, p, over, test: "Brown-Forsythe" })
}

/// Levene's test: the distances of runs from the mean of their cell, compared between the levels of each of
/// several factors; levels of one factor are the cells.
fn over_factors(problem: &Problem, cells: &[Vec<usize>]) -> Option<Spread> {
    let factors = levels_of_cells(problem, cells);
    if factors.len() < 2 {
        return None;
    }
    let f_of = |codes: &[usize], groups: &[Vec<f64>]| {
        let at = codes.iter().zip(groups).flat_map(|(code, own)| vec![*code; own.len()]);
        f_between(&at.collect::<Vec<usize>>(), &distances(groups))
    };
    let largest = |groups: &[Vec<f64>]| {
        let all = factors.iter().filter_map(|(name, codes)| Some((name, f_of(codes, groups)?)));
        all.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let groups = values_of(problem, cells);
    let (name, statistic) = largest(&groups)?;
    let p = simulated_p_of_groups(&groups, |groups| Some(largest(groups)?.1))?;
    let over = format!("over the levels of {name}");
    Some(Spread { statistic, p, over, test: "Levene, the largest F of all factors" })
}

/// The distances of pairs compared between the levels of each factor: the largest F of all.
fn over_pairs(problem: &Problem, cells: &[Vec<usize>]) -> Option<Spread> {
    let factors = levels_of_cells(problem, cells);
    let statistic = |pairs: &[Vec<f64>]| {
        let distances: Vec<f64> = pairs.iter().map(|own| (own[0] - own[1]).abs()).collect();
        let all = factors.iter().filter_map(|(_, codes)| f_between(codes, &distances));
        all.max_by(f64::total_cmp)
    };
    let pairs = values_of(problem, cells);
    let p = simulated_p_of_groups(&pairs, statistic)?;
    let over = format!(
        "between the levels of factors, by the distances of {} pairs of runs; two runs a cell \
         cannot show more",
        cells.len()
    );
    Some(Spread { statistic: statistic(&pairs)?, p, over, test: "largest F of the distances" })
}

/// The response in each cell.
fn values_of(problem: &Problem, cells: &[Vec<usize>]) -> Vec<Vec<f64>> {
    cells.iter().map(|own| own.iter().map(|&row| problem.y[row]).collect()).collect()
}

/// Every factor with the level that each cell has of it.
fn levels_of_cells<'a>(problem: &'a Problem, cells: &[Vec<usize>]) -> Vec<(&'a str, Vec<usize>)> {
    let mains = problem.terms.iter().filter(|term| term.len() == 1);
    let factors = mains.map(|term| &problem.variables[term[0]]).filter(|own| own.is_factor());
    let levels = |codes: &[usize]| cells.iter().map(|own| codes[own[0]]).collect();
    factors.map(|own| (own.name.as_str(), levels(&own.codes))).collect()
}

/// How far each value lies from the mean of its group, one group after the other.
fn distances(groups: &[Vec<f64>]) -> Vec<f64> {
    let from_middle = |own: &Vec<f64>| {
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        own.iter().map(|value| (value - mean).abs()).collect::<Vec<f64>>()
    };
    groups.iter().flat_map(from_middle).collect()
}

/// F of values between groups.
fn f_between(codes: &[usize], values: &[f64]) -> Option<f64> {
    let mut groups = vec![Vec::new(); codes.iter().max()? + 1];
    codes.iter().zip(values).for_each(|(code, value)| groups[*code].push(*value));
    groups.retain(|own| !own.is_empty());
    one_way(&groups).ok().map(|found| found.f)
}

/// Brown and Forsythe's test of residuals over the levels of the largest factor.
fn over_levels(problem: &Problem, fitted: &Fitted) -> Option<Spread> {
    let fit = fitted.of_one_error();
    fit.log_likelihood?;
    let mains = problem.terms.iter().enumerate().filter_map(|(i, term)| match term.as_slice() {
        &[own] if problem.variables[own].is_factor() => {
            Some((own, row_of(&fitted.type_two, i).sum_sq?))
        }
        _ => None,
    });
    let largest = mains.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let variable = &problem.variables[largest.0];
    let statistic = |residuals: &[f64]| {
        let mut groups = vec![Vec::new(); variable.levels.len()];
        variable.codes.iter().zip(residuals).for_each(|(&code, own)| groups[code].push(*own));
        groups.retain(|own| own.len() > 2);
        brown_forsythe(&groups).ok().map(|found| (found.f, found.p))
    };
    let (f, table) = statistic(&fit.residuals)?;
    let p = p_of(fit, table, |residuals| Some(statistic(residuals)?.0))?;
    let over = format!("over the levels of {}", variable.name);
    Some(Spread { statistic: f, p, over, test: "Brown-Forsythe" })
}

/// Breusch and Pagan's test, where there are no groups to compare.
fn along_equation(fitted: &Fitted) -> Option<Spread> {
    let test = fitted.of_residuals.breusch_pagan?;
    let fit = fitted.of_one_error();
    let statistic = |residuals: &[f64]| {
        let squares: Vec<f64> = residuals.iter().map(|own| own * own).collect();
        let spread = sample::variance(&squares).ok().filter(|own| *own > 0.0)?;
        Some(1.0 - fit.decomposition().residual_squares(&squares) / spread)
    };
    let p = p_of(fit, test.p, statistic)?;
    let over = "along the equation".to_owned();
    Some(Spread { statistic: test.statistic, p, over, test: "Breusch-Pagan" })
}

/// The p-value of the table, or a simulated one where residuals are tied to each other.
fn p_of(fit: &Fit, table: f64, statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<f64> {
    if is_crowded(fit) {
        simulated_p(fit.decomposition(), &fit.residuals, statistic)
    } else {
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, table, two_by_two};

    /// Two groups of runs about 0, the second `times` as wide as the first.
    fn groups(runs: usize, times: f64) -> Check {
        let mut rows = Vec::new();
        for run in 0..runs {
            let off = (run as f64 - (runs - 1) as f64 / 2.0) / runs as f64;
            rows.push([0.0, off]);
            rows.push([1.0, times * off]);
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let (problem, fit) = fitted(&table("x,y", &rows), "y ~ x");
        equal_variance(&problem, &fit)
    }

    #[test]
    fn cells_of_many_runs_are_compared_by_brown_and_forsythes_test() {
        let same = groups(12, 1.0);
        assert_eq!(same.holds, Some(true));
        assert!(same.statistic.unwrap().abs() < 1e-9, "{same:?}");
        assert!(same.verdict.contains("of unequal spread over the 2 repeated cells"), "{same:?}");
        let wide = groups(12, 10.0);
        assert_eq!(wide.holds, Some(false));
        assert!(wide.verdict.contains("one residual standard deviation does not fit everywhere"));
    }

    #[test]
    fn pairs_of_runs_are_compared_by_their_distances() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a * b");
        let check = equal_variance(&problem, &fit);
        // Every pair is 1 apart, so no F exists.
        assert_eq!(check.verdict, "not checked: two runs a cell cannot show it");
        let apart = table(
            "a,b,y",
            &[
                &[1.0, 1.0, 0.0],
                &[1.0, 1.0, 1.0],
                &[1.0, 2.0, 0.0],
                &[1.0, 2.0, 1.5],
                &[2.0, 1.0, 0.0],
                &[2.0, 1.0, 3.0],
                &[2.0, 2.0, 0.0],
                &[2.0, 2.0, 4.0],
            ],
        );
        let (problem, fit) = fitted(&apart, "y ~ a * b");
        let check = equal_variance(&problem, &fit);
        // Distances 1 and 1.5 at a = 1, 3 and 4 at a = 2: F = 5.0625 / (0.625 / 2) = 16.2.
        assert!((check.statistic.unwrap() - 16.2).abs() < 1e-9, "{check:?}");
        assert!(check.verdict.contains("by the distances of 4 pairs of runs"), "{check:?}");
    }

    #[test]
    fn a_level_at_which_all_small_cells_are_wide_is_seen() {
        // Eight cells of three runs; at a = 2 they are four times as wide.
        let mut rows = Vec::new();
        for cell in 0..8u8 {
            let [a, b, c] = [0, 1, 2].map(|bit| f64::from(1 + (cell >> bit & 1)));
            for off in [-1.0, 0.1, 0.8] {
                let wide = if a > 1.0 { 4.0 } else { 1.0 };
                rows.push([a, b, c, wide * (off + 0.03 * f64::from(cell) * off)]);
            }
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 4]>::as_slice).collect();
        let (problem, fit) = fitted(&table("a,b,c,y", &rows), "y ~ a * b * c");
        let check = equal_variance(&problem, &fit);
        assert_eq!(check.holds, Some(false), "{check:?}");
        assert!(check.verdict.contains("differs over the levels of a"), "{check:?}");
    }

    #[test]
    fn f_between_groups_is_that_of_the_one_way_layout() {
        // Means 2 and 6 of two each: 16 between, 2 + 2 within over 2 degrees of freedom.
        assert_eq!(f_between(&[0, 0, 3, 3], &[1.0, 3.0, 5.0, 7.0]), Some(8.0));
        assert_eq!(f_between(&[0, 0], &[1.0, 3.0]), None, "one group has nothing between");
    }

    #[test]
    fn readings_without_repeats_are_judged_along_the_equation() {
        let rows: Vec<[f64; 2]> = (1..=60)
            .map(|at| [f64::from(at), f64::from(at) * if at % 2 == 0 { 1.0 } else { -1.0 }])
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let (problem, fit) = fitted(&table("x,y", &rows), "y ~ x");
        let check = equal_variance(&problem, &fit);
        assert_eq!(check.holds, Some(false));
        assert!(check.verdict.contains("differs along the equation (Breusch-Pagan)"), "{check:?}");
    }
}
