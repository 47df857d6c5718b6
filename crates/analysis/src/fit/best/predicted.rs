//! The best combination of levels by the equation, whether it was run or not.

use trainwright_stats::StudentT;
use trainwright_study::{Configuration, Direction, Level};

use crate::fit::analysis::PredictedBest;
use crate::fit::fitted::Fitted;
use crate::model::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::model::problem::Problem;
use crate::model::variable::Variable;

/// Combinations that are all predicted; of more, those that can be reached from the best measured
/// by bettering one factor at a time.
const MOST_COMBINATIONS: usize = 50_000;

/// Largest difference from a combination of the rows at which a row counts as predictable.
const ESTIMABLE: f64 = 1e-6;

/// The best combination by the equation; nothing where the equation is not one of factors.
pub(crate) fn predicted(
    problem: &Problem,
    fitted: &Fitted,
    measured: &Configuration,
) -> Option<PredictedBest> {
    let grid = Grid::new(problem)?;
    let predictor = Predictor::new(problem, fitted)?;
    let start = grid.codes_of(problem, measured)?;
    let sign = match problem.direction? {
        Direction::Minimize => -1.0,
        Direction::Maximize => 1.0,
    };
    let all_looked_at = grid.combinations().is_some_and(|count| count <= MOST_COMBINATIONS);
    let first = predictor.at(&grid, problem, std::slice::from_ref(&start))?.remove(0)?;
    let mut search = Search { sign, best: (start, first), beyond: 0 };
    if all_looked_at {
        let all = grid.all();
        search.take(&all, predictor.at(&grid, problem, &all)?);
    } else {
        loop {
            let near = grid.neighbours(&search.best.0);
            if !search.take(&near, predictor.at(&grid, problem, &near)?) {
                break;
            }
        }
    }
    let Search { best: (codes, found), beyond, .. } = search;
    let ends = found.half.map(|half| problem.in_range([found.mean - half, found.mean + half]));
    let configuration = grid.configuration(problem, &codes);
    Some(PredictedBest {
        measured: grid.times_run(problem, &codes),
        same: configuration.same_as(measured),
        configuration,
        mean: problem.in_range([found.mean, found.mean])[0],
        low: ends.map(|own| own[0]),
        high: ends.map(|own| own[1]),
        combinations: grid.combinations(),
        all_looked_at,
        beyond_prediction: if all_looked_at { beyond } else { 0 },
        shrunken: true,
    })
}

/// The best combination so far.
struct Search {
    /// 1 where more is better, -1 where less is.
    sign: f64,
    best: (Vec<usize>, Prediction),
    /// Combinations that could not be predicted.
    beyond: usize,
}

impl Search {
    /// Takes the best of some combinations if it is better; whether it was.
    ///
    /// A gain within rounding is none, so that terms shrunken to nothing move nothing.
    fn take(&mut self, candidates: &[Vec<usize>], predictions: Vec<Option<Prediction>>) -> bool {
        let mut moved = false;
        for (codes, found) in candidates.iter().zip(predictions) {
            let Some(found) = found else {
                self.beyond += 1;
                continue;
            };
            let best = self.best.1.mean;
            if self.sign * (found.mean - best) > 1e-12 * best.abs().max(found.mean.abs()) {
                self.best = (codes.clone(), found);
                moved = true;
            }
        }
        moved
    }
}

/// The levels that ran, of every factor.
struct Grid {
    /// Places of the factors among the variables.
    factors: Vec<usize>,
    /// Levels of each that ran, with an observation at each.
    levels: Vec<Vec<(usize, usize)>>,
}

impl Grid {
    /// Nothing where a variable is computed from others, so that its value does not follow.
    fn new(problem: &Problem) -> Option<Self> {
        let variables = &problem.variables;
        let plain = |v: &Variable| v.is_block() || v.is_power() || v.is_factor() || v.raw.is_some();
        let computed = |v: &Variable| !v.is_power() && v.name.contains(['(', '^']);
        if variables.iter().any(|v| !plain(v) || computed(v)) {
            return None;
        }
        let factors: Vec<usize> = (0..variables.len())
            .filter(|&at| !variables[at].is_block() && !variables[at].is_power())
            .filter(|&at| !problem.is_group_alone(at))
            .collect();
        let levels = factors.iter().map(|&at| seen(&variables[at])).collect();
        (!factors.is_empty()).then_some(Self { factors, levels })
    }

