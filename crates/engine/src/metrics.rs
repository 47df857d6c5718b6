//! From the texts of a trial to measurements and learning curves.
//!
//! One file a channel: `reported.rs` (JSON lines and `::metric` lines), `pattern.rs`, `json.rs`,
//! `table.rs` (CSV), `tensorboard.rs`. `missing.rs` explains a metric that was not found, `curve.rs`
//! makes series, `rules.rs` tries rules on a log. Formulas are not for engines: whoever reads the
//! measurements evaluates them.

mod curve;
mod json;
mod missing;
mod near;
mod pattern;
pub(crate) mod reported;
pub(crate) mod rules;
mod table;
mod tensorboard;
mod values;

use std::path::Path;
use std::rc::Rc;

use trainwright_study::{Measurement, Metric, MetricSource, Series, seconds_per};

use crate::output::{Output, printable};
use reported::{Form, Reported};
use values::Values;

pub(crate) use missing::{in_words, near_lines, text_in_words};
pub(crate) use near::shown;

/// One value of a metric as a text has it; NaN and infinity are values here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// Line of the text, or the number of the value where there are no lines.
    pub(crate) line: usize,
    /// The line, shortened.
    pub(crate) text: Rc<str>,
    pub(crate) value: f64,
    pub(crate) step: Option<f64>,
}

/// What a rule found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Name of the text.
    pub(crate) place: String,
    pub(crate) values: Values,
    /// What would have been a value but does not read as one.
    pub(crate) complaints: Vec<String>,
}

impl Reading {
    fn new(path: &Path) -> Self {
        Self { place: file_name(path), ..Self::default() }
    }

    /// Nothing found, for this reason.
    fn nothing(reason: String) -> Self {
        Self { complaints: vec![reason], ..Self::default() }
    }

    fn complain(&mut self, complaint: String) {
        complain(&mut self.complaints, complaint);
    }

    /// Whether everything that should be a value reads as one: a line that does not may be the
    /// very one that counts.
    pub(crate) fn is_whole(&self) -> bool {
        self.complaints.is_empty()
    }
}

/// Keeps the first few complaints; more would bury the message they end up in.
fn complain(complaints: &mut Vec<String>, complaint: String) {
    if complaints.len() < 5 {
        complaints.push(complaint);
    }
}

/// A metric that has no value.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MissingMetric {
    /// Its name.
    pub metric: String,
    /// Why: the rule, what did not read, the keys seen, the nearest lines.
    pub explanation: String,
}

/// What the metrics of one trial come to.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Finite values in the study's order.
    pub(crate) measurements: Vec<Measurement>,
    pub(crate) curves: Vec<Series>,
    /// The first metric that was NaN or infinite, or what the program itself says, in words.
    pub(crate) diverged: Option<String>,
    /// The other metrics without a value.
    pub(crate) missing: Vec<MissingMetric>,
}

/// Reads the metrics of a trial that has ended, all but formulas.
pub(crate) fn gather(metrics: &[Metric], output: &Output<'_>, wall_s: f64) -> Gathered {
    let reports = Reports::read(output);
    let mut gathered = Gathered::default();
    for metric in metrics {
        match &metric.source {
            MetricSource::Expr { .. } => {}
            MetricSource::Wall => gathered.add_wall(metric, wall_s),
            _ => {
                let reading = read(metric, output, &reports);
                gathered.add_reading(metric, &reading, output, &reports);
            }
        }
    }
    if gathered.diverged.is_none() {
        let said = reports.file.diverged().or(reports.stdout.diverged());
        gathered.diverged = said.map(str::to_owned);
    }
    gathered.curves.extend(curve::of_other_keys(metrics, &reports, &gathered.curves));
    gathered
}

/// The JSON that a trial reported, read once for all metrics.
#[derive(Debug)]
pub(crate) struct Reports {
    pub(crate) file: Reported,
    pub(crate) stdout: Reported,
}

impl Reports {
    pub(crate) fn read(output: &Output<'_>) -> Self {
        Self {
            file: Reported::read(&output.metrics, Form::Lines),
            stdout: Reported::read(&output.stdout, Form::Marked),
        }
    }
}

/// What a metric's rule finds; nothing for metrics that are not read from a text.
pub(crate) fn read(metric: &Metric, output: &Output<'_>, reports: &Reports) -> Reading {
    match &metric.source {
        MetricSource::Reported { key } => {
            let reading = reports.file.reading(key, metric.pick);
            if reading.values.is_empty() {
                let mut second = reports.stdout.reading(key, metric.pick);
                // A log that stands for both texts has all its lines judged by the second.
                if output.metrics != output.stdout {
                    second.complaints.splice(0..0, reading.complaints);
                }
                return second;
            }
            reading
        }
        MetricSource::Jsonl { key } => reports.file.reading(key, metric.pick),
        MetricSource::Stdout { key } => reports.stdout.reading(key, metric.pick),
        MetricSource::Regex { file, pattern } => match output.text(file) {
            Ok(path) => pattern::read(&path, pattern),
            Err(reason) => Reading::nothing(reason),
        },
        MetricSource::Json { file, pointer } => match output.file(file) {
            Ok(path) => json::read(&path, pointer),
            Err(reason) => Reading::nothing(reason),
        },
        MetricSource::Csv { file, column } => match output.file(file) {
            Ok(path) => table::read(&path, column),
            Err(reason) => Reading::nothing(reason),
        },
        MetricSource::Tensorboard { file, tag } => match output.event_files(file) {
            Ok(files) => tensorboard::read(&files, tag),
            Err(reason) => Reading::nothing(reason),
        },
        MetricSource::Wall | MetricSource::Expr { .. } => Reading::default(),
    }
}

impl Gathered {
    fn add_wall(&mut self, metric: &Metric, wall_s: f64) {
        let unit = metric.unit.as_deref().unwrap_or("s");
        match seconds_per(unit) {
            Some(seconds) => self.add_value(metric, wall_s / seconds),
            None => self.add_missing(
                metric,
                format!(
                    "metric `{}`: `{unit}` is no unit of time; use us, ms, s, min or h",
                    metric.name
                ),
            ),
        }
    }

    fn add_reading(
        &mut self,
        metric: &Metric,
        reading: &Reading,
        output: &Output<'_>,
        reports: &Reports,
    ) {
        self.curves.extend(curve::of_metric(metric, reading));
        if let Some(point) = reading.values.diverged() {
            let at = point.step.map_or_else(String::new, |step| format!(" at step {step}"));
            let place = format!("line {} of {}", point.line, reading.place);
            let word = if point.value.is_nan() { "NaN" } else { "infinite" };
            let words = || format!("metric `{}` was {word}{at} ({place})", metric.name);
            self.diverged.get_or_insert_with(words);
        } else if let Some(value) =
            reading.values.picked(metric.pick).filter(|_| reading.is_whole())
        {
            self.add_value(metric, value);
        } else {
            self.add_missing(metric, missing::explain(metric, reading, output, reports));
        }
    }

    fn add_value(&mut self, metric: &Metric, value: f64) {
        let in_range = metric.range.is_none_or(|(low, high)| (low..=high).contains(&value));
        self.measurements.push(Measurement { metric: metric.name.clone(), value, in_range });
    }

    fn add_missing(&mut self, metric: &Metric, explanation: String) {
        let explanation = printable(&explanation).into_owned();
        self.missing.push(MissingMetric { metric: metric.name.clone(), explanation });
    }
}

/// Reads a number as programs print it, `nan` and `inf` included.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The name of a file for messages.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
