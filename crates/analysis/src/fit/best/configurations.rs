//! Every configuration measured, with all its repeats, and how far its mean can be trusted.

use std::collections::BTreeMap;

use trainwright_stats::sample;

use crate::fit::analysis::Check;
use crate::fit::fitted::Fitted;
use crate::model::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::model::problem::Problem;
use crate::model::variable::Variable;

/// A configuration with the values of all its repeats.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Its observations.
    pub(crate) rows: Vec<usize>,
    pub(crate) mean: f64,
    /// Its values, less what their blocks add.
    pub(crate) values: Vec<f64>,
}

/// Whose repeats tell how far a mean may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spread {
    /// All configurations vary alike.
    Common { sigma: f64, df: f64 },
    /// Each has a standard deviation of its own, as in Welch's test.
    Own,
    /// Whole plots vary, and trials within them.
    Strata,
}

/// All configurations in the order of their first observation.
///
/// Repeats in several blocks are repeats of one configuration. What the equation finds that a block
/// adds is taken from its values, so that a configuration which ran in good blocks only is not
/// called good; over blocks that hold it equally often this leaves the plain mean.
pub(crate) fn configurations(problem: &Problem, fitted: &Fitted) -> Vec<Measured> {
    let added = added_by_blocks(problem, fitted);
    let is_set = |(place, v): &(usize, &Variable)| !v.is_block() && !problem.is_group_alone(*place);
    let factors: Vec<&Variable> =
        problem.variables.iter().enumerate().filter(is_set).map(|(_, own)| own).collect();
    let mut places = BTreeMap::new();
    let mut found: Vec<Measured> = Vec::new();
    for row in 0..problem.y.len() {
        let key: Vec<usize> = factors.iter().map(|v| v.codes[row]).collect();
        let place = *places.entry(key).or_insert(found.len());
        if place == found.len() {
            found.push(Measured { rows: Vec::new(), mean: 0.0, values: Vec::new() });
        }
        found[place].rows.push(row);
        found[place].values.push(problem.y[row] - added.get(row).copied().unwrap_or(0.0));
    }
    for own in &mut found {
        own.mean = sample::mean(&own.values).expect("every configuration has a value");
    }
    found
}

/// What the block of each observation adds to the mean of all blocks; empty without blocks.
fn added_by_blocks(problem: &Problem, fitted: &Fitted) -> Vec<f64> {
    let block = problem.terms.iter().position(|term| problem.has_block(term) && term.len() == 1);
    let Some(term) = block else { return Vec::new() };
    let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
    let rows = problem.y.len();
    let Ok(matrix) = ModelMatrix::new(&problem.variables, problem.equation(), scheme, rows) else {
        return Vec::new();
    };
    let mut added = vec![0.0; rows];
    for column in (0..matrix.columns.width()).filter(|&c| fitted.coded_terms()[c] == term + 1) {
        let estimate = fitted.coded_fit.coefficients[column].map_or(0.0, |own| own.estimate);
        for (sum, value) in added.iter_mut().zip(matrix.columns.column(column)) {
            *sum += estimate * value;
        }
    }
    added
}

/// How far means of configurations may be off; nothing without a measure of noise.
///
/// Where the equation misses terms, what it leaves is no noise, and only repeats tell. Whole plots
/// have two sources of noise, which no single standard deviation tells.
pub(crate) fn spread(
    problem: &Problem,
    fitted: &Fitted,
    checks: &[Check],
    measured: &[Measured],
) -> Option<Spread> {
    if !problem.groupings.is_empty() {
        return fitted.strata.is_some().then_some(Spread::Strata);
    }
    let fails = |name: &str| checks.iter().any(|c| c.name == name && c.holds == Some(false));
    // A doubt is enough: with standard deviations of their own little is lost where all are alike.
    let unequal = |c: &Check| c.name == "equal-variance" && c.p.is_some_and(|p| p < problem.alpha);
    if checks.iter().any(unequal) && measured.iter().all(|own| own.values.len() > 1) {
        return Some(Spread::Own);
    }
    let repeats = fitted.of_residuals.lack_of_fit.filter(|_| fails("lack-of-fit"));
    if let Some(test) = repeats.filter(|test| test.pure_error_df > 0) {
        let df = test.pure_error_df as f64;
        return Some(Spread::Common { sigma: (test.pure_error_ss / df).sqrt(), df });
    }
    let sigma = fitted.fit.sigma?;
    Some(Spread::Common { sigma, df: fitted.fit.df_residual as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::checks::unchecked;
    use crate::tests::{fitted, two_by_two};

    #[test]
    fn repeats_belong_to_their_configuration_in_the_order_of_the_first() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a + b");
        let found = configurations(&problem, &fit);
        let means: Vec<f64> = found.iter().map(|own| own.mean).collect();
        assert_eq!(means, [10.0, 16.0, 12.0, 22.0]);
        assert_eq!(found[2].rows, [4, 5]);
    }

    #[test]
    fn what_the_equation_misses_is_no_noise() {
        let (mut problem, fit) = fitted(&two_by_two(), "y ~ a + b");
        let measured = configurations(&problem, &fit);
        let check = |name, holds, p| Check { holds, p, ..unchecked(name, "") };
        // The equation leaves 10 over 5 degrees of freedom, of which repeats make up 2 over 4.
        let Some(Spread::Common { sigma, df }) = spread(&problem, &fit, &[], &measured) else {
            panic!("all vary alike");
        };
        assert!((sigma - 2f64.sqrt()).abs() < 1e-9 && df == 5.0);
        let failed = [check("lack-of-fit", Some(false), Some(0.001))];
        let Some(Spread::Common { sigma, df }) = spread(&problem, &fit, &failed, &measured) else {
            panic!("repeats vary alike");
        };
        assert!((sigma - 0.5f64.sqrt()).abs() < 1e-9 && df == 4.0);
        // A doubt about equal spread is enough to use that of each configuration.
        let doubtful = [check("equal-variance", Some(true), Some(0.04))];
        assert_eq!(spread(&problem, &fit, &doubtful, &measured), Some(Spread::Own));
        let sure = [check("equal-variance", Some(true), Some(0.06))];
        assert!(matches!(spread(&problem, &fit, &sure, &measured), Some(Spread::Common { .. })));
        problem.alpha = 0.01;
        assert!(matches!(
            spread(&problem, &fit, &doubtful, &measured),
            Some(Spread::Common { .. })
        ));
    }
}
