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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{MetricSource, Pick};

    fn formula(name: &str, text: &str) -> Metric {
        let source = MetricSource::Expr { expr: Expression::parse(text).unwrap() };
        let name = name.to_owned();
        Metric { name, source, pick: Pick::Last, unit: None, range: None, objective: None }
    }

    fn names(metrics: &[Metric]) -> Vec<&str> {
        formulas_in_order(metrics).into_iter().map(|(metric, _)| &*metric.name).collect()
    }

    #[test]
    fn formulas_follow_what_they_need() {
        let metrics = [formula("c", "a + b"), formula("b", "a * x"), formula("a", "x")];
        assert_eq!(names(&metrics), ["a", "b", "c"]);
    }

    #[test]
    fn a_circle_and_what_needs_it_are_left_out() {
        let metrics =
            [formula("a", "b"), formula("b", "a"), formula("c", "b + 1"), formula("d", "x")];
        assert_eq!(names(&metrics), ["d"]);
        let by_name: BTreeMap<&str, &Metric> =
            metrics.iter().map(|metric| (&*metric.name, metric)).collect();
        let in_circle: Vec<bool> =
            metrics.iter().map(|metric| depends_on_itself(metric, &by_name)).collect();
        assert_eq!(in_circle, [true, true, false, false]);
    }

    proptest! {
        #[test]
        fn every_formula_without_a_circle_comes_after_its_needs(
            needs in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..4), 1..12),
            swap in any::<prop::sample::Index>(),
        ) {
            let mut metrics: Vec<Metric> = needs
                .iter()
                .enumerate()
                .map(|(place, own)| {
                    let earlier = own.iter().filter(|_| place > 0).map(|need| need.index(place));
                    let text: String = earlier.map(|need| format!("m{need} + ")).collect();
                    formula(&format!("m{place}"), &(text + "1"))
                })
                .collect();
            metrics.rotate_left(swap.index(needs.len()));
            let ordered = formulas_in_order(&metrics);
            prop_assert_eq!(ordered.len(), metrics.len());
            let mut seen = BTreeSet::new();
            for (metric, formula) in ordered {
                prop_assert!(formula.names().iter().all(|name| seen.contains(*name)));
                seen.insert(metric.name.as_str());
            }
        }
    }
}
