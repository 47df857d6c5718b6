//! Places in a TOML text by key path.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A step into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<&String> for Step {
    fn from(key: &String) -> Self {
        Self::Key(key.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// The bytes of the value at `path`; of the key for a table; of the innermost part that exists
/// where the path leads nowhere.
pub(crate) fn locate(document: &DeTable<'_>, path: &[Step]) -> Range<usize> {
    let mut span = 0..0;
    let mut table = Some(document);
    let mut value: Option<&Spanned<DeValue<'_>>> = None;
    for step in path {
        let next = match step {
            Step::Key(key) => table
                .and_then(|t| t.iter().find(|(own, _)| own.get_ref().as_ref() == key.as_str()))
                .map(|(own, value)| (Some(own.span()), value)),
            Step::Index(index) => value
                .and_then(|v| v.get_ref().as_array())
                .and_then(|array| array.get(*index))
                .map(|value| (None, value)),
        };
        let Some((key_span, found)) = next else { return span };
        table = found.get_ref().as_table();
        span = match key_span {
            Some(key_span) if table.is_some() => key_span,
            _ => found.span(),
        };
        value = Some(found);
    }
    span
}

/// The part of a quoted value that `inner` bytes of its content cover, where quoting is simple.
pub(crate) fn inside(text: &str, value: Range<usize>, inner: &Range<usize>) -> Range<usize> {
    let raw = &text[value.clone()];
    let simple = raw.len() >= 2
        && !raw.contains('\\')
        && !raw.starts_with("\"\"\"")
        && !raw.starts_with("'''")
        && raw.starts_with(['"', '\'']);
    if simple { value.start + 1 + inner.start..value.start + 1 + inner.end } else { value }
}
