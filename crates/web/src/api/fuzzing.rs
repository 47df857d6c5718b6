//! The parsers of the interface for programs, for fuzz targets alone.

use super::messages::{AskIn, MetricsIn, TellIn};
use super::metrics::line;
use crate::pages::trials::TableQuery;

/// Reads an expression that trials are filtered by.
pub(crate) fn read_filter(text: &str) {
    let query = TableQuery { filter: text.to_owned(), ..TableQuery::default() };
    if let Ok(query) = query.checked() {
        let _ = trainwright_study::Expression::parse(&query.filter);
    }
}

/// Reads the body of each message; metrics become one whole line.
pub(crate) fn read_messages(bytes: &[u8]) {
    let _ = serde_json::from_slice::<AskIn>(bytes);
    let _ = serde_json::from_slice::<TellIn>(bytes);
    if let Ok(told) = serde_json::from_slice::<MetricsIn>(bytes)
        && let Ok(line) = line(&told)
    {
        assert_eq!(line.find('\n'), Some(line.len() - 1), "one line: {line:?}");
        serde_json::from_str::<serde_json::Value>(&line).expect("our own line is sound");
    }
}
