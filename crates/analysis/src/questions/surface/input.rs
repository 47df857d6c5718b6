//! What a surface is fitted to, out of a table or a study.

use trainwright_study::{Direction, Factor, Level, Observation, Scale, Study, TrialState};

use super::{Surface, SurfaceProblem, fit};
use crate::csv_table::Table;
use crate::csv_table::columns::numbers;
use crate::error::AnalysisError;

/// Fewest levels of a factor that can show curvature.
const FEWEST_LEVELS: usize = 3;

/// What to fit.
#[derive(Debug, Clone)]
pub struct SurfaceOptions {
    /// Column of the response.
    pub column: String,
    /// Columns of the factors.
    pub factors: Vec<String>,
    /// Whether a small or a large response is good, if either is.
    pub direction: Option<Direction>,
    /// One less the confidence of intervals.
    pub alpha: f64,
}

/// Fits a full quadratic over numeric columns. Rows without a response are left out.
///
/// # Errors
/// A column that is missing or not numeric, an empty cell of a factor, a factor with fewer than
/// three values, or too few points to tell the terms apart.
pub fn surface_of_table(table: &Table, options: &SurfaceOptions) -> Result<Surface, AnalysisError> {
    let response = numbers(table, &options.column)?;
    let columns =
        options.factors.iter().map(|name| numbers(table, name)).collect::<Result<Vec<_>, _>>()?;
    let (mut points, mut y) = (Vec::new(), Vec::new());
    for (row, value) in response.iter().enumerate().filter_map(|(row, v)| Some((row, (*v)?))) {
        let cell = |(name, column): (&String, &&[Option<f64>])| {
            let (line, column_name) = (table.line(row), name.clone());
            column[row].ok_or(AnalysisError::EmptyFactor { line, column: column_name })
        };
        points.push(options.factors.iter().zip(&columns).map(cell).collect::<Result<_, _>>()?);
        y.push(value);
    }
    let problem = SurfaceProblem {
        response: options.column.clone(),
        names: options.factors.clone(),
        scales: vec![Scale::Linear; options.factors.len()],
        points,
        y,
        direction: options.direction,
        alpha: options.alpha,
    };
    if let Some(place) = (0..problem.names.len()).find(|&k| levels(&problem, k) < FEWEST_LEVELS) {
        let (factor, found) = (problem.names[place].clone(), levels(&problem, place));
        return Err(AnalysisError::TooFewLevels { factor, found });
    }
    fit(&problem)
}

/// The surface over a study's numeric factors, where its design supports one: every factor is
/// numeric with three levels or more, and the points tell the terms of a quadratic apart.
///
/// # Errors
/// A finished trial without the response, or a response that cannot be fitted.
pub fn surface_of_study(
    study: &Study,
    observations: &[Observation],
) -> Result<Option<Surface>, AnalysisError> {
    let numeric = |factor: &Factor| factor.is_numeric() && factor.when.is_none();
    if !study.factors.iter().all(numeric) {
        return Ok(None);
    }
    let (mut points, mut y) = (Vec::new(), Vec::new());
    for own in observations.iter().filter(|o| o.state == TrialState::Finished) {
        let value = own.values.get(&study.analysis.response).ok_or_else(|| {
            let metric = study.analysis.response.clone();
            AnalysisError::MissingMetric { trial: own.trial, metric }
        })?;
        let level = |factor: &Factor| own.configuration.get(&factor.name).and_then(Level::number);
        let Some(point) = study.factors.iter().map(level).collect::<Option<Vec<f64>>>() else {
            return Ok(None);
        };
        points.push(point);
        y.push(*value);
    }
    let problem = SurfaceProblem {
        response: study.analysis.response.clone(),
        names: study.factors.iter().map(|factor| factor.name.clone()).collect(),
        scales: study.factors.iter().map(|factor| factor.scale).collect(),
        points,
        y,
        direction: Some(study.direction()),
        alpha: study.analysis.alpha,
    };
    if (0..problem.names.len()).any(|k| levels(&problem, k) < FEWEST_LEVELS) {
        return Ok(None);
    }
    match fit(&problem) {
        Ok(surface) => Ok(Some(surface)),
        Err(AnalysisError::NoSurface { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Different values of a factor.
fn levels(problem: &SurfaceProblem, factor: usize) -> usize {
    let mut values: Vec<f64> = problem.points.iter().map(|point| point[factor]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}
