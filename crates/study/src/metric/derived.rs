//! Metrics that are computed: the one evaluator of formulas, for running, reading and importing.

mod order;

use std::collections::BTreeMap;

use crate::{Configuration, Expression, Measurement, Metric, MetricSource, Outcome, Usage, Value};

pub(crate) use order::{depends_on_itself, formulas_in_order};

/// What the kernel measures of every trial, for use in formulas.
pub(crate) const KERNEL_FIGURES: [&str; 5] =
    ["wall_s", "cpu_s", "peak_memory_bytes", "disk_read_bytes", "disk_write_bytes"];

/// The values of one trial: those that were measured and those that follow from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Derived {
    /// Finite values by metric.
    pub values: BTreeMap<String, f64>,
    /// The first metric that is NaN or infinite, in words.
    pub diverged: Option<String>,
    /// Metrics without a value, in the study's order.
    pub missing: Vec<MissingValue>,
}

/// Why a metric has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingValue {
    /// The metric.
    pub metric: String,
    /// What keeps it from having one, in words.
    pub reason: String,
    /// The metric whose missing value is the cause; absent where this one is the cause itself.
    pub needs: Option<String>,
}

/// Computes the formulas of a study from what one trial measured.
///
/// A formula is computed anew even where `measured` has a value for it, so that a changed one
/// takes effect. Such a value counts only where a metric that the formula needs was not measured,
/// as in a table of results from elsewhere; who keeps computed values leaves them out.
///
/// ```
/// use std::collections::BTreeMap;
/// use trainwright_study::{Study, derive};
///
/// let study = Study::from_text(
///     "schema = 1\n[study]\nname = \"speed\"\n[factors.batch]\nlevels = [32, 64]\n\
///      [metrics.steps]\n[metrics.pictures]\nexpr = \"steps * batch\"\nobjective = \"maximize\"",
/// )?;
/// let configuration = serde_json::from_str(r#"{"batch": 32}"#)?;
/// let measured = BTreeMap::from([("steps".to_owned(), 10.0)]);
/// let derived = derive(&study.metrics, &configuration, None, &measured);
/// assert_eq!(derived.values["pictures"], 320.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn derive(
    metrics: &[Metric],
    configuration: &Configuration,
    usage: Option<&Usage>,
    measured: &BTreeMap<String, f64>,
) -> Derived {
    let mut known: BTreeMap<&str, Value> =
        configuration.iter().map(|(name, level)| (name, Value::from(level))).collect();
    let figures = usage.into_iter().flat_map(kernel_figures);
    known.extend(figures.map(|(name, value)| (name, Value::Number(value))));
    let mut evaluation =
        Evaluation { metrics, measured, known, derived: Derived::default(), open: BTreeMap::new() };
    for metric in metrics.iter().filter(|metric| metric.formula().is_none()) {
        evaluation.take_measured(metric);
    }
    for (metric, formula) in formulas_in_order(metrics) {
        evaluation.compute(metric, formula);
    }
    evaluation.finished()
}

impl Derived {
    /// The values in the study's order, with a mark on those outside their metric's range.
    pub fn measurements(&self, metrics: &[Metric]) -> Vec<Measurement> {
        let measurement = |metric: &Metric| {
            let value = *self.values.get(&metric.name)?;
            let in_range = metric.in_range(value);
            Some(Measurement { metric: metric.name.clone(), value, in_range })
        };
        metrics.iter().filter_map(measurement).collect()
    }

    /// How a trial with these values has ended: diverged, without its metrics, or finished; the
    /// first that holds.
    pub fn outcome(&self) -> Outcome {
        if let Some(reason) = &self.diverged {
            return Outcome::Diverged { reason: reason.clone() };
        }
        let causes = self.missing.iter().filter(|missing| missing.needs.is_none());
        let reasons: Vec<&str> = causes.map(|missing| missing.reason.as_str()).collect();
        if reasons.is_empty() {
            return Outcome::Finished;
        }
        Outcome::Failed { reason: reasons.join("\n") }
    }
}

impl Metric {
    /// Its formula, where it is computed.
    pub fn formula(&self) -> Option<&Expression> {
        match &self.source {
            MetricSource::Expr { expr } => Some(expr),
            _ => None,
        }
    }

    /// Whether a value lies in its range; every value does where it has none.
    pub fn in_range(&self, value: f64) -> bool {
        self.range.is_none_or(|(low, high)| (low..=high).contains(&value))
    }
}

/// The figures of a trial that formulas may name; those that the kernel did not tell are absent.
fn kernel_figures(usage: &Usage) -> impl Iterator<Item = (&'static str, f64)> {
    let number = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    let figures = [
        Some(usage.wall_s),
        Some(usage.user_s + usage.system_s),
        number(usage.peak_memory_bytes),
        number(usage.disk_read_bytes),
        number(usage.disk_write_bytes),
    ];
    KERNEL_FIGURES.into_iter().zip(figures).filter_map(|(name, value)| Some((name, value?)))
}

/// Formulas computed so far.
struct Evaluation<'a> {
    metrics: &'a [Metric],
    measured: &'a BTreeMap<String, f64>,
    /// All that a formula may name.
    known: BTreeMap<&'a str, Value>,
    derived: Derived,
    /// Metrics without a value, and why; those that diverged have no reason of their own.
    open: BTreeMap<&'a str, Option<MissingValue>>,
}

impl<'a> Evaluation<'a> {
    fn take_measured(&mut self, metric: &'a Metric) {
        match self.measured.get(&metric.name) {
            Some(&value) => self.take(metric, value, ""),
            None => self.lacks(metric, "it was not measured".to_owned(), None),
        }
    }

    fn compute(&mut self, metric: &'a Metric, formula: &Expression) {
        let names = formula.names();
        let needs = names.into_iter().find(|name| self.open.contains_key(name));
        match (needs, self.measured.get(&metric.name)) {
            (Some(needs), Some(&value)) if !self.measured.contains_key(needs) => {
                self.take(metric, value, "");
            }
            (Some(needs), _) => {
                let reason = format!("`{needs}` has no value in `{formula}`");
                self.lacks(metric, reason, Some(needs.to_owned()));
            }
            (None, _) => match formula.number(&|name: &str| self.known.get(name).cloned()) {
                Ok(value) => self.take(metric, value, &format!(" in `{formula}`")),
                Err(error) => self.lacks(metric, error.to_string(), None),
            },
        }
    }

    fn take(&mut self, metric: &'a Metric, value: f64, place: &str) {
        if value.is_finite() {
            self.known.insert(&metric.name, Value::Number(value));
            self.derived.values.insert(metric.name.clone(), value);
            return;
        }
        let word = if value.is_nan() { "NaN" } else { "infinite" };
        let words = || format!("metric `{}` was {word}{place}", metric.name);
        self.derived.diverged.get_or_insert_with(words);
        self.open.insert(&metric.name, None);
    }

    fn lacks(&mut self, metric: &'a Metric, reason: String, needs: Option<String>) {
        let reason = format!("metric `{}`: {reason}", metric.name);
        let missing = MissingValue { metric: metric.name.clone(), reason, needs };
        self.open.insert(&metric.name, Some(missing));
    }

    fn finished(mut self) -> Derived {
        let open =
            self.metrics.iter().filter_map(|metric| self.open.remove(metric.name.as_str())?);
        self.derived.missing = open.collect();
        self.derived
    }
}

#[cfg(test)]
mod tests;
