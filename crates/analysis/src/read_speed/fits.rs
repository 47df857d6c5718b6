//! Regressions of the pictures a second on the parameters: one at a time, straight and bent, and
//! all together.
//!
//! The data size is the product of batch size and batch number. Alone it is fitted like the
//! others; beside them it is their interaction.

use std::collections::BTreeSet;

use serde::Serialize;
use trainwright_stats::{Columns, Fit, StatsError, holm, lack_of_fit, least_squares, pearson};

use super::{PictureSource, SpeedRow, undefined};
use crate::error::AnalysisError;

/// Kinds of regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedModel {
    /// A straight line in one parameter.
    Linear,
    /// A parabola in one parameter.
    Quadratic,
    /// All parameters, each straight.
    JointLinear,
    /// All parameters and their squares.
    JointQuadratic,
}

/// One fitted regression.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedFit {
    /// What was read.
    pub source: PictureSource,
    /// Kind of regression.
    pub model: SpeedModel,
    /// The parameter; absent where all are in.
    pub parameter: Option<&'static str>,
    /// Readings.
    pub n: usize,
    /// Correlation with the parameter; for a straight line only.
    pub r: Option<f64>,
    /// Lower end of its 95 % interval.
    pub r_low: Option<f64>,
    /// Upper end.
    pub r_high: Option<f64>,
    /// Share of the variation explained.
    pub r2: f64,
    /// The same, penalised for the number of columns.
    pub adj_r2: Option<f64>,
    /// Residual standard deviation, pictures a second.
    pub sigma: Option<f64>,
    /// F of the whole equation.
    pub f: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// The p-value adjusted by Holm's method for all regressions of this kind.
    pub p_adjusted: Option<f64>,
    /// Residual degrees of freedom.
    pub df_residual: usize,
    /// Intercept first.
    pub coefficients: Vec<SpeedCoefficient>,
    /// Whether readings at the same levels scatter as much as about the equation; absent without
    /// repetitions or with a term for every level.
    pub lack_of_fit: Option<SpeedLackOfFit>,
}

/// One coefficient; figures are absent where other columns determine it.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedCoefficient {
    /// `(Intercept)`, a parameter or `parameter^2`.
    pub name: String,
    /// Change of the pictures a second for one more.
    pub estimate: Option<f64>,
    /// Standard error.
    pub std_error: Option<f64>,
    /// Two-sided p-value.
    pub p: Option<f64>,
    /// Lower end of the 95 % interval.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
}

/// Test of an equation against the scatter of repetitions.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedLackOfFit {
    /// F of the lack of fit.
    pub f: Option<f64>,
    /// Its p-value; a small one means that the shape of the equation is wrong.
    pub p: Option<f64>,
    /// Degrees of freedom of the lack of fit.
    pub df: usize,
    /// Degrees of freedom of the repetitions.
    pub pure_error_df: usize,
}

/// A parameter and how to read it from a row.
type Parameter = (&'static str, fn(&SpeedRow) -> f64);

/// The parameters of the field reports, and threads.
const PARAMETERS: [Parameter; 5] = [
    ("batch_size", |row| row.batch_size as f64),
    ("batch_number", |row| row.batch_number as f64),
    ("repetition", |row| row.repetition as f64),
    ("data_size", |row| row.images as f64),
    ("threads", |row| row.threads as f64),
];

/// All regressions, source by source.
pub(super) fn fit_all(rows: &[SpeedRow]) -> Result<Vec<SpeedFit>, AnalysisError> {
    let mut fits = Vec::new();
    for source in PictureSource::ALL {
        let own: Vec<&SpeedRow> = rows.iter().filter(|row| row.source == source).collect();
        fits.extend(fit_source(source, &own).map_err(undefined)?);
    }
    for model in [
        SpeedModel::Linear,
        SpeedModel::Quadratic,
        SpeedModel::JointLinear,
        SpeedModel::JointQuadratic,
    ] {
        let mut alike: Vec<&mut SpeedFit> =
            fits.iter_mut().filter(|fit| fit.model == model).collect();
        let adjusted = holm(&alike.iter().map(|fit| fit.p).collect::<Vec<_>>());
        alike.iter_mut().zip(adjusted).for_each(|(fit, p)| fit.p_adjusted = p);
    }
    Ok(fits)
}

fn fit_source(source: PictureSource, rows: &[&SpeedRow]) -> Result<Vec<SpeedFit>, StatsError> {
    let speed: Vec<f64> = rows.iter().map(|row| row.images_per_s).collect();
    let varied: Vec<Parameter> =
        PARAMETERS.into_iter().filter(|parameter| levels(rows, *parameter) > 1).collect();
    let bent: Vec<Parameter> =
        varied.iter().copied().filter(|parameter| levels(rows, *parameter) > 2).collect();
    if speed.len() < 3 || speed.iter().all(|value| *value == speed[0]) {
        return Ok(Vec::new());
    }
    let fit = Fitting { source, rows, speed: &speed };
    let mut fits = Vec::new();
    for &parameter in &varied {
        fits.push(fit.linear(parameter)?);
    }
    for &parameter in &bent {
        fits.push(fit.of(SpeedModel::Quadratic, Some(parameter.0), &[parameter], &[parameter])?);
    }
    if varied.len() > 1 {
        fits.push(fit.of(SpeedModel::JointLinear, None, &varied, &[])?);
        fits.push(fit.of(SpeedModel::JointQuadratic, None, &varied, &bent)?);
    }
    Ok(fits)
}

/// How many values a parameter takes.
fn levels(rows: &[&SpeedRow], (_, value): Parameter) -> usize {
    rows.iter().map(|row| value(row).to_bits()).collect::<BTreeSet<_>>().len()
}

/// The readings of one source.
struct Fitting<'a> {
    source: PictureSource,
    rows: &'a [&'a SpeedRow],
    speed: &'a [f64],
}

