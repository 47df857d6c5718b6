//! What MLflow's clients send and expect, as JSON.

use serde_json::{Map, Value, json};

use super::fault::Fault;

/// A value of a metric, as it was logged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoggedMetric {
    pub(super) key: String,
    pub(super) value: f64,
    /// Milliseconds since 1970.
    pub(super) timestamp: i64,
    pub(super) step: i64,
}

/// A parameter or tag.
pub(super) type Pair = (String, String);

impl LoggedMetric {
    pub(super) fn read(from: &Value) -> Result<Self, Fault> {
        let key = text(from, "key")?.to_owned();
        let value = from.get("value").and_then(number);
        let value = value.ok_or_else(|| Fault::invalid(format!("`{key}` has no value")))?;
        let whole = |field: &str| from.get(field).and_then(whole_number).unwrap_or(0);
        Ok(Self { value, timestamp: whole("timestamp"), step: whole("step"), key })
    }

    pub(super) fn json(&self) -> Value {
        let Self { key, value, timestamp, step } = self;
        let value = number_json(*value);
        json!({ "key": key, "value": value, "timestamp": timestamp, "step": step })
    }
}

/// A field that must be a text.
pub(super) fn text<'a>(from: &'a Value, field: &str) -> Result<&'a str, Fault> {
    let found = from.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    found.ok_or_else(|| Fault::invalid(format!("the call has no `{field}`")))
}

/// A field that is a list, empty where it is absent.
pub(super) fn list<'a>(from: &'a Value, field: &str) -> &'a [Value] {
    from.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A parameter or tag; a value that is absent is empty.
pub(super) fn pair(from: &Value) -> Result<Pair, Fault> {
    let value = from.get("value").and_then(Value::as_str).unwrap_or_default();
    Ok((text(from, "key")?.to_owned(), value.to_owned()))
}

/// All parameters or tags of a list.
pub(super) fn pairs(from: &Value, field: &str) -> Result<Vec<Pair>, Fault> {
    list(from, field).iter().map(pair).collect()
}

/// Parameters or tags as MLflow lists them.
pub(super) fn pairs_json<'a>(pairs: impl IntoIterator<Item = (&'a String, &'a String)>) -> Value {
    let pair = |(key, value): (&String, &String)| json!({ "key": key, "value": value });
    pairs.into_iter().map(pair).collect()
}

/// A number; protocol buffers write those that are not finite, and long ones, as texts.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A number as JSON, or as a text where it is not finite.
pub(super) fn number_json(value: f64) -> Value {
    match value {
        value if value.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        value => value.into(),
    }
}

pub(super) fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Metrics as lines of a trial's metrics file: those of one step that follow each other share one.
pub(super) fn metric_lines(metrics: &[LoggedMetric]) -> String {
    let mut lines = String::new();
    let mut line = Map::new();
    for (index, metric) in metrics.iter().enumerate() {
        // A step is where a value belongs; a metric of that name has no place of its own.
        if metric.key != "step" {
            line.insert(metric.key.clone(), number_json(metric.value));
        }
        let next = metrics.get(index + 1);
        let goes_on =
            next.is_some_and(|next| next.step == metric.step && !line.contains_key(&next.key));
        if !goes_on && !line.is_empty() {
            line.insert("step".to_owned(), metric.step.into());
            lines.push_str(&Value::Object(std::mem::take(&mut line)).to_string());
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn metric(key: &str, value: f64, step: i64) -> LoggedMetric {
        LoggedMetric { key: key.to_owned(), value, timestamp: 5, step }
    }

    #[test]
    fn metrics_of_one_step_share_a_line() {
        let metrics = [
            metric("a", 1.0, 0),
            metric("b", f64::NAN, 0),
            metric("a", 2.0, 0),
            metric("a", 3.0, 1),
            metric("step", 9.0, 1),
        ];
        assert_eq!(
            metric_lines(&metrics),
            "{\"a\":1.0,\"b\":\"NaN\",\"step\":0}\n{\"a\":2.0,\"step\":0}\n{\"a\":3.0,\"step\":1}\n"
        );
        assert_eq!(metric_lines(&[metric("step", 9.0, 1)]), "");
    }

    #[test]
    fn a_metric_is_read_as_protocol_buffers_write_it() {
        let read = LoggedMetric::read(
            &json!({"key": "a", "value": "Infinity", "timestamp": "12", "step": 3}),
        );
        let expected = LoggedMetric { timestamp: 12, ..metric("a", f64::INFINITY, 3) };
        assert_eq!(read, Ok(expected));
        assert!(LoggedMetric::read(&json!({"key": "a"})).is_err());
        assert!(LoggedMetric::read(&json!({"value": 1})).is_err());
        assert!(LoggedMetric::read(&json!([])).is_err());
    }

    proptest! {
        #[test]
        fn no_value_is_lost_in_lines(values in prop::collection::vec(("[abc]", -5.0..5.0, 0i64..3), 0..20)) {
            let metrics: Vec<_> = values.iter().map(|(key, value, step)| metric(key, *value, *step)).collect();
            let mut read = Vec::new();
            for line in metric_lines(&metrics).lines() {
                let line: Map<String, Value> = serde_json::from_str(line).unwrap();
                for (key, value) in line.iter().filter(|(key, _)| *key != "step") {
                    read.push((key.clone(), value.as_f64().unwrap(), line["step"].as_i64().unwrap()));
                }
            }
            prop_assert_eq!(read, values);
        }
    }
}