    /// Number of combinations, where it can be counted.
    fn combinations(&self) -> Option<usize> {
        self.levels.iter().try_fold(1usize, |product, own| product.checked_mul(own.len()))
    }

    fn all(&self) -> Vec<Vec<usize>> {
        let mut rows: Vec<Vec<usize>> = vec![vec![]];
        for own in &self.levels {
            rows = rows
                .into_iter()
                .flat_map(|row| {
                    own.iter().map(move |&(code, _)| [row.as_slice(), &[code]].concat())
                })
                .collect();
        }
        rows
    }

    /// Combinations that differ in one factor.
    fn neighbours(&self, from: &[usize]) -> Vec<Vec<usize>> {
        let mut rows = Vec::new();
        for (place, own) in self.levels.iter().enumerate() {
            for &(code, _) in own.iter().filter(|level| level.0 != from[place]) {
                let mut row = from.to_vec();
                row[place] = code;
                rows.push(row);
            }
        }
        rows
    }

    fn codes_of(&self, problem: &Problem, configuration: &Configuration) -> Option<Vec<usize>> {
        let code = |&at: &usize| {
            let variable = &problem.variables[at];
            let level = configuration.get(&variable.name)?;
            variable.levels.iter().position(|own| own.same_as(level))
        };
        self.factors.iter().map(code).collect()
    }

    fn configuration(&self, problem: &Problem, codes: &[usize]) -> Configuration {
        let pair = |(&at, &code): (&usize, &usize)| -> (String, Level) {
            let variable = &problem.variables[at];
            (variable.name.clone(), variable.levels[code].clone())
        };
        Configuration::new(self.factors.iter().zip(codes).map(pair).collect())
    }

    fn times_run(&self, problem: &Problem, codes: &[usize]) -> usize {
        let is = |row: &usize| {
            let mut pairs = self.factors.iter().zip(codes);
            pairs.all(|(&at, &code)| problem.variables[at].codes[*row] == code)
        };
        (0..problem.y.len()).filter(is).count()
    }

    /// The variables as they would be at these combinations; blocks and whole plots stay as they first were.
    fn variables(&self, problem: &Problem, rows: &[Vec<usize>]) -> Option<Vec<Variable>> {
        let place_of = |variable: &Variable| {
            let own = |&at: &usize| problem.variables[at].codes == variable.codes;
            self.factors.iter().position(own)
        };
        let at = |(place, variable): (usize, &Variable)| -> Option<Variable> {
            let sources: Vec<usize> = if variable.is_block() || problem.is_group_alone(place) {
                vec![0; rows.len()]
            } else {
                let place = place_of(variable)?;
                let source = |row: &Vec<usize>| {
                    self.levels[place].iter().find(|own| own.0 == row[place]).map(|own| own.1)
                };
                rows.iter().map(source).collect::<Option<_>>()?
            };
            Some(variable.at_rows(&sources))
        };
        problem.variables.iter().enumerate().map(at).collect()
    }
}

/// Levels of a variable that ran, each with its first observation.
fn seen(variable: &Variable) -> Vec<(usize, usize)> {
    let first = |code: usize| variable.codes.iter().position(|&own| own == code);
    (0..variable.levels.len()).filter_map(|code| Some((code, first(code)?))).collect()
}

struct Prediction {
    mean: f64,
    /// Half the width of the interval of one more trial.
    half: Option<f64>,
}

