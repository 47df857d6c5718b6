//! Metrics that are computed from others, from factors and from what the kernel measured.

use std::collections::BTreeMap;

use trainwright_study::{Expression, Metric, MetricSource, Usage, Value};

use super::{Gathered, Past};

/// Adds every formula whose metrics are there, in an order in which they are.
///
/// A formula that needs a metric without a value gets none itself; that metric is told already.
pub(crate) fn add_formulas(past: Past<'_>, gathered: &mut Gathered) {
    let mut open: Vec<(&Metric, &Expression)> = past
        .metrics
        .iter()
        .filter_map(|metric| match &metric.source {
            MetricSource::Expr { expr } => Some((metric, expr)),
            _ => None,
        })
        .collect();
    let is_metric = |name: &str| past.metrics.iter().any(|metric| metric.name == name);
    loop {
        let values = values(past, gathered);
        let ready = open.iter().position(|(_, expr)| {
            expr.names().iter().all(|name| !is_metric(name) || values.contains_key(*name))
        });
        let Some(ready) = ready else { break };
        let (metric, expr) = open.remove(ready);
        add_formula(metric, expr, &values, gathered);
    }
    if gathered.missing.is_empty() && gathered.diverged.is_none() {
        let circular = open.iter().map(|(metric, _)| {
            format!("metric `{}`: its formula needs metrics without a value", metric.name)
        });
        gathered.missing.extend(circular);
    }
}

fn add_formula(
    metric: &Metric,
    expr: &Expression,
    values: &BTreeMap<&str, Value>,
    gathered: &mut Gathered,
) {
    let formula = format!(" in `{expr}`");
    match expr.number(&|name: &str| values.get(name).cloned()) {
        Ok(value) if value.is_finite() => gathered.add_value(metric, value),
        Ok(value) => gathered.note_divergence(&metric.name, value, &formula),
        Err(error) => gathered.missing.push(format!("metric `{}`: {error}", metric.name)),
    }
}

/// All that a formula may name.
fn values<'a>(past: Past<'a>, gathered: &Gathered) -> BTreeMap<&'a str, Value> {
    let factors = past.configuration.iter().map(|(name, level)| (name, Value::from(level)));
    let mut values: BTreeMap<&str, Value> = factors.collect();
    values.extend(built_ins(past.usage).map(|(name, value)| (name, Value::Number(value))));
    for measurement in &gathered.measurements {
        let metric = past.metrics.iter().find(|metric| metric.name == measurement.metric);
        let name = metric.expect("a measurement is of a metric").name.as_str();
        values.insert(name, Value::Number(measurement.value));
    }
    values
}

fn built_ins(usage: &Usage) -> impl Iterator<Item = (&'static str, f64)> {
    let number = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    [
        ("wall_s", Some(usage.wall_s)),
        ("cpu_s", Some(usage.user_s + usage.system_s)),
        ("peak_memory_bytes", number(usage.peak_memory_bytes)),
        ("disk_read_bytes", number(usage.disk_read_bytes)),
        ("disk_write_bytes", number(usage.disk_write_bytes)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}
