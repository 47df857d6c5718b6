//! What moving one variable does to the prediction, over all terms that it is part of.
//!
//! A variable may stand in several terms (`x`, `I(x^2)`, `x:z`), so no single coefficient tells
//! what it does. Predictions do: the variable is set to a level in every observation, the others
//! stay as they are, and the predictions are averaged.

use trainwright_stats::{StratumError, StudentT};
use trainwright_study::Level;

use crate::fit::analysis::{Turn, TurnKind};
use crate::fit::families::Family;
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
    let head = Family::of(problem, term).map_or(term, |own| own.head);
    if head != term || bends.map(columns).sum::<usize>() < 2 {
        return None;
    }
    let own = Bent::new(problem, fitted, &problem.variables[*index]);
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
struct Bent<'a> {
    problem: &'a Problem,
    fitted: &'a Fitted,
    variable: &'a Variable,
}

impl<'a> Bent<'a> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{fitted, table, two_by_two};

    /// Five levels of `x`, two runs each 0.2 apart, of a height that depends on `x`.
    fn curve(height: impl Fn(f64) -> f64) -> (Problem, Fitted) {
        let mut rows = Vec::new();
        for level in 0..5 {
            let x = f64::from(level);
            rows.push([x, height(x) - 0.1]);
            rows.push([x, height(x) + 0.1]);
        }
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        fitted(&table("x,y", &rows), "y ~ x + I(x^2)")
    }

    #[test]
    fn a_parabola_is_told_from_end_to_end_and_at_its_turn() {
        // (x - 1)^2 is 1 at 0, 9 at 4 and lowest, 0, at 1: 1 below the nearer end.
        let (problem, fit) = curve(|x| (x - 1.0).powi(2));
        let found = predicted_change(&problem, &fit, 0).unwrap();
        assert!((found.size - 8.0).abs() < 1e-9, "{}", found.size);
        let [low, high] = found.interval.unwrap();
        assert!(low < 8.0 && 8.0 < high && (low + high - 16.0).abs() < 1e-9);
        let turn = found.turn.unwrap();
        assert_eq!((turn.kind, turn.level), (TurnKind::Lowest, Level::of(1.0)));
        assert!(turn.mean.abs() < 1e-9 && (turn.beyond_both_ends - 1.0).abs() < 1e-9);
        assert!(predicted_change(&problem, &fit, 1).is_none(), "the square is told with its root");
    }

    #[test]
    fn a_peak_is_highest_and_a_bend_without_one_does_not_turn() {
        let (problem, fit) = curve(|x| -(x - 2.0).powi(2));
        let found = predicted_change(&problem, &fit, 0).unwrap();
        assert!(found.size.abs() < 1e-9, "both ends are alike");
        let turn = found.turn.unwrap();
        assert_eq!((turn.kind, turn.level), (TurnKind::Highest, Level::of(2.0)));
        assert!((turn.beyond_both_ends - 4.0).abs() < 1e-9);
        let (problem, fit) = curve(|x| x * x);
        assert!(predicted_change(&problem, &fit, 0).unwrap().turn.is_none());
    }

    #[test]
    fn a_turn_within_the_noise_is_none() {
        let (problem, fit) = curve(|x| 0.01 * (x - 1.0).powi(2));
        assert!(predicted_change(&problem, &fit, 0).unwrap().turn.is_none());
    }

    #[test]
    fn straight_lines_and_products_are_left_to_their_coefficients() {
        let (problem, fit) = fitted(&two_by_two(), "y ~ a * b");
        assert!((0..3).all(|term| predicted_change(&problem, &fit, term).is_none()));
    }

    #[test]
    fn of_very_many_levels_some_are_looked_at() {
        let rows: Vec<[f64; 2]> = (0..200).map(|at| [f64::from(at), f64::from(at % 7)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let (problem, fit) = fitted(&table("x,y", &rows), "y ~ x + I(x^2)");
        let family = Bent::new(&problem, &fit, &problem.variables[0]);
        assert_eq!(family.ends(), Some((0, 199)));
        let inner = family.inner_levels(0, 199);
        assert!(inner.len() <= MOST_LEVELS && inner.len() > MOST_LEVELS / 2, "{}", inner.len());
        assert_eq!(inner[0], 1);
        assert_eq!(family.inner_levels(5, 6), Vec::<usize>::new());
        assert_eq!(family.inner_levels(8, 5), [6, 7], "whichever end comes first");
    }
}
