//! Learning curves: metrics that have more than one value.

use std::collections::BTreeSet;

use trainwright_study::{Metric, MetricSource, Series};

use super::reported::STEP_KEYS;
use super::values::Values;
use super::{Reading, Reports};

/// The curve of a metric, if it has more than one value.
pub(crate) fn of_metric(metric: &Metric, reading: &Reading) -> Option<Series> {
    curve(&metric.name, metric.unit.as_deref().unwrap_or_default(), &reading.values)
}

/// Curves of the reported keys that are no metrics, such as a loss printed on the way.
pub(crate) fn of_other_keys(
    metrics: &[Metric],
    reports: &Reports,
    curves: &[Series],
) -> Vec<Series> {
    let read = metrics.iter().filter_map(key).chain(STEP_KEYS);
    let named = metrics.iter().map(|metric| metric.name.as_str());
    let drawn = curves.iter().filter_map(|series| series.name.strip_prefix("metric."));
    let mut taken: BTreeSet<&str> = read.chain(named).chain(drawn).collect();
    let mut others: Vec<Series> = Vec::new();
    for (key, values) in reports.file.columns().chain(reports.stdout.columns()) {
        if !taken.contains(key)
            && let Some(series) = curve(key, "", values)
        {
            taken.insert(key);
            others.push(series);
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
fn curve(name: &str, unit: &str, values: &Values) -> Option<Series> {
    let counted = values.iter().all(|(_, point)| point.step.is_none());
    let mut positions: Vec<(f64, f64)> = values
        .iter()
        .filter(|(_, point)| point.value.is_finite())
        .filter_map(|(number, point)| {
            let number = counted.then_some(number as f64);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Point;

    fn values(points: &[(f64, Option<f64>)]) -> Values {
        let mut values = Values::default();
        for (line, &(value, step)) in (1..).zip(points) {
            values.add(Point { line, text: "".into(), value, step });
        }
        values
    }

    fn drawn(points: &[(f64, Option<f64>)]) -> Option<(String, Vec<f64>, Vec<f64>)> {
        curve("loss", "", &values(points)).map(|own| (own.axis, own.at, own.values))
    }

    #[test]
    fn steps_are_put_in_order_and_a_summary_without_one_is_left_out() {
        let own = drawn(&[(3.0, Some(20.0)), (5.0, Some(10.0)), (1.0, None)]).unwrap();
        assert_eq!(own, ("step".to_owned(), vec![10.0, 20.0], vec![5.0, 3.0]));
    }

    #[test]
    fn where_nothing_has_a_step_reports_are_counted() {
        let (axis, at, values) = drawn(&[(3.0, None), (f64::NAN, None), (1.0, None)]).unwrap();
        assert_eq!((axis.as_str(), values), ("report", vec![3.0, 1.0]));
        assert_eq!(at[1] - at[0], 2.0, "what is not finite keeps its place");
    }

    #[test]
    fn one_finite_value_is_no_curve() {
        assert_eq!(drawn(&[(3.0, None)]), None);
        assert_eq!(drawn(&[(3.0, Some(1.0)), (f64::INFINITY, Some(2.0))]), None);
        assert_eq!(drawn(&[(3.0, Some(1.0)), (4.0, None)]), None);
    }
}
