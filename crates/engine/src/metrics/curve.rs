//! Learning curves: metrics that have more than one value.

use std::collections::BTreeSet;

use trainwright_study::{Metric, MetricSource, Series};

use super::reported::STEP_KEYS;
use super::{Point, Reading, Reports};

/// The curve of a metric, if it has more than one value.
pub(crate) fn of_metric(metric: &Metric, reading: &Reading) -> Option<Series> {
    curve(&metric.name, metric.unit.as_deref().unwrap_or_default(), &reading.points)
}

/// Curves of the reported keys that are no metrics, such as a loss printed on the way.
pub(crate) fn of_other_keys(
    metrics: &[Metric],
    reports: &Reports,
    curves: &[Series],
) -> Vec<Series> {
    let read: BTreeSet<&str> = metrics.iter().filter_map(key).chain(STEP_KEYS).collect();
    let named: BTreeSet<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let mut others: Vec<Series> = Vec::new();
    for (key, points) in reports.file.columns().chain(reports.stdout.columns()) {
        let name = format!("metric.{key}");
        let taken = curves.iter().chain(&others).any(|series| series.name == name);
        if !taken && !read.contains(key) && !named.contains(key) {
            others.extend(curve(key, "", points));
        }
    }
    others
}

fn key(metric: &Metric) -> Option<&str> {
    match &metric.source {
        MetricSource::Reported { key }
        | MetricSource::Jsonl { key }
        | MetricSource::Stdout { key } => Some(key),
        _ => None,
    }
}

/// A curve over the steps; over the number of the report where no value has a step.
///
/// A value without a step among others that have one, such as a final summary, is no point of
/// the curve. Neither is one that is not finite, which the trial's outcome tells.
fn curve(name: &str, unit: &str, points: &[Point]) -> Option<Series> {
    let counted = points.iter().all(|point| point.step.is_none());
    let mut positions: Vec<(f64, f64)> = points
        .iter()
        .enumerate()
        .filter(|(_, point)| point.value.is_finite())
        .filter_map(|(index, point)| {
            let number = counted.then_some((index + 1) as f64);
            Some((point.step.or(number)?, point.value))
        })
        .collect();
    if positions.len() < 2 {
        return None;
    }
    positions.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (at, values) = positions.into_iter().unzip();
    let axis = if counted { "report" } else { "step" };
    Some(Series {
        name: format!("metric.{name}"),
        axis: axis.to_owned(),
        unit: unit.to_owned(),
        at,
        values,
    })
}
