//! The stationary point and the curvatures around it (Myers, Montgomery and Anderson-Cook,
//! Response Surface Methodology, 4th edition, section 6.3).

use trainwright_stats::symmetric_eigen;

use super::quadratic::Quadratic;
use super::{Curvature, SurfaceKind};
use crate::error::AnalysisError;

/// A curvature below this share of the largest makes a ridge.
const RIDGE: f64 = 0.05;

/// A curvature below this share of the largest is rounding.
const ROUNDING: f64 = 1e-10;

/// The surface in its own axes.
pub(super) struct Canonical {
    pub(super) kind: SurfaceKind,
    /// Coded; absent where the surface has no curvature along some axis.
    pub(super) stationary: Option<Vec<f64>>,
    pub(super) curvatures: Vec<Curvature>,
}

/// Finds the surface's own axes.
pub(super) fn canonical(fitted: &Quadratic, alpha: f64) -> Result<Canonical, AnalysisError> {
    let axes = symmetric_eigen(&fitted.matrix())
        .map_err(|source| AnalysisError::Stats { response: "the surface".to_owned(), source })?;
    let largest = axes.iter().map(|axis| axis.value.abs()).fold(0.0, f64::max);
    let smallest = axes.iter().map(|axis| axis.value.abs()).fold(f64::INFINITY, f64::min);
    let slopes = fitted.slopes();
    let curved = smallest > ROUNDING * largest && largest > 0.0;
    // Along each axis the slope vanishes at -slope / (2 curvature).
    let stationary = curved.then(|| {
        let mut at = vec![0.0; slopes.len()];
        for axis in &axes {
            let slope: f64 = axis.vector.iter().zip(slopes).map(|(v, s)| v * s).sum();
            let step = -0.5 * slope / axis.value;
            at.iter_mut().zip(&axis.vector).for_each(|(at, v)| *at += step * v);
        }
        at
    });
    let kind = if smallest <= RIDGE * largest {
        SurfaceKind::Ridge
    } else if axes.iter().all(|axis| axis.value < 0.0) {
        SurfaceKind::Maximum
    } else if axes.iter().all(|axis| axis.value > 0.0) {
        SurfaceKind::Minimum
    } else {
        SurfaceKind::Saddle
    };
    let curvatures = axes
        .into_iter()
        .map(|axis| {
            let weights = fitted.curvature_weights(&axis.vector);
            let interval = fitted.curve.interval(&weights, alpha);
            Curvature {
                value: axis.value,
                ci_low: interval.map(|i| i[0]),
                ci_high: interval.map(|i| i[1]),
                direction: axis.vector,
            }
        })
        .collect();
    Ok(Canonical { kind, stationary, curvatures })
}
