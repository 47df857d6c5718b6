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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "top = 1\n[table]\nlist = [10, [20, 'x'], { k = 3 }]\ndotted.key = true\n\
                        [[many]]\nn = 1\n[[many]]\nn = 2\n";

    fn found(path: &[Step]) -> &'static str {
        let document = DeTable::parse(TEXT).unwrap();
        &TEXT[locate(document.get_ref(), path)]
    }

    fn key(name: &str) -> Step {
        Step::from(name)
    }

    #[test]
    fn a_value_is_found_by_keys_and_places() {
        assert_eq!(found(&[key("top")]), "1");
        assert_eq!(found(&[key("table"), key("list"), Step::from(0)]), "10");
        assert_eq!(found(&[key("table"), key("list"), Step::from(1), Step::from(1)]), "'x'");
        assert_eq!(found(&[key("table"), key("list"), Step::from(2), key("k")]), "3");
        assert_eq!(found(&[key("table"), key("dotted"), key("key")]), "true");
        assert_eq!(found(&[key("many"), Step::from(1), key("n")]), "2");
    }

    #[test]
    fn a_table_is_shown_by_its_key() {
        assert_eq!(found(&[key("table")]), "table");
        assert_eq!(found(&[key("table"), key("dotted")]), "dotted");
    }

    #[test]
    fn a_path_that_leads_nowhere_ends_at_what_there_is() {
        assert_eq!(found(&[]), "");
        assert_eq!(found(&[key("none")]), "");
        assert_eq!(found(&[key("table"), key("none"), key("deeper")]), "table");
        assert_eq!(found(&[key("top"), key("deeper")]), "1");
        assert_eq!(
            found(&[key("table"), key("list"), Step::from(9)]),
            "[10, [20, 'x'], { k = 3 }]"
        );
        assert_eq!(found(&[Step::from(0)]), "");
    }

    #[track_caller]
    fn check_inside(quoted: &str, inner: Range<usize>, shown: &str) {
        let text = format!("k = {quoted}");
        let span = inside(&text, 4..text.len(), &inner);
        assert_eq!(&text[span], shown, "{quoted}");
    }

    #[test]
    fn a_part_of_a_plain_quotation_is_shown_and_of_others_the_whole() {
        check_inside("\"a + b\"", 4..5, "b");
        check_inside("'a + b'", 0..1, "a");
        check_inside("'a +'", 3..3, "");
        check_inside("\"a \\t b\"", 4..5, "\"a \\t b\"");
        check_inside("\"\"\"a + b\"\"\"", 4..5, "\"\"\"a + b\"\"\"");
        check_inside("'''a'''", 0..1, "'''a'''");
        check_inside("", 0..0, "");
    }

    proptest! {
        #[test]
        fn what_is_found_in_a_list_is_its_own_text(
            numbers in proptest::collection::vec(any::<i32>(), 1..20),
            at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(numbers.len());
            let text = format!("[t]\nlist = {numbers:?}\n");
            let document = DeTable::parse(&text).unwrap();
            let path = [key("t"), key("list"), Step::from(at)];
            let span = locate(document.get_ref(), &path);
            prop_assert_eq!(&text[span], numbers[at].to_string());
        }
    }
}
