//! Response surfaces: a full quadratic over numeric factors, its stationary point, and the best
//! point of the region tried.
//!
//! Factors are coded so that the lowest and highest value tried are -1 and +1, on a logarithmic
//! scale where the study says so. The region is that box, cut by the ball around its centre that
//! holds all points tried, so that corners which a central composite or Box-Behnken design leaves
//! out do not count. `quadratic.rs` fits, `canonical.rs` finds the stationary point, `optimum.rs`
//! the best point, `judge.rs` words it all.

mod canonical;
mod input;
mod judge;
mod optimum;
mod quadratic;

use serde::Serialize;
use trainwright_study::{Direction, Scale};

use crate::error::AnalysisError;
use crate::findings::Finding;

pub use input::{SurfaceOptions, surface_of_study, surface_of_table};

use canonical::canonical;
use quadratic::Quadratic;

/// Points of a contour grid along each side.
const GRID: usize = 21;

/// Numbers that a surface is fitted to.
pub(crate) struct SurfaceProblem {
    pub(crate) response: String,
    pub(crate) names: Vec<String>,
    pub(crate) scales: Vec<Scale>,
    /// Natural values, one row an observation.
    pub(crate) points: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) direction: Option<Direction>,
    pub(crate) alpha: f64,
}

/// A fitted quadratic surface.
#[derive(Debug, Clone, Serialize)]
pub struct Surface {
    /// What is explained.
    pub response: String,
    /// Observations in the fit.
    pub n: usize,
    /// One less the confidence of intervals.
    pub alpha: f64,
    /// Whether a small or a large response is good, if either is.
    pub direction: Option<Direction>,
    /// The factors, with the range tried.
    pub factors: Vec<SurfaceFactor>,
    /// Distance from the centre of the furthest point tried, in coded units.
    pub radius: f64,
    /// Terms of the quadratic in coded units.
    pub coefficients: Vec<SurfaceTerm>,
    /// Share of the variation explained.
    pub r2: Option<f64>,
    /// Residual standard deviation; absent without spare observations.
    pub sigma: Option<f64>,
    /// Residual degrees of freedom.
    pub df_residual: usize,
    /// p-value of lack of fit against repeats.
    pub lack_of_fit_p: Option<f64>,
    /// Kind of the surface around its stationary point.
    pub kind: SurfaceKind,
    /// Where the slope is zero; absent where the surface has no such single point.
    pub stationary: Option<SurfacePoint>,
    /// Curvatures along the surface's own axes, largest first.
    pub curvatures: Vec<Curvature>,
    /// The best point of the region; absent where no direction is asked for.
    pub optimum: Option<SurfacePoint>,
    /// Heights over every pair of factors.
    pub contours: Vec<Contour>,
    /// The surface in words.
    pub text: String,
    /// What to keep in mind.
    pub findings: Vec<Finding>,
}

/// A factor of a surface; coded 0 is the middle and 1 the half range, on its scale.
#[derive(Debug, Clone, Serialize)]
pub struct SurfaceFactor {
    /// The factor.
    pub name: String,
    /// How distances are measured.
    pub scale: Scale,
    /// Lowest value tried.
    pub low: f64,
    /// Highest value tried.
    pub high: f64,
}

/// A term of the quadratic.
#[derive(Debug, Clone, Serialize)]
pub struct SurfaceTerm {
    /// `(Intercept)`, `a`, `a:b` or `a^2`.
    pub term: String,
    /// Estimate in coded units.
    pub estimate: f64,
    /// Standard error.
    pub std_error: Option<f64>,
    /// Two-sided p-value.
    pub p: Option<f64>,
}

/// What a surface looks like around its stationary point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceKind {
    /// It falls in every direction.
    Maximum,
    /// It rises in every direction.
    Minimum,
    /// It rises in some directions and falls in others.
    Saddle,
    /// It is nearly level along some direction.
    Ridge,
}

/// A point of the surface.
#[derive(Debug, Clone, Serialize)]
pub struct SurfacePoint {
    /// Natural values, in the order of the factors.
    pub at: Vec<f64>,
    /// Coded values.
    pub coded: Vec<f64>,
    /// Height of the surface.
    pub value: f64,
    /// Lower end of the height's interval.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Whether the point lies in the region tried.
    pub inside: bool,
    /// Factors at the end of their range.
    pub at_edge_of: Vec<String>,
    /// Whether the point lies on the border of the region.
    pub on_border: bool,
}

/// Curvature along one of the surface's own axes.
#[derive(Debug, Clone, Serialize)]
pub struct Curvature {
    /// Eigenvalue of the quadratic part in coded units.
    pub value: f64,
    /// Lower end of its interval (Bisgaard and Ankenman, Technometrics 38, 1996).
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Direction in coded units, of length one.
    pub direction: Vec<f64>,
}

