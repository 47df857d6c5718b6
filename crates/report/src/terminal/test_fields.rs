//! What a statistical test gave: single numbers first, then lists as tables, then the meaning.

use serde_json::{Map, Value};
use trainwright_analysis::wording::five_digits;

use super::TextTable;

/// The fields of a test's result as text; `meaning` is what they mean, sentence by sentence.
pub fn test_fields_text(fields: &Map<String, Value>, meaning: &[String]) -> String {
    let mut singles = TextTable::plain();
    let mut lists = String::new();
    for (name, value) in fields {
        match value {
            Value::Array(items) => {
                if let Some(first) = items.first() {
                    lists.push_str(&list(name, first, items));
                }
            }
            Value::Object(fields) => lists.push_str(&pairs(name, fields)),
            single => singles.row([name.clone(), cell(single)]),
        }
    }
    format!("{singles}{lists}\n{}\n", meaning.join("\n"))
}

/// A list of objects with the same fields, or of single values.
fn list(name: &str, first: &Value, items: &[Value]) -> String {
    let mut table = match first.as_object() {
        Some(fields) => TextTable::with_header(fields.keys()),
        None => TextTable::plain(),
    };
    for item in items {
        match item {
            Value::Object(fields) => table.row(fields.values().map(cell)),
            single => table.row([cell(single)]),
        }
    }
    format!("\n{name}\n{table}")
}

fn pairs(name: &str, fields: &Map<String, Value>) -> String {
    let mut table = TextTable::plain();
    for (name, value) in fields {
        table.row([name.clone(), cell(value)]);
    }
    format!("\n{name}\n{table}")
}

/// Five digits are enough to read; JSON has them all.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "undefined".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            five_digits(number.as_f64().unwrap_or_default())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_show_five_digits() {
        for (value, expected) in [
            (json!(0.018_423_755), "0.018424"),
            (json!(7.447_251e-29), "7.4473e-29"),
            (json!(2.0), "2"),
            (json!(0.0), "0"),
            (json!(12), "12"),
            (json!(null), "undefined"),
            (json!("exact"), "exact"),
        ] {
            assert_eq!(cell(&value), expected);
        }
    }

    #[test]
    fn numbers_come_first_then_lists_then_the_meaning() {
        let Value::Object(fields) = json!({
            "groups": [{ "name": "a", "n": 3 }, { "name": "b", "n": 4 }],
            "statistic": 1.5,
            "none": [],
            "effects": { "A": 0.25 },
            "lines": [7, 9],
        }) else {
            unreachable!("it is an object")
        };
        let text = test_fields_text(&fields, &["It means this.".to_owned()]);
        let expected = " statistic  1.5\n\ngroups\n name  n\n a     3\n b     4\n\neffects\n A  0.25\n\n\
                        lines\n 7\n 9\n\nIt means this.\n";
        assert_eq!(text, expected);
    }
}
