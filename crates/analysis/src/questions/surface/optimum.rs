//! The best point of the region: the box of values tried, cut by the ball that holds all points.
//!
//! Projected gradient steps from every point tried, from the stationary point and from the ends
//! of the axes. A step of the inverse of the largest curvature never makes the point worse.

use trainwright_study::Direction;

use super::canonical::Canonical;
use super::quadratic::{Quadratic, row};

/// Steps from one start.
const MOST_STEPS: usize = 20_000;

/// A step shorter than this ends the walk.
const ARRIVED: f64 = 1e-13;

/// The coded point of the region with the best height.
pub(super) fn best(fitted: &Quadratic, form: &Canonical, direction: Direction) -> Vec<f64> {
    let sign = match direction {
        Direction::Maximize => 1.0,
        Direction::Minimize => -1.0,
    };
    let hill = Hill {
        slopes: fitted.slopes().iter().map(|s| sign * s).collect(),
        matrix: fitted.matrix().iter().map(|r| r.iter().map(|v| sign * v).collect()).collect(),
        radius: fitted.radius,
        step: step(fitted, form),
    };
    let height = |x: &Vec<f64>| sign * fitted.curve.combine(&row(x)).value;
    starts(fitted, form)
        .into_iter()
        .map(|start| hill.climb(&start))
        .max_by(|a, b| height(a).total_cmp(&height(b)))
        .expect("there is at least one start")
}

fn starts(fitted: &Quadratic, form: &Canonical) -> Vec<Vec<f64>> {
    let k = fitted.factors.len();
    let mut starts = fitted.points.clone();
    starts.sort_by(|a, b| a.partial_cmp(b).expect("coded points are finite"));
    starts.dedup();
    starts.push(vec![0.0; k]);
    starts.extend(form.stationary.clone());
    for axis in &form.curvatures {
        for sign in [-1.0, 1.0] {
            starts.push(axis.direction.iter().map(|v| sign * v).collect());
        }
    }
    starts
}

/// The inverse of the steepest change of slope, or a long step where there is none.
fn step(fitted: &Quadratic, form: &Canonical) -> f64 {
    let curvature = form.curvatures.iter().map(|c| 2.0 * c.value.abs()).fold(0.0, f64::max);
    let slope = fitted.slopes().iter().map(|s| s * s).sum::<f64>().sqrt();
    let steepest = curvature.max(0.1 * slope);
    if steepest > 0.0 { 1.0 / steepest } else { 1.0 }
}

struct Hill {
    slopes: Vec<f64>,
    matrix: Vec<Vec<f64>>,
    radius: f64,
    step: f64,
}

impl Hill {
    fn climb(&self, start: &[f64]) -> Vec<f64> {
        let mut x = project(start, self.radius);
        for _ in 0..MOST_STEPS {
            let ahead: Vec<f64> = self
                .slopes
                .iter()
                .zip(&self.matrix)
                .zip(&x)
                .map(|((slope, row), at)| {
                    let bend: f64 = row.iter().zip(&x).map(|(b, v)| b * v).sum();
                    at + self.step * (slope + 2.0 * bend)
                })
                .collect();
            let next = project(&ahead, self.radius);
            let moved = next.iter().zip(&x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            x = next;
            if moved < ARRIVED {
                break;
            }
        }
        x
    }
}

/// The nearest point of the region: x(m) = clamp(p / (1 + m)) with the smallest m >= 0 that brings
/// it into the ball, by the conditions of Karush, Kuhn and Tucker.
fn project(point: &[f64], radius: f64) -> Vec<f64> {
    let shrunk =
        |m: f64| -> Vec<f64> { point.iter().map(|v| (v / (1.0 + m)).clamp(-1.0, 1.0)).collect() };
    let length = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let boxed = shrunk(0.0);
    if length(&boxed) <= radius {
        return boxed;
    }
    let (mut low, mut high) = (0.0, length(point) / radius);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if length(&shrunk(middle)) > radius { low = middle } else { high = middle }
    }
    shrunk(high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_point_of_the_region_is_nearer_than_the_projection(
            point in prop::collection::vec(-3.0..3.0f64, 3),
            other in prop::collection::vec(-1.0..1.0f64, 3), radius in 1.0..1.8f64,
        ) {
            let length = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
            let near = project(&point, radius);
            prop_assert!(length(&near) <= radius + 1e-12 && near.iter().all(|v| v.abs() <= 1.0));
            prop_assume!(length(&other) <= radius);
            let distance = |x: &[f64]| {
                point.iter().zip(x).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            };
            prop_assert!(distance(&near) <= distance(&other) + 1e-9);
        }
    }
}
