//! `trainwright stats`.

use serde_json::{Map, Value};
use trainwright::{TestRequest, TestResult, test_statistics};
use trainwright_analysis::wording::five_digits;

use crate::arguments::StatsArguments;
use crate::output::{plain_table, print, print_json};

pub(crate) fn stats(arguments: &StatsArguments) -> anyhow::Result<u8> {
    let result = test_statistics(&TestRequest {
        test: arguments.test,
        data: &arguments.data,
        column: arguments.column.as_deref(),
        by: arguments.by.as_deref(),
        with: arguments.with.as_deref(),
        formula: arguments.formula.as_deref(),
        method: arguments.method,
        statistic: arguments.statistic.map(Into::into),
        ratio: arguments.ratio,
        seed: arguments.seed,
    })?;
    if arguments.json {
        print_json("stats", &result.fields)?;
    } else {
        print(&text(&result))?;
    }
    Ok(0)
}

/// Single numbers first, then lists as tables, then the meaning.
fn text(result: &TestResult) -> String {
    let mut singles = plain_table();
    let mut lists = String::new();
    for (name, value) in &result.fields {
        match value {
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) => lists.push_str(&list(name, items)),
            Value::Object(fields) => lists.push_str(&pairs(name, fields)),
            single => {
                singles.add_row([name.clone(), cell(single)]);
            }
        }
    }
    let meaning = result.meaning.join("\n");
    format!("{singles}\n{lists}\n{meaning}\n")
}

/// A list of objects with the same fields, or of single values.
fn list(name: &str, items: &[Value]) -> String {
    let mut table = plain_table();
    if let Some(first) = items[0].as_object() {
        table.set_header(first.keys());
    }
    for item in items {
        match item {
            Value::Object(fields) => table.add_row(fields.values().map(cell)),
            single => table.add_row([cell(single)]),
        };
    }
    format!("\n{name}\n{table}\n")
}

fn pairs(name: &str, fields: &Map<String, Value>) -> String {
    let mut table = plain_table();
    for (name, value) in fields {
        table.add_row([name.clone(), cell(value)]);
    }
    format!("\n{name}\n{table}\n")
}

/// Five digits are enough to read; `--json` has them all.
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
}
