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

/// Curvatures below this share of the largest coefficient are what rounding leaves of a plane.
const PLANE: f64 = 1e-13;

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
    let coefficients = fitted.curve.coefficients.iter();
    let bends = largest > PLANE * coefficients.fold(0.0f64, |most, own| most.max(own.abs()));
    let curved = bends && smallest > ROUNDING * largest;
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
    let kind = if !bends || smallest <= RIDGE * largest {
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

#[cfg(test)]
mod tests {
    use trainwright_study::Scale;

    use super::super::SurfaceProblem;
    use super::*;

    /// The surface of a function over a grid of three levels from -1 to 1 in both factors.
    fn over_grid(height: impl Fn(f64, f64) -> f64) -> Canonical {
        let points: Vec<Vec<f64>> =
            (0..9).map(|at| vec![f64::from(at % 3) - 1.0, f64::from(at / 3) - 1.0]).collect();
        let y = points.iter().map(|point| height(point[0], point[1])).collect();
        let problem = SurfaceProblem {
            response: "z".to_owned(),
            names: vec!["p".to_owned(), "q".to_owned()],
            scales: vec![Scale::Linear; 2],
            points,
            y,
            direction: None,
            alpha: 0.05,
        };
        canonical(&Quadratic::fit(&problem).unwrap(), 0.05).unwrap()
    }

    #[track_caller]
    fn check(found: &Canonical, kind: SurfaceKind, at: [f64; 2], curvatures: [f64; 2]) {
        assert_eq!(found.kind, kind);
        let stationary = found.stationary.as_ref().unwrap();
        assert!(
            stationary.iter().zip(at).all(|(own, at)| (own - at).abs() < 1e-9),
            "{stationary:?}"
        );
        for (own, expected) in found.curvatures.iter().zip(curvatures) {
            assert!((own.value - expected).abs() < 1e-9, "{}", own.value);
        }
    }

    #[test]
    fn a_hill_a_bowl_and_a_pass_are_told_apart() {
        let hill = over_grid(|x, y| 5.0 - (x - 0.5).powi(2) - 2.0 * (y + 0.25).powi(2));
        check(&hill, SurfaceKind::Maximum, [0.5, -0.25], [-1.0, -2.0]);
        let bowl = over_grid(|x, y| (x - 3.0).powi(2) + 4.0 * y * y);
        check(&bowl, SurfaceKind::Minimum, [3.0, 0.0], [4.0, 1.0]);
        // x y = ((x + y)^2 - (x - y)^2) / 4: curvatures 1/2 and -1/2 along the diagonals.
        let pass = over_grid(|x, y| x * y);
        check(&pass, SurfaceKind::Saddle, [0.0, 0.0], [0.5, -0.5]);
        let along = &pass.curvatures[0].direction;
        assert!((along[0] - along[1]).abs() < 1e-9, "{along:?}");
    }

    #[test]
    fn a_ridge_has_no_single_top_unless_it_bends_a_little() {
        let level = over_grid(|x, y| -(x + y).powi(2));
        assert_eq!(level.kind, SurfaceKind::Ridge);
        assert!(level.stationary.is_none());
        let nearly = over_grid(|x, y| -(x + y).powi(2) - 0.01 * (x - y).powi(2));
        assert_eq!(nearly.kind, SurfaceKind::Ridge);
        assert!(nearly.stationary.is_some());
        let plane = over_grid(|x, y| x + 2.0 * y);
        assert!(plane.stationary.is_none(), "a plane has no top");
        assert_eq!(plane.kind, SurfaceKind::Ridge);
        let high = over_grid(|x, y| 1e6 + x + 2.0 * y + 1e-3 * (x * x + y * y));
        assert_eq!(high.kind, SurfaceKind::Minimum, "a slight bend far up is no rounding");
    }
}
