//! Tries the rules of a study on a log, without running anything.

use std::path::Path;

use trainwright_study::{MetricSource, Study};

use crate::EngineError;
use crate::metrics::{Point, Reports, in_words, near_lines, read};
use crate::output::{Output, printable};

/// What the rule of one metric finds in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleTrial {
    /// The metric.
    pub metric: String,
    /// Its rule in words.
    pub rule: String,
    /// What it finds, in the order of the text; of very many, some.
    pub found: Vec<FoundValue>,
    /// The value that would count; absent without values or where one is not finite.
    pub picked: Option<f64>,
    /// Lines that come near, where nothing is found.
    pub near_misses: Vec<NearLine>,
    /// What would have been a value but does not read as one.
    pub complaints: Vec<String>,
}

/// A value in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundValue {
    /// Its line from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The value, which may be NaN or infinite as the program printed it.
    pub value: f64,
    /// Where in the training it belongs.
    pub step: Option<f64>,
}

/// A line that comes near to what a rule looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearLine {
    /// Name of the text it stands in.
    pub file: String,
    /// Its line from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
}

/// Tries every rule that reads a text on a log.
///
/// A file stands for every text that a rule may name; a folder is taken for that of a trial, with
/// its `stdout`, `stderr` and `metrics.jsonl`. Wall time and formulas read no text and are left out.
///
/// # Errors
/// When there is no such log.
pub fn try_rules(study: &Study, log: &Path) -> Result<Vec<RuleTrial>, EngineError> {
    let kind = std::fs::metadata(log).map_err(EngineError::file("read", log))?;
    let output = if kind.is_dir() { Output::of_past_trial(log) } else { Output::of_log(log) };
    let reports = Reports::read(&output);
    let reads_text =
        |source: &MetricSource| !matches!(source, MetricSource::Wall | MetricSource::Expr { .. });
    let metrics = study.metrics.iter().filter(|metric| reads_text(&metric.source));
    Ok(metrics
        .map(|metric| {
            let reading = read(metric, &output, &reports);
            let near = match reading.values.is_empty() {
                true => near_lines(&metric.source, &output),
                false => Vec::new(),
            };
            RuleTrial {
                metric: metric.name.clone(),
                rule: in_words(&metric.source),
                picked: reading.values.picked(metric.pick).filter(|_| reading.is_whole()),
                near_misses: near.into_iter().map(near_line).collect(),
                complaints: reading.complaints.iter().map(|text| safe(text)).collect(),
                found: reading.values.iter().map(|(_, point)| found_value(point)).collect(),
            }
        })
        .collect())
}

fn near_line((file, line, text): (String, usize, String)) -> NearLine {
    NearLine { file, line, text: safe(&text) }
}

fn found_value(point: &Point) -> FoundValue {
    let text = safe(&point.text);
    FoundValue { line: point.line, text, value: point.value, step: point.step }
}

fn safe(text: &str) -> String {
    printable(text).into_owned()
}