impl Fitting<'_> {
    fn linear(&self, parameter: Parameter) -> Result<SpeedFit, StatsError> {
        let mut fit = self.of(SpeedModel::Linear, Some(parameter.0), &[parameter], &[])?;
        let correlation = pearson(&self.column(parameter), self.speed)?;
        fit.r = Some(correlation.r);
        fit.r_low = correlation.interval.map(|[low, _]| low);
        fit.r_high = correlation.interval.map(|[_, high]| high);
        Ok(fit)
    }

    fn of(
        &self,
        model: SpeedModel,
        parameter: Option<&'static str>,
        straight: &[Parameter],
        squared: &[Parameter],
    ) -> Result<SpeedFit, StatsError> {
        let mut names = vec!["(Intercept)".to_owned()];
        names.extend(straight.iter().map(|(name, _)| (*name).to_owned()));
        names.extend(squared.iter().map(|(name, _)| format!("{name}^2")));
        let fit = self.least_squares(straight, squared)?;
        let coefficients = names.into_iter().enumerate();
        let coefficients = coefficients.map(|(at, name)| coefficient(&fit, at, name));
        Ok(SpeedFit {
            source: self.source,
            model,
            parameter,
            n: self.rows.len(),
            r: None,
            r_low: None,
            r_high: None,
            r2: fit.r2,
            adj_r2: fit.adj_r2,
            sigma: fit.sigma,
            f: fit.test.map(|test| test.f),
            p: fit.test.map(|test| test.p),
            p_adjusted: None,
            df_residual: fit.df_residual,
            coefficients: coefficients.collect::<Result<_, _>>()?,
            lack_of_fit: self.lack_of_fit(straight, squared)?,
        })
    }

    fn least_squares(
        &self,
        straight: &[Parameter],
        squared: &[Parameter],
    ) -> Result<Fit, StatsError> {
        let mut columns = vec![vec![1.0; self.rows.len()]];
        columns.extend(straight.iter().map(|parameter| self.column(*parameter)));
        columns.extend(squared.iter().map(|parameter| {
            let column = self.column(*parameter);
            column.into_iter().map(|value| value * value).collect()
        }));
        least_squares(&Columns::new(columns)?, self.speed)
    }

    fn column(&self, (_, value): Parameter) -> Vec<f64> {
        self.rows.iter().map(|row| value(row)).collect()
    }

    /// Readings with the same levels of all parameters in the equation are repetitions. Among all
    /// parameters the repetition itself is left out, or there would be none.
    fn lack_of_fit(
        &self,
        straight: &[Parameter],
        squared: &[Parameter],
    ) -> Result<Option<SpeedLackOfFit>, StatsError> {
        let kept = |parameters: &[Parameter]| -> Vec<Parameter> {
            let joint = straight.len() > 1;
            let own = parameters.iter().copied();
            own.filter(|(name, _)| !joint || *name != "repetition").collect()
        };
        let (straight, squared) = (kept(straight), kept(squared));
        let key = |row: &SpeedRow| -> Vec<u64> {
            straight.iter().map(|(_, value)| value(row).to_bits()).collect()
        };
        let keys: BTreeSet<Vec<u64>> = self.rows.iter().map(|row| key(row)).collect();
        let keys: Vec<Vec<u64>> = keys.into_iter().collect();
        let cell =
            |row: &&SpeedRow| keys.binary_search(&key(row)).expect("every row's key was collected");
        let cells: Vec<usize> = self.rows.iter().map(cell).collect();
        let fit = self.least_squares(&straight, &squared)?;
        Ok(match lack_of_fit(self.speed, &cells, fit.ss_residual, fit.df_residual) {
            Ok(found) => Some(SpeedLackOfFit {
                f: found.f,
                p: found.p,
                df: found.df,
                pure_error_df: found.pure_error_df,
            }),
            Err(StatsError::Undefined { .. }) => None,
            Err(error) => return Err(error),
        })
    }
}

fn coefficient(fit: &Fit, at: usize, name: String) -> Result<SpeedCoefficient, StatsError> {
    let own = fit.coefficients[at];
    let interval = fit.interval(at, 0.95)?;
    Ok(SpeedCoefficient {
        name,
        estimate: own.map(|own| own.estimate),
        std_error: own.and_then(|own| own.std_error),
        p: own.and_then(|own| own.p),
        ci_low: interval.map(|[low, _]| low),
        ci_high: interval.map(|[_, high]| high),
    })
}