/// Heights over a grid of two factors, the others held.
#[derive(Debug, Clone, Serialize)]
pub struct Contour {
    /// Factor along the first side.
    pub x: String,
    /// Factor along the second side.
    pub y: String,
    /// Natural values along the first side.
    pub x_values: Vec<f64>,
    /// Natural values along the second side.
    pub y_values: Vec<f64>,
    /// Heights: one row a value of `y`.
    pub heights: Vec<Vec<f64>>,
    /// Natural values at which all factors are held, in their order.
    pub held: Vec<f64>,
}

/// Fits a surface.
pub(crate) fn fit(problem: &SurfaceProblem) -> Result<Surface, AnalysisError> {
    if !(problem.alpha > 0.0 && problem.alpha < 1.0) {
        return Err(AnalysisError::Alpha { alpha: problem.alpha });
    }
    let fitted = Quadratic::fit(problem)?;
    let form = canonical(&fitted, problem.alpha)?;
    // A surface that is all but level has its stationary point beyond any number.
    let within_numbers =
        |own: &SurfacePoint| own.at.iter().chain([&own.value]).all(|value| value.is_finite());
    let stationary = form
        .stationary
        .as_deref()
        .map(|at| point(&fitted, at, problem.alpha))
        .filter(within_numbers);
    let best = problem.direction.map(|direction| optimum::best(&fitted, &form, direction));
    let optimum = best.map(|at| point(&fitted, &at, problem.alpha));
    let held = match (&optimum, &stationary) {
        (Some(own), _) => own.coded.clone(),
        (None, Some(own)) if own.inside => own.coded.clone(),
        _ => vec![0.0; problem.names.len()],
    };
    let mut surface = Surface {
        response: problem.response.clone(),
        n: problem.y.len(),
        alpha: problem.alpha,
        direction: problem.direction,
        factors: fitted.factors.clone(),
        radius: fitted.radius,
        coefficients: fitted.terms(),
        r2: fitted.curve.r2,
        sigma: fitted.curve.variance.map(f64::sqrt),
        df_residual: fitted.curve.df,
        lack_of_fit_p: fitted.lack_of_fit(&problem.y),
        kind: form.kind,
        stationary,
        curvatures: form.curvatures,
        optimum,
        contours: contours(&fitted, &held),
        text: String::new(),
        findings: vec![],
    };
    surface.text = judge::in_words(&surface);
    surface.findings = judge::findings(&surface);
    Ok(surface)
}

fn point(fitted: &Quadratic, coded: &[f64], alpha: f64) -> SurfacePoint {
    let weights = quadratic::row(coded);
    let interval = fitted.curve.interval(&weights, alpha);
    let edge = |at: f64| (at.abs() - 1.0).abs() < 1e-6;
    let length = coded.iter().map(|v| v * v).sum::<f64>().sqrt();
    let at_edge_of: Vec<String> = fitted
        .factors
        .iter()
        .zip(coded)
        .filter(|(_, at)| edge(**at))
        .map(|(factor, _)| factor.name.clone())
        .collect();
    SurfacePoint {
        at: fitted.natural(coded),
        coded: coded.to_vec(),
        value: fitted.curve.combine(&weights).value,
        ci_low: interval.map(|i| i[0]),
        ci_high: interval.map(|i| i[1]),
        inside: fitted.holds(coded),
        on_border: !at_edge_of.is_empty() || (length - fitted.radius).abs() < 1e-6,
        at_edge_of,
    }
}

fn contours(fitted: &Quadratic, held: &[f64]) -> Vec<Contour> {
    let side: Vec<f64> = (0..GRID).map(|i| -1.0 + 2.0 * i as f64 / (GRID - 1) as f64).collect();
    let natural = |factor: usize| -> Vec<f64> {
        side.iter()
            .map(|&at| {
                let mut coded = held.to_vec();
                coded[factor] = at;
                fitted.natural(&coded)[factor]
            })
            .collect()
    };
    let height = |x: usize, y: usize, a: f64, b: f64| {
        let mut coded = held.to_vec();
        (coded[x], coded[y]) = (a, b);
        fitted.curve.combine(&quadratic::row(&coded)).value
    };
    let pairs = (0..held.len()).flat_map(|x| (x + 1..held.len()).map(move |y| (x, y)));
    pairs
        .map(|(x, y)| Contour {
            x: fitted.factors[x].name.clone(),
            y: fitted.factors[y].name.clone(),
            x_values: natural(x),
            y_values: natural(y),
            heights: side
                .iter()
                .map(|&b| side.iter().map(|&a| height(x, y, a, b)).collect())
                .collect(),
            held: fitted.natural(held),
        })
        .collect()
}
