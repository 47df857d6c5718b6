//! Metrics that are computed from others, from factors and from what the kernel measured.

use trainwright_study::derive;

use super::{Gathered, Past};

/// Adds every formula whose metrics are there.
///
/// A formula that needs a metric without a value gets none itself; that metric is told already.
pub(crate) fn add_formulas(past: Past<'_>, gathered: &mut Gathered) {
    let found = gathered.measurements.iter().map(|own| (own.metric.clone(), own.value));
    let derived = derive(past.metrics, past.configuration, Some(past.usage), &found.collect());
    gathered.measurements = derived.measurements(past.metrics);
    gathered.diverged = gathered.diverged.take().or(derived.diverged);
    let is_formula = |name: &str| {
        past.metrics.iter().any(|metric| metric.name == name && metric.formula().is_some())
    };
    let causes = derived.missing.into_iter().filter(|missing| missing.needs.is_none());
    let formulas = causes.filter(|missing| is_formula(&missing.metric));
    gathered.missing.extend(formulas.map(|missing| missing.reason));
}
