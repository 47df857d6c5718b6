//! What moving one variable does to the prediction, over all terms that it is part of.
//!
//! A variable may stand in several terms (`x`, `I(x^2)`, `x:z`), so no single coefficient tells
//! what it does. Predictions do: the variable is set to a level in every observation, the others
//! stay as they are, and the predictions are averaged.

use trainwright_stats::{StratumError, StudentT};
use trainwright_study::Level;

use crate::fit::analysis::{Turn, TurnKind};
use crate::fit::fitted::Fitted;
use crate::model::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::model::problem::Problem;
use crate::model::variable::Variable;

/// Levels at which a turning point is looked for; of more levels that many are taken.
const MOST_LEVELS: usize = 41;

/// What moving a variable from its low to its high end does.
pub(crate) struct PredictedChange {
    pub(crate) size: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) turn: Option<Turn>,
}

/// The change of a term's variable, where several columns together tell of it; nothing for straight
/// lines and categories.
pub(crate) fn predicted_change(
    problem: &Problem,
    fitted: &Fitted,
    term: usize,
) -> Option<PredictedChange> {
    let [index] = problem.terms[term].as_slice() else { return None };
    let source = problem.variables[*index].source();
    let bends = problem
        .terms
        .iter()
        .filter(|own| own.as_slice().iter().all(|&v| problem.variables[v].source() == source));
    let columns = |own: &Vec<usize>| {
        problem.variables[own[0]].polynomials.as_ref().map_or(1, |own| own.columns.len())
    };
    let first = problem.terms.iter().position(
        |own| matches!(own.as_slice(), [v] if problem.variables[*v].source() == source),
    )?;
    if first != term || bends.map(columns).sum::<usize>() < 2 {
        return None;
    }
    let own = Family::new(problem, fitted, &problem.variables[*index]);
    let (low, high) = own.ends()?;
    let change = own.between(low, high)?;
    let half = change.error.and_then(|error| half_width(error, problem.alpha));
    let interval = half.map(|half| [change.size - half, change.size + half]);
    let turn = interval.and_then(|_| own.turn(low, high));
    Some(PredictedChange { size: change.size, interval, turn })
}

/// A difference of predictions, with its error where one can be measured.
#[derive(Clone, Copy)]
struct Difference {
    size: f64,
    error: Option<StratumError>,
}

/// Half the width of an interval that misses with chance `alpha`.
fn half_width(error: StratumError, alpha: f64) -> Option<f64> {
    let t = StudentT::new(error.df).and_then(|t| t.quantile(1.0 - 0.5 * alpha)).ok()?;
    Some(t * error.std_error)
}

/// A variable with all its powers and functions.
struct Family<'a> {
    problem: &'a Problem,
    fitted: &'a Fitted,
    variable: &'a Variable,
}

impl<'a> Family<'a> {
    fn new(problem: &'a Problem, fitted: &'a Fitted, variable: &'a Variable) -> Self {
        Self { problem, fitted, variable }
    }

    /// Observations at the low and the high end: -1 and +1 in coded units, where a design has them.
    fn ends(&self) -> Option<(usize, usize)> {
        let base = self.problem.variables.iter().find(|own| own.name == self.variable.source());
        let coded = base.unwrap_or(self.variable).coded.as_ref()?;
        let nearest = |end: f64| {
            let distance = |row: &usize| (coded[*row] - end).abs();
            (0..coded.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
        };
        Some((nearest(-1.0)?, nearest(1.0)?))
    }

    /// The averaged columns with the variable as it is in an observation.
    fn averages(&self, row: usize) -> Option<Vec<f64>> {
        let problem = self.problem;
        let set = |own: &Variable| {
            if own.source() == self.variable.source() {
                own.at_rows(&vec![row; own.codes.len()])
            } else {
                own.clone()
            }
        };
        let variables: Vec<Variable> = problem.variables.iter().map(set).collect();
        let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
        let rows = problem.y.len();
        let matrix = ModelMatrix::new(&variables, problem.equation(), scheme, rows).ok()?;
        Some(matrix.columns.iter().map(|own| own.iter().sum::<f64>() / rows as f64).collect())
    }

    /// Prediction at one observation's value less that at another's.
    fn between(&self, from: usize, to: usize) -> Option<Difference> {
        let (from, to) = (self.averages(from)?, self.averages(to)?);
        let weights: Vec<f64> = to.iter().zip(from).map(|(b, a)| b - a).collect();
        let size = self.fitted.coded_fit.weighted_sum(&weights)?.estimate;
        Some(Difference { size, error: self.fitted.error_of_coded(&weights) })
    }

    /// The level between the ends at which the prediction is higher, or lower, than at both by more
    /// than chance allows; the bound is Bonferroni's for all levels looked at.
    fn turn(&self, low: usize, high: usize) -> Option<Turn> {
        let inner = self.inner_levels(low, high);
        let chance = self.problem.alpha / (2 * inner.len().max(1)) as f64;
        let beyond = |row: usize| -> Option<(f64, usize)> {
            let steps = [self.between(low, row)?, self.between(high, row)?];
            let sure = |own: &Difference| {
                let half = own.error.and_then(|error| half_width(error, chance));
                half.is_some_and(|half| own.size.abs() > half)
            };
            let [a, b] = steps.map(|own| own.size);
            let least = if a > 0.0 { a.min(b) } else { a.max(b) };
            (steps.iter().all(sure) && a * b > 0.0).then_some((least, row))
        };
        let found = inner.into_iter().filter_map(beyond);
        let (gain, row) = found.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
        let kind = if gain > 0.0 { TurnKind::Highest } else { TurnKind::Lowest };
        let mean = self.fitted.coded_fit.weighted_sum(&self.averages(row)?)?.estimate;
        Some(Turn { kind, level: self.level_at(row), mean, beyond_both_ends: gain.abs() })
    }

    fn level_at(&self, row: usize) -> Level {
        let base = self.problem.variables.iter().find(|own| own.name == self.variable.source());
        let own = base.unwrap_or(self.variable);
        own.levels[own.codes[row]].clone()
    }

    /// An observation of each level between those of two others.
    fn inner_levels(&self, low: usize, high: usize) -> Vec<usize> {
        let codes = &self.variable.codes;
        let mut first: Vec<Option<usize>> = vec![None; self.variable.levels.len()];
        for (row, &code) in codes.iter().enumerate().rev() {
            first[code] = Some(row);
        }
        let ends = [codes[low].min(codes[high]), codes[low].max(codes[high])];
        let inner: Vec<usize> = (ends[0] + 1..ends[1]).filter_map(|code| first[code]).collect();
        let step = inner.len().div_ceil(MOST_LEVELS).max(1);
        inner.into_iter().step_by(step).collect()
    }
}
