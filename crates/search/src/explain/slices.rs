//! How the objective is expected to look along one factor, or over two, round the best.

use serde::Serialize;
use trainwright_stats::Normal;
use trainwright_study::{Configuration, Level};

use crate::{Goal, Space, Surrogate};

/// Places along a range.
const PLACES: u64 = 25;
/// Places along each side of a contour.
const CONTOUR_PLACES: usize = 15;
/// Share of values between the low and the high line.
const COVERAGE: f64 = 0.9;

/// The objective along one factor, all others at the best configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slice {
    /// The factor.
    pub factor: String,
    /// Points along it, in order.
    pub points: Vec<SlicePoint>,
}

/// A point of a slice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlicePoint {
    /// The factor's value.
    pub level: Level,
    /// The value expected of the objective.
    pub mean: f64,
    /// Nine in ten values lie above this.
    pub low: f64,
    /// Nine in ten values lie below this.
    pub high: f64,
}

/// The objective over two factors, all others at the best configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contour {
    /// The factor from left to right.
    pub across: String,
    /// The factor from bottom to top.
    pub up: String,
    /// Values of the first factor.
    pub across_levels: Vec<Level>,
    /// Values of the second factor.
    pub up_levels: Vec<Level>,
    /// The value expected of the objective: a row for each value of the second factor.
    pub means: Vec<Vec<f64>>,
}

/// Slices along all factors that the best configuration has.
pub fn slices(
    space: &Space,
    surrogate: &Surrogate,
    goal: &Goal,
    best: &Configuration,
) -> Vec<Slice> {
    let Some(centre) = space.point(best) else { return Vec::new() };
    let quantile = Normal.quantile(1.0 - (1.0 - COVERAGE) / 2.0).unwrap_or(1.645);
    let value = |scaled: f64| goal.value(surrogate.scale().value(scaled));
    let mut found = Vec::new();
    for (place, own) in space.dimensions().iter().enumerate() {
        if best.get(own.name()).is_none() {
            continue;
        }
        let mut points = Vec::new();
        for at in places(own.count(), PLACES) {
            let mut point = centre.clone();
            point[place] = at;
            let Some(features) = space.free_features(&point) else { continue };
            let posterior = surrogate.posteriors(&[features])[0];
            let spread = quantile * posterior.deviation;
            let (a, b) = (value(posterior.mean - spread), value(posterior.mean + spread));
            points.push(SlicePoint {
                level: own.level(at),
                mean: value(posterior.mean),
                low: a.min(b),
                high: a.max(b),
            });
        }
        found.push(Slice { factor: own.name().to_owned(), points });
    }
    found
}

/// The objective over two factors; nothing where the best configuration lacks one of them.
pub fn contour(
    space: &Space,
    surrogate: &Surrogate,
    goal: &Goal,
    best: &Configuration,
    factors: [&str; 2],
) -> Option<Contour> {
    let centre = space.point(best)?;
    let place = |name: &str| {
        best.get(name)?;
        space.dimensions().iter().position(|own| own.name() == name)
    };
    let (across, up) = (place(factors[0])?, place(factors[1])?);
    let along = |own: usize| places(space.dimensions()[own].count(), CONTOUR_PLACES as u64);
    let (columns, rows) = (along(across), along(up));
    let value = |scaled: f64| goal.value(surrogate.scale().value(scaled));
    let mut means = Vec::with_capacity(rows.len());
    for row in &rows {
        let points: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| {
                let mut point = centre.clone();
                (point[across], point[up]) = (*column, *row);
                space.free_features(&point)
            })
            .collect::<Option<_>>()?;
        means.push(surrogate.posteriors(&points).iter().map(|own| value(own.mean)).collect());
    }
    let levels = |own: usize, all: &[f64]| -> Vec<Level> {
        all.iter().map(|at| space.dimensions()[own].level(*at)).collect()
    };
    Some(Contour {
        across: factors[0].to_owned(),
        up: factors[1].to_owned(),
        across_levels: levels(across, &columns),
        up_levels: levels(up, &rows),
        means,
    })
}

/// Places along a factor: one for each of a few values, else evenly spaced ones.
fn places(count: Option<u64>, most: u64) -> Vec<f64> {
    match count {
        Some(count) if count <= most => {
            (0..count).map(|place| (place as f64 + 0.5) / count as f64).collect()
        }
        _ => (0..most).map(|place| place as f64 / (most - 1) as f64).collect(),
    }
}
