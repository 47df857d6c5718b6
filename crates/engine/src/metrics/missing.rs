//! Explains a metric that has no value.

use std::path::PathBuf;

use trainwright_study::{Metric, MetricSource, TextFile};

use super::near::{literal_letters, nearest};
use super::{Reading, Reports, file_name};
use crate::output::Output;

/// Keys named at most.
const KEYS_SHOWN: usize = 50;

/// A metric's rule in words.
pub(crate) fn in_words(source: &MetricSource) -> String {
    match source {
        MetricSource::Reported { key } => format!(
            "key `{key}` in the JSON lines of the metrics file, or else in the `::metric` lines \
             of the standard output"
        ),
        MetricSource::Wall => "time from start to exit".to_owned(),
        MetricSource::Jsonl { key } => format!("key `{key}` in the JSON lines of the metrics file"),
        MetricSource::Stdout { key } => {
            format!("key `{key}` in the `::metric` lines of the standard output")
        }
        MetricSource::Regex { file, pattern } => {
            format!("lines of {} that match `{}`", text_in_words(file), pattern.regex())
        }
        MetricSource::Json { file, pointer } => format!("`{pointer}` in the JSON file `{file}`"),
        MetricSource::Csv { file, column } => format!("column `{column}` of the CSV file `{file}`"),
        MetricSource::Tensorboard { file, tag } => {
            format!("scalar `{tag}` in the event files below `{file}`")
        }
        MetricSource::Expr { expr } => format!("formula `{expr}`"),
    }
}

pub(crate) fn text_in_words(file: &TextFile) -> String {
    match file {
        TextFile::Stdout => "the standard output".to_owned(),
        TextFile::Stderr => "the standard error".to_owned(),
        TextFile::Path(path) => format!("`{path}`"),
    }
}

/// Why a metric has no value: the rule, what did not read, the keys seen, the nearest lines.
pub(crate) fn explain(
    metric: &Metric,
    reading: &Reading,
    output: &Output<'_>,
    reports: &Reports,
) -> String {
    let what = match reading.values.is_empty() {
        true => "was not found",
        false => "has values that do not read",
    };
    let mut words = format!("metric `{}` {what}", metric.name);
    words.push_str(&format!("\n  rule: {}", in_words(&metric.source)));
    for complaint in &reading.complaints {
        words.push_str(&format!("\n  {complaint}"));
    }
    let keys = keys_seen(&metric.source, reports);
    if !keys.is_empty() {
        let more = if keys.len() == KEYS_SHOWN { " and perhaps more" } else { "" };
        words.push_str(&format!("\n  keys reported: {}{more}", keys.join(", ")));
    }
    for (place, line, text) in near_lines(&metric.source, output) {
        words.push_str(&format!("\n  near: line {line} of {place}: {text}"));
    }
    words
}

fn keys_seen(source: &MetricSource, reports: &Reports) -> Vec<String> {
    let quoted = |(key, _)| format!("`{key}`");
    let file = || reports.file.columns().map(quoted);
    let stdout = || reports.stdout.columns().map(quoted);
    match source {
        MetricSource::Reported { .. } => file().chain(stdout()).take(KEYS_SHOWN).collect(),
        MetricSource::Jsonl { .. } => file().take(KEYS_SHOWN).collect(),
        MetricSource::Stdout { .. } => stdout().take(KEYS_SHOWN).collect(),
        _ => Vec::new(),
    }
}

/// Lines that come near to what the rule looks for: place, number, text.
pub(crate) fn near_lines(
    source: &MetricSource,
    output: &Output<'_>,
) -> Vec<(String, usize, String)> {
    let (wanted, texts): (String, Vec<PathBuf>) = match source {
        MetricSource::Reported { key }
        | MetricSource::Jsonl { key }
        | MetricSource::Stdout { key } => {
            (key.clone(), vec![output.metrics.clone(), output.stdout.clone()])
        }
        MetricSource::Regex { file, pattern } => {
            (literal_letters(pattern.regex().as_str()), output.text(file).into_iter().collect())
        }
        _ => return Vec::new(),
    };
    let mut texts = texts;
    texts.dedup();
    let near = |path: &PathBuf| {
        let place = file_name(path);
        nearest(path, &wanted).into_iter().map(move |(line, text)| (place.clone(), line, text))
    };
    texts.iter().flat_map(near).collect()
}
