use super::*;
use crate::{Level, Pick};

fn metric(name: &str, source: MetricSource) -> Metric {
    let range = Some((0.0, 100.0));
    Metric { name: name.to_owned(), source, pick: Pick::Last, unit: None, range, objective: None }
}

fn reported(name: &str) -> Metric {
    metric(name, MetricSource::Reported { key: name.to_owned() })
}

fn formula(name: &str, text: &str) -> Metric {
    metric(name, MetricSource::Expr { expr: Expression::parse(text).unwrap() })
}

fn derived(metrics: &[Metric], measured: &[(&str, f64)]) -> Derived {
    let configuration = Configuration::new(vec![
        ("batch".to_owned(), Level::Integer(32)),
        ("optimizer".to_owned(), Level::Text("adam".to_owned())),
    ]);
    let measured = measured.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let usage = Usage { wall_s: 90.0, user_s: 2.0, system_s: 1.0, ..Usage::default() };
    derive(metrics, &configuration, Some(&usage), &measured)
}

fn failed(reason: &str) -> Outcome {
    Outcome::Failed { reason: reason.to_owned() }
}

#[test]
fn formulas_use_factors_metrics_and_the_kernels_figures_in_any_order() {
    let metrics = [
        formula("cost", "double * batch + wall_s + cpu_s"),
        formula("double", "2 * acc"),
        reported("acc"),
    ];
    let derived = derived(&metrics, &[("acc", 0.5)]);
    assert_eq!(derived.outcome(), Outcome::Finished);
    let measurements = derived.measurements(&metrics);
    let names: Vec<&str> = measurements.iter().map(|own| own.metric.as_str()).collect();
    assert_eq!(names, ["cost", "double", "acc"], "in the study's order");
    assert_eq!((measurements[0].value, measurements[0].in_range), (125.0, false));
    assert!(measurements[1].in_range);
}

#[test]
fn conditions_on_texts_are_no_numbers() {
    let derived = derived(&[formula("cost", "optimizer == 'adam'")], &[]);
    let words = "metric `cost`: `the whole` in `optimizer == 'adam'` wants a number";
    assert_eq!(derived.outcome(), failed(words));
}

#[test]
fn what_is_not_finite_has_diverged() {
    let metrics = [reported("acc"), formula("cost", "log(acc)"), formula("more", "cost + 1")];
    let derived = derived(&metrics, &[("acc", 0.0)]);
    let words = "metric `cost` was infinite in `log(acc)`";
    assert_eq!(derived.outcome(), Outcome::Diverged { reason: words.to_owned() });
    assert_eq!(derived.values, BTreeMap::from([("acc".to_owned(), 0.0)]));
    let [more] = &derived.missing[..] else { panic!("{:?}", derived.missing) };
    assert_eq!((&*more.metric, more.needs.as_deref()), ("more", Some("cost")));
}

#[test]
fn a_measured_value_that_is_not_finite_never_becomes_a_number() {
    let derived = derived(&[reported("acc")], &[("acc", f64::NAN)]);
    assert_eq!(derived.diverged.as_deref(), Some("metric `acc` was NaN"));
    assert!(derived.values.is_empty() && derived.missing.is_empty());
}

#[test]
fn division_by_zero_and_missing_figures_are_told() {
    let metrics =
        [reported("acc"), formula("cost", "1 / acc"), formula("memory", "peak_memory_bytes / 2")];
    let derived = derived(&metrics, &[("acc", 0.0)]);
    let words = "metric `cost`: division by zero in `1 / acc`\n\
                 metric `memory`: `peak_memory_bytes` has no value in `peak_memory_bytes / 2`";
    assert_eq!(derived.outcome(), failed(words));
}

#[test]
fn a_formula_without_its_metric_tells_only_the_cause() {
    let metrics = [formula("cost", "1 / acc"), formula("more", "cost * 2"), reported("acc")];
    let derived = derived(&metrics, &[]);
    let needs: Vec<_> = derived.missing.iter().map(|own| own.needs.as_deref()).collect();
    assert_eq!(needs, [Some("acc"), Some("cost"), None]);
    assert_eq!(derived.outcome(), failed("metric `acc`: it was not measured"));
}

#[test]
fn a_changed_formula_takes_effect_over_the_value_that_was_kept() {
    let derived =
        derived(&[reported("acc"), formula("cost", "3 * acc")], &[("acc", 2.0), ("cost", 4.0)]);
    assert_eq!(derived.values["cost"], 6.0);
}

#[test]
fn a_result_from_elsewhere_stands_in_for_a_formula_without_its_inputs() {
    let metrics = [reported("acc"), formula("cost", "3 * acc"), formula("more", "cost + 1")];
    let derived = derived(&metrics, &[("cost", 4.0)]);
    assert_eq!((derived.values["cost"], derived.values["more"]), (4.0, 5.0));
    let open: Vec<&str> = derived.missing.iter().map(|own| own.metric.as_str()).collect();
    assert_eq!(open, ["acc"]);
}

#[test]
fn thousands_of_formulas_that_build_on_each_other_are_computed() {
    let mut metrics = vec![reported("m0"), reported("m1")];
    let chain = (2..5_000).map(|k| formula(&format!("m{k}"), &format!("m{} - m{}", k - 1, k - 2)));
    metrics.extend(chain);
    metrics.reverse();
    let derived = derived(&metrics, &[("m0", 1.0), ("m1", 1.0)]);
    assert_eq!(derived.values.len(), 5_000);
    // 1, 1, 0, -1, -1, 0 and again; 4999 is 1 beyond a multiple of 6.
    assert_eq!(derived.values["m4999"], 1.0);
}
