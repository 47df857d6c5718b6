//! How time falls with workers: speed-up, efficiency, and the laws of Amdahl, Gustafson, Gunther
//! and Ernest fitted to it.
//!
//! `points.rs` reads and groups the measurements, `laws.rs` fits, `fit_quality.rs` says how well,
//! `law_words.rs` puts laws into words, `judge.rs` draws the findings.
//! All fits are plain least squares with coefficients of at least zero; times are weighed alike.

mod fit_quality;
mod judge;
mod law_words;
mod laws;
mod points;

use serde::Serialize;

use crate::csv_table::Table;
use crate::error::AnalysisError;
use crate::findings::{Finding, sort};

pub use laws::{Law, LawFit, Parameter, Prediction};

/// What to fit.
#[derive(Debug, Clone)]
pub struct ScalingOptions {
    /// Column of the times.
    pub column: String,
    /// Column with the number of workers.
    pub workers: String,
    /// Column with the size of the problem; all the same size where absent.
    pub size: Option<String>,
    /// Numbers of workers to predict for.
    pub predict: Vec<f64>,
    /// Size to predict for; where absent the largest measured.
    pub predict_size: Option<f64>,
    /// One less the confidence of intervals.
    pub alpha: f64,
}

/// Speed-up, efficiency and fitted laws.
#[derive(Debug, Clone, Serialize)]
pub struct Scaling {
    /// Column of the times.
    pub response: String,
    /// Column with the number of workers.
    pub workers: String,
    /// Column with the size.
    pub size: Option<String>,
    /// One less the confidence of intervals.
    pub alpha: f64,
    /// Number of measurements.
    pub n: usize,
    /// One row a number of workers and size.
    pub rows: Vec<ScalingRow>,
    /// Amdahl's, Gustafson's, Gunther's and Ernest's law.
    pub fits: Vec<LawFit>,
    /// The law of the time that describes it best for its number of terms, by AICc.
    pub best_law: Option<Law>,
    /// What to keep in mind.
    pub findings: Vec<Finding>,
}

/// What one number of workers gives against the smallest.
#[derive(Debug, Clone, Serialize)]
pub struct ScalingRow {
    /// Number of workers.
    pub workers: f64,
    /// Size of the problem.
    pub size: Option<f64>,
    /// Number of measurements.
    pub n: usize,
    /// Mean time.
    pub mean: f64,
    /// Work per time over that of the first row.
    pub speed_up: f64,
    /// Lower end of its interval; absent without repeats.
    pub speed_up_low: Option<f64>,
    /// Upper end.
    pub speed_up_high: Option<f64>,
    /// Speed-up over the ratio of workers; 1 is perfect.
    pub efficiency: f64,
    /// Lower end of its interval.
    pub efficiency_low: Option<f64>,
    /// Upper end.
    pub efficiency_high: Option<f64>,
}

/// Fits the laws of scaling to a table of times.
///
/// # Errors
/// A column that is missing or not numeric, an empty cell, a time, size or number of workers that
/// is not positive, or one number of workers only.
pub fn scaling_of_table(table: &Table, options: &ScalingOptions) -> Result<Scaling, AnalysisError> {
    if !(options.alpha > 0.0 && options.alpha < 1.0) {
        return Err(AnalysisError::Alpha { alpha: options.alpha });
    }
    let points = points::read(table, options)?;
    let rows = points::rows(&points, options)?;
    let mut fits = laws::fit_all(&points, options)?;
    let slowdown = fit_quality::slowdown(&points, options.alpha);
    let doubts: Vec<Option<String>> = fits
        .iter()
        .map(|fit| fit_quality::doubt(fit, &fits, slowdown.as_ref(), options.alpha))
        .collect();
    for (fit, doubt) in fits.iter_mut().zip(doubts) {
        fit.text = law_words::in_words(fit, doubt.as_deref());
        fit.doubt = doubt.filter(|_| fit.not_fitted.is_none());
    }
    let best_law = fit_quality::best_law(&fits);
    let mut findings = judge::findings(&points, &rows, &fits, options);
    findings.extend(slowdown.map(|slow| judge::slowdown(&slow, &fits, options)));
    sort(&mut findings);
    Ok(Scaling {
        response: options.column.clone(),
        workers: options.workers.clone(),
        size: options.size.clone(),
        alpha: options.alpha,
        n: points.len(),
        rows,
        fits,
        best_law,
        findings,
    })
}
