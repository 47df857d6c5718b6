//! Means by level, by pair of levels and by configuration.

use trainwright_stats::sample;
use trainwright_study::{Configuration, Level};

use crate::fit::analysis::{CellMean, Interaction, LevelMean, MainEffect};
use crate::fit::fitted::Fitted;
use crate::model::problem::Problem;
use crate::model::variable::Variable;

/// Means by the levels of every factor in the equation.
pub(crate) fn main_effects(problem: &Problem, fitted: &Fitted) -> Vec<MainEffect> {
    let used = |index: usize| problem.terms.iter().any(|t| t.contains(&index));
    let factors = problem.variables.iter().enumerate().filter(|(i, v)| used(*i) && v.is_factor());
    factors
        .map(|(_, variable)| MainEffect {
            factor: variable.name.clone(),
            levels: (0..variable.levels.len())
                .map(|code| {
                    let rows = rows_where(problem, |row| variable.codes[row] == code);
                    let (mean, ci_low, ci_high) = mean_and_interval(&rows, problem, fitted);
                    let level = variable.levels[code].clone();
                    LevelMean { level, mean, ci_low, ci_high, n: rows.len() }
                })
                .collect(),
        })
        .collect()
}

/// Means by pairs of levels, for every two-factor term.
pub(crate) fn interactions(problem: &Problem) -> Vec<Interaction> {
    let variables = &problem.variables;
    let pairs = problem.terms.iter().filter_map(|t| match t.as_slice() {
        &[a, b] if variables[a].is_factor() && variables[b].is_factor() => {
            Some((&variables[a], &variables[b]))
        }
        _ => None,
    });
    pairs
        .map(|(a, b)| Interaction {
            a: a.name.clone(),
            b: b.name.clone(),
            cells: pair_means(problem, a, b),
        })
        .collect()
}

fn pair_means(problem: &Problem, a: &Variable, b: &Variable) -> Vec<CellMean> {
    let mut cells = Vec::new();
    for (first, a_level) in a.levels.iter().enumerate() {
        for (second, b_level) in b.levels.iter().enumerate() {
            let values = chosen(problem, |row| a.codes[row] == first && b.codes[row] == second);
            cells.push(CellMean {
                a_level: a_level.clone(),
                b_level: b_level.clone(),
                mean: sample::mean(&values).ok(),
                n: values.len(),
            });
        }
    }
    cells
}

/// Levels of all variables at an observation.
pub(crate) fn configuration_of(problem: &Problem, row: usize) -> Configuration {
    let level =
        |v: &Variable| -> (String, Level) { (v.name.clone(), v.levels[v.codes[row]].clone()) };
    let is_set = |(place, v): &(usize, &Variable)| {
        !v.is_block() && !v.is_power() && !problem.is_group_alone(*place)
    };
    let factors = problem.variables.iter().enumerate().filter(is_set);
    Configuration::new(factors.map(|(_, variable)| level(variable)).collect())
}

fn chosen(problem: &Problem, keep: impl Fn(usize) -> bool) -> Vec<f64> {
    rows_where(problem, keep).into_iter().map(|row| problem.y[row]).collect()
}

fn rows_where(problem: &Problem, keep: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..problem.y.len()).filter(|&row| keep(row)).collect()
}

/// Mean of some observations with its interval, by the errors of the strata that they lie in.
fn mean_and_interval(
    rows: &[usize],
    problem: &Problem,
    fitted: &Fitted,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    let values: Vec<f64> = rows.iter().map(|&row| problem.y[row]).collect();
    let mean = sample::mean(&values).ok();
    let mut weights = vec![0.0; problem.y.len()];
    rows.iter().for_each(|&row| weights[row] = 1.0 / rows.len() as f64);
    let ends = mean.zip(fitted.half_width(&weights, problem.alpha));
    let ends = ends.map(|(m, h)| problem.in_range([m - h, m + h]));
    (mean, ends.map(|e| e[0]), ends.map(|e| e[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, problem, table, two_by_two};

    #[test]
    fn a_mean_has_the_interval_of_its_own_number_of_runs() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a * b");
        let found = main_effects(&problem, &fit);
        let names: Vec<&str> = found.iter().map(|own| own.factor.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let high = &found[0].levels[1];
        assert_eq!((high.mean, high.n), (Some(19.0), 4));
        // sigma = sqrt(0.5) with 4 degrees of freedom, over sqrt(4) runs.
        let half = 2.776_445_105 * 0.5f64.sqrt() / 2.0;
        assert!((high.ci_high.unwrap() - 19.0 - half).abs() < 1e-8);
    }

    #[test]
    fn an_interval_ends_where_the_response_ends() {
        let rows: [&[f64]; 4] = [&[1.0, 0.1], &[1.0, 0.3], &[2.0, 1.0], &[2.0, 0.8]];
        let (mut problem, fit) = fitted(&table("a,y", &rows), "y ~ a");
        problem.range = Some((0.0, 1.0));
        let high = main_effects(&problem, &fit)[0].levels[1].clone();
        assert_eq!(high.ci_high, Some(1.0));
        assert!(high.ci_low.unwrap() < 0.9);
    }

    #[test]
    fn pairs_that_never_ran_have_no_mean() {
        let own = problem(
            &table(
                "a,b,y",
                &[&[1.0, 1.0, 4.0], &[1.0, 1.0, 6.0], &[2.0, 1.0, 8.0], &[1.0, 2.0, 9.0]],
            ),
            "y ~ a * b",
        );
        let cells = &interactions(&own)[0].cells;
        let told: Vec<(Option<f64>, usize)> = cells.iter().map(|own| (own.mean, own.n)).collect();
        assert_eq!(told, [(Some(5.0), 2), (Some(9.0), 1), (Some(8.0), 1), (None, 0)]);
        assert!(interactions(&problem(&two_by_two(), "y ~ a + b")).is_empty());
    }

    #[test]
    fn a_configuration_names_what_was_set_and_no_computed_power() {
        let own = problem(&two_by_two(), "y ~ a + b");
        assert_eq!(configuration_of(&own, 3).to_string(), "a=2 b=10");
        let grouped = problem(&two_by_two(), "y ~ a + Error(b)");
        assert_eq!(configuration_of(&grouped, 7).to_string(), "a=2", "groups are not set");
    }
}
