//! YAML as JSON values, which the rest knows how to read.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value};

/// How deep lists and tables may lie in each other.
const DEEPEST: usize = 32;

/// Reads a text with one document.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    match documents.as_slice() {
        [document] => value(document, 0),
        documents => Err(format!("it has {} YAML documents instead of one", documents.len())),
    }
}

fn value(yaml: &Yaml<'_>, depth: usize) -> Result<Value, String> {
    if depth > DEEPEST {
        return Err(format!("it is nested more than {DEEPEST} deep"));
    }
    Ok(match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(truth)) => (*truth).into(),
        Yaml::Value(Scalar::Integer(number)) => (*number).into(),
        Yaml::Value(Scalar::FloatingPoint(number)) => number.into_inner().into(),
        Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
        Yaml::Sequence(items) => {
            Value::Array(items.iter().map(|item| value(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        Yaml::Mapping(pairs) => {
            let mut table = Map::new();
            for (key, own) in pairs {
                let key = match value(key, depth + 1)? {
                    Value::String(text) => text,
                    key @ (Value::Bool(_) | Value::Number(_)) => key.to_string(),
                    key => return Err(format!("`{key}` is no name of a key")),
                };
                table.insert(key, value(own, depth + 1)?);
            }
            Value::Object(table)
        }
        Yaml::Tagged(tag, _) => return Err(format!("it has a tag (`!{}`)", tag.suffix)),
        _ => return Err("it has something that is no plain YAML".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_numbers_lists_and_tables_are_read() {
        let text = "a: 1\nb: [0.5, 'x', true, null]\nc:\n  d: |\n    two\n    lines\n1: 1e-3\n";
        assert_eq!(
            parse(text),
            Ok(
                json!({"a": 1, "b": [0.5, "x", true, null], "c": {"d": "two\nlines\n"}, "1": 0.001})
            )
        );
    }

    #[test]
    fn what_is_no_plain_yaml_is_refused_with_its_place() {
        assert!(parse("a: [1\nb: 2").unwrap_err().contains("line"), "{:?}", parse("a: [1\nb: 2"));
        assert!(parse("a: 1\n---\nb: 2").unwrap_err().contains("2 YAML documents"));
        assert!(parse(&"[".repeat(2000)).is_err());
        assert!(parse(&format!("{}1{}", "[".repeat(50), "]".repeat(50))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-c:\\[\\]{}&*!|>'\"\\-# \n0-9.,?%@]{0,60}") {
            let _ = parse(&text);
        }
    }
}
