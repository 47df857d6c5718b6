//! Formulas in an order in which each follows those that it needs.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Expression, Metric};

/// The formulas of these metrics, each after those that it needs.
///
/// Formulas in a circle, and those that need them, are left out: a checked study has none.
pub(crate) fn formulas_in_order(metrics: &[Metric]) -> Vec<(&Metric, &Expression)> {
    let formulas: Vec<(&Metric, &Expression)> =
        metrics.iter().filter_map(|metric| Some((metric, metric.formula()?))).collect();
    let places: BTreeMap<&str, usize> =
        formulas.iter().enumerate().map(|(place, (metric, _))| (&*metric.name, place)).collect();
    let mut waiting: Vec<usize> = vec![0; formulas.len()];
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); formulas.len()];
    for (place, (_, formula)) in formulas.iter().enumerate() {
        for needed in formula.names().iter().filter_map(|name| places.get(name)) {
            waiting[place] += 1;
            needed_by[*needed].push(place);
        }
    }
    let mut ready: Vec<usize> = (0..formulas.len()).filter(|place| waiting[*place] == 0).collect();
    let mut next = 0;
    while let Some(&place) = ready.get(next) {
        next += 1;
        for &other in &needed_by[place] {
            waiting[other] -= 1;
            if waiting[other] == 0 {
                ready.push(other);
            }
        }
    }
    ready.into_iter().map(|place| formulas[place]).collect()
}

/// Whether the formula of a metric needs the metric itself, perhaps by way of others.
pub(crate) fn depends_on_itself(metric: &Metric, metrics: &BTreeMap<&str, &Metric>) -> bool {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&Metric> = vec![metric];
    while let Some(formula) = open.pop().map(Metric::formula) {
        for name in formula.into_iter().flat_map(Expression::names) {
            if name == metric.name {
                return true;
            }
            if seen.insert(name) {
                open.extend(metrics.get(name));
            }
        }
    }
    false
}
