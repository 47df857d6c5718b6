//! The parsers of MLflow's calls, for fuzz targets alone.

use super::calls::read;
use super::filter::{filter, order};
use super::token::Secret;
use super::wire::{LoggedMetric, list, metric_lines, pairs};

/// Reads a text as a filter, an order and a token; no text is a token of a secret not known.
pub(crate) fn read_texts(text: &str) {
    let _ = filter(text);
    let _ = order(text);
    let secret = Secret::random().expect("the system has random bytes");
    assert!(secret.trial(text).is_none());
}

/// Reads the body of a call that logs; metrics become whole lines.
pub(crate) fn read_call(bytes: &[u8]) {
    let Ok(call) = read(bytes) else { return };
    for field in ["params", "tags"] {
        let _ = pairs(&call, field);
    }
    let metrics = list(&call, "metrics").iter().map(LoggedMetric::read);
    let Ok(metrics) = metrics.collect::<Result<Vec<_>, _>>() else { return };
    for line in metric_lines(&metrics).lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("our own line is sound");
    }
}