/// The equation in coded units, with every term shrunken towards nothing.
///
/// A combination chosen by its prediction is flattered by the noise of every term. Each term is
/// therefore multiplied by `1 - 1/F`, or left out below F = 1, as in the positive-part rule of James
/// and Stein; a term far above the noise stays as it is.
struct Predictor<'a> {
    fitted: &'a Fitted,
    /// Estimate of each column, shrunken.
    weights: Vec<f64>,
    /// Mean of each column over the observations.
    centre: Vec<f64>,
    mean: f64,
    /// t quantile times sigma.
    reach: Option<f64>,
    alpha: f64,
    blocks: Vec<bool>,
}

const SCHEME: Scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };

impl<'a> Predictor<'a> {
    fn new(problem: &Problem, fitted: &'a Fitted) -> Option<Self> {
        if problem.coding != Coding::Coded && !problem.is_hierarchical() {
            return None;
        }
        let n = problem.y.len();
        let matrix = ModelMatrix::new(&problem.variables, problem.equation(), SCHEME, n).ok()?;
        let terms = fitted.coded_terms();
        let share = |column: usize| match terms[column] {
            0 => 1.0,
            term => fitted.judged(term - 1).f.map_or(1.0, |f| (1.0 - 1.0 / f).max(0.0)),
        };
        let estimate = |c: usize| fitted.coded_fit.coefficients[c].map_or(0.0, |own| own.estimate);
        let mean_of = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
        let common = problem.groupings.is_empty();
        let reach = fitted.coded_fit.sigma.filter(|_| common).and_then(|sigma| {
            let t = StudentT::new(fitted.coded_fit.df_residual as f64).ok()?;
            Some(sigma * t.quantile(1.0 - 0.5 * problem.alpha).ok()?)
        });
        let of_block = |term: usize| term > 0 && problem.has_block(&problem.terms[term - 1]);
        Some(Self {
            fitted,
            weights: (0..terms.len()).map(|c| share(c) * estimate(c)).collect(),
            centre: matrix.columns.iter().map(mean_of).collect(),
            mean: mean_of(&problem.y),
            reach,
            alpha: problem.alpha,
            blocks: terms.iter().map(|&term| of_block(term)).collect(),
        })
    }

    /// Predictions at combinations; nothing at those that aliased terms leave open.
    fn at(
        &self,
        grid: &Grid,
        problem: &Problem,
        rows: &[Vec<usize>],
    ) -> Option<Vec<Option<Prediction>>> {
        let variables = grid.variables(problem, rows)?;
        let matrix = ModelMatrix::new(&variables, problem.equation(), SCHEME, rows.len()).ok()?;
        let values = |row: usize| -> Vec<f64> {
            let column = |c: usize| {
                if self.blocks[c] { self.centre[c] } else { matrix.columns.column(c)[row] }
            };
            (0..self.weights.len()).map(column).collect()
        };
        Some((0..rows.len()).map(|row| self.predict(&values(row))).collect())
    }

    fn predict(&self, values: &[f64]) -> Option<Prediction> {
        let leverage = self.fitted.coded_fit.decomposition().leverage_of(values, ESTIMABLE)?;
        let constant = self.fitted.coded_terms().iter().position(|&term| term == 0);
        let moved: f64 = (0..values.len())
            .filter(|&c| Some(c) != constant)
            .map(|c| self.weights[c] * (values[c] - self.centre[c]))
            .sum();
        let half = match &self.fitted.strata {
            Some(_) => self.half_in_strata(values),
            None => self.reach.map(|reach| reach * (1.0 + leverage).sqrt()),
        };
        Some(Prediction { mean: self.mean + moved, half })
    }

    /// The half width with the errors of the strata, for a trial in a whole plot of its own; the
    /// fewer degrees of freedom of the two parts count.
    fn half_in_strata(&self, values: &[f64]) -> Option<f64> {
        let mean = self.fitted.error_of_coded(values)?;
        let mut alone = vec![0.0; self.fitted.fit.residuals.len()];
        *alone.first_mut()? = 1.0;
        let trial = self.fitted.error_of(&alone)?;
        let t = StudentT::new(mean.df.min(trial.df)).ok()?.quantile(1.0 - 0.5 * self.alpha).ok()?;
        Some(t * mean.std_error.hypot(trial.std_error))
    }
}
