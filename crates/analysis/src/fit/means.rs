//! Means by level, by pair of levels and by configuration.

use trainwright_stats::{StudentT, sample};
use trainwright_study::{Configuration, Direction, Level};

use crate::fit::analysis::{Best, CellMean, Interaction, LevelMean, MainEffect};
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
                    let values = chosen(problem, |row| variable.codes[row] == code);
                    let (mean, ci_low, ci_high) = mean_and_interval(&values, problem, fitted);
                    let level = variable.levels[code].clone();
                    LevelMean { level, mean, ci_low, ci_high, n: values.len() }
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

/// The cell with the best mean, if a direction is asked for.
pub(crate) fn best(problem: &Problem, fitted: &Fitted) -> Option<Best> {
    let direction = problem.direction?;
    let (cells, _) = problem.cells();
    let better = |a: f64, b: f64| match direction {
        Direction::Minimize => b.total_cmp(&a),
        Direction::Maximize => a.total_cmp(&b),
    };
    let means = problem
        .cell_values()
        .into_iter()
        .enumerate()
        .filter_map(|(cell, values)| Some((cell, sample::mean(&values).ok()?, values)));
    let (cell, mean, values) = means.max_by(|a, b| better(a.1, b.1))?;
    let row = cells.iter().position(|&c| c == cell).expect("every cell holds an observation");
    let (_, ci_low, ci_high) = mean_and_interval(&values, problem, fitted);
    let configuration = configuration_of(problem, row);
    Some(Best { configuration, mean, ci_low, ci_high, n: values.len(), direction })
}

/// Levels of all variables at an observation.
pub(crate) fn configuration_of(problem: &Problem, row: usize) -> Configuration {
    let level =
        |v: &Variable| -> (String, Level) { (v.name.clone(), v.levels[v.codes[row]].clone()) };
    let factors = problem.variables.iter().filter(|v| !v.is_block() && !v.is_power());
    Configuration::new(factors.map(level).collect())
}

fn chosen(problem: &Problem, keep: impl Fn(usize) -> bool) -> Vec<f64> {
    (0..problem.y.len()).filter(|&row| keep(row)).map(|row| problem.y[row]).collect()
}

/// Mean with an interval from the residual standard deviation of the fit.
fn mean_and_interval(
    values: &[f64],
    problem: &Problem,
    fitted: &Fitted,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    let mean = sample::mean(values).ok();
    let half = fitted.fit.sigma.map(|sigma| {
        let t = StudentT::new(fitted.fit.df_residual as f64)
            .and_then(|t| t.quantile(1.0 - 0.5 * problem.alpha))
            .expect("a fit with sigma has degrees of freedom, and alpha lies between 0 and 1");
        t * sigma / (values.len() as f64).sqrt()
    });
    let ends = mean.zip(half);
    (mean, ends.map(|(m, h)| m - h), ends.map(|(m, h)| m + h))
}
