//! JSON objects that a program reports: lines of the metrics file, `::metric` lines of its output.
//!
//! Programs write bare `NaN`, `nan`, `Infinity` and `-inf`, which are not JSON; they are read all
//! the same, and so are the texts `"nan"` and `"inf"`. Other texts are not numbers, and a null is
//! no value at all.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

use serde_json::{Map, Value};
use trainwright_study::Pick;

use super::values::Values;
use super::{Point, Reading, complain, file_name, shown};
use crate::output::text::each_line;

/// Starts a line of the standard output that holds metrics.
const MARK: &str = "::metric";
/// Keys that say where in the training a line belongs, best first.
pub(crate) const STEP_KEYS: [&str; 2] = ["step", "epoch"];

/// Key by which a program says that it diverged.
const DIVERGED: &str = "diverged";
/// Lines cut off that are remembered.
const MOST_CUT_OFF: usize = 5;

/// Keys of one text that are read; more are no metrics but data.
const MOST_KEYS: usize = 10_000;
/// Bytes of a key; a longer one names nothing.
pub(crate) const LONGEST_KEY: usize = 256;
/// Values kept of all keys of one text together, besides what counts of each.
const MOST_KEPT: usize = 1 << 18;

/// What each line of a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A JSON object.
    Lines,
    /// A JSON object after `::metric`; other lines are none of ours.
    Marked,
}

/// Every number that a text reports, by key.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    place: String,
    columns: BTreeMap<String, Values>,
    /// Values kept of all keys together.
    kept: usize,
    /// Whether there were more keys than are read.
    too_many_keys: bool,
    complaints: Vec<String>,
    /// Keys whose values were not numbers, with the first such value.
    not_numbers: BTreeMap<String, String>,
    /// Lines cut off in the middle, as when a program was ended while it wrote, with their numbers.
    cut_off: Vec<(usize, String)>,
    /// Keys that were null, with the first place.
    nulls: BTreeMap<String, String>,
    /// Where and why the program says that it diverged.
    diverged: Option<String>,
}

impl Reported {
    /// Reads a text; one that is not there reports nothing.
    pub(crate) fn read(path: &Path, form: Form) -> Self {
        let mut reported = Self { place: file_name(path), ..Self::default() };
        let read = each_line(path, |line, text| {
            if let Some(object) = object_of(text, form) {
                reported.add_line(line, text, object);
            }
        });
        if let Err(error) = read
            && error.kind() != io::ErrorKind::NotFound
        {
            complain(&mut reported.complaints, format!("{}: {error}", path.display()));
        }
        reported
    }

    /// Where and why the program says that it diverged: a line with the key `diverged`, true or a
    /// text. What it measured stays measured.
    pub(crate) fn diverged(&self) -> Option<&str> {
        self.diverged.as_deref()
    }

    /// The values of one key, one of which is picked.
    ///
    /// A line that was cut off may have held a value. Where it comes after the last one, all but the
    /// first value are unknown: an earlier epoch's must not pass for the final one.
    pub(crate) fn reading(&self, key: &str, pick: Pick) -> Reading {
        let mut complaints = self.complaints.clone();
        if let Some(value) = self.not_numbers.get(key) {
            complain(&mut complaints, value.clone());
        }
        let values = self.columns.get(key).cloned().unwrap_or_default();
        let last = values.last_line();
        let unknown = last.is_none() || pick != Pick::First;
        let after = |line: usize| last.is_none_or(|last| line > last);
        let cut_off = self.cut_off.iter().filter(|(line, _)| unknown && after(*line));
        cut_off.for_each(|(_, words)| complain(&mut complaints, words.clone()));
        // Loggers write null where a step has no such value; that matters when there is nothing else.
        if values.is_empty() {
            if self.too_many_keys {
                let place = &self.place;
                complaints.push(format!("of {place} only {MOST_KEYS} keys are read"));
            }
            complaints.extend(self.nulls.get(key).cloned());
        }
        Reading { place: self.place.clone(), values, complaints }
    }

    /// Keys with numbers, and those numbers.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.columns.iter().map(|(key, values)| (key.as_str(), values))
    }

    fn add_line(&mut self, line: usize, text: &str, object: Result<Map<String, Value>, String>) {
        let object = match object {
            Ok(object) => object,
            Err(error) => {
                let complaint = format!("line {line} of {}: {error}", self.place);
                if !is_cut_off(text) {
                    return complain(&mut self.complaints, complaint);
                }
                let words = format!("{complaint}; it was cut off: `{}`", shown(text));
                // The last ones matter, since values may follow on the others.
                self.cut_off.truncate(MOST_CUT_OFF - 1);
                return self.cut_off.insert(0, (line, words));
            }
        };
        let step = STEP_KEYS.iter().find_map(|&key| number_of(object.get(key)?));
        let step = step.filter(|step| step.is_finite());
        let text: Rc<str> = shown(text).into();
        for (key, value) in object {
            if key.len() > LONGEST_KEY || (key == DIVERGED && self.says_diverged(line, &value)) {
                continue;
            }
            match number_of(&value) {
                Some(value) => self.add_value(key, Point { line, text: text.clone(), value, step }),
                None => self.add_no_number(line, key, &value),
            }
        }
    }

    /// Takes in the program's own judgement; a number under the same key is a metric.
    fn says_diverged(&mut self, line: usize, value: &Value) -> bool {
        let reason = match value {
            Value::Bool(true) => String::new(),
            Value::String(reason) if number_of(value).is_none() => format!(": {}", shown(reason)),
            _ => return false,
        };
        let place = &self.place;
        let words =
            || format!("the program says that it diverged (line {line} of {place}){reason}");
        self.diverged.get_or_insert_with(words);
        true
    }

    fn add_value(&mut self, key: String, point: Point) {
        if self.columns.len() >= MOST_KEYS && !self.columns.contains_key(&key) {
            self.too_many_keys = true;
            return;
        }
        let values = self.columns.entry(key).or_default();
        self.kept -= values.kept();
        values.add(point);
        self.kept += values.kept();
        while self.kept > MOST_KEPT {
            self.columns.values_mut().for_each(Values::thin);
            self.kept = self.columns.values().map(Values::kept).sum();
        }
    }

    fn add_no_number(&mut self, line: usize, key: String, value: &Value) {
        let kind = if value.is_null() { &mut self.nulls } else { &mut self.not_numbers };
        if kind.len() < MOST_KEYS {
            let (place, value) = (&self.place, shown(&value.to_string()));
            kind.entry(key).or_insert_with_key(|key| {
                format!("line {line} of {place}: `{key}` is {value}, which is no number")
            });
        }
    }
}

/// The object in a line: nothing where the line is blank or none of ours.
pub(crate) fn object_of(text: &str, form: Form) -> Option<Result<Map<String, Value>, String>> {
    let text = text.trim();
    let json = match form {
        Form::Lines => text,
        Form::Marked => text.strip_prefix(MARK)?.trim_start(),
    };
    (!json.is_empty()).then(|| parse_object(json))
}

fn parse_object(json: &str) -> Result<Map<String, Value>, String> {
    match parse_lenient(json)? {
        Value::Object(object) => Ok(object),
        other => Err(format!("a JSON object belongs here, not {}", shown(&other.to_string()))),
    }
}

/// Whether a line is the beginning of an object and goes no further.
fn is_cut_off(line: &str) -> bool {
    let json = line.trim();
    let json = quote_bare_words(json.strip_prefix(MARK).unwrap_or(json));
    serde_json::from_str::<Value>(&json).is_err_and(|error| error.is_eof())
}

/// Reads JSON that may hold bare words for NaN and infinity.
pub(crate) fn parse_lenient(json: &str) -> Result<Value, String> {
    let strict = |json: &str| serde_json::from_str(json).map_err(|error| error.to_string());
    strict(json).or_else(|error| match quote_bare_words(json) {
        Cow::Owned(quoted) => strict(&quoted),
        Cow::Borrowed(_) => Err(error),
    })
}

/// The number that a JSON value stands for, NaN and infinity included.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => super::number(text).filter(|value| !value.is_finite()),
        _ => None,
    }
}

/// Puts quotes around words such as `NaN`, `nan`, `-inf` and `Infinity` outside of texts.
fn quote_bare_words(json: &str) -> Cow<'_, str> {
    let mut quoted = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < json.len() {
        let rest = &json[at..];
        if rest.starts_with('"') {
            at += text_length(rest);
        } else if let Some(word) = not_finite_word(rest) {
            quoted.push_str(&json[copied..at]);
            quoted.push_str(&format!("\"{word}\""));
            at += word.len();
            copied = at;
        } else {
            // Another word is passed over whole: a line may be one word of a mebibyte.
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            at += rest.chars().next().map_or(1, char::len_utf8).max(letters);
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    quoted.push_str(&json[copied..]);
    Cow::Owned(quoted)
}

/// The word for NaN or infinity that a text starts with, in any case and with its sign, as C, Java,
/// Python and Rust print it.
fn not_finite_word(text: &str) -> Option<&str> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let letters = text[sign..].find(|c: char| !c.is_ascii_alphabetic());
    let word = &text[..letters.map_or(text.len(), |letters| sign + letters)];
    (word.len() > sign && super::number(word).is_some()).then_some(word)
}

/// Bytes of the quoted text that `rest` starts with.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(line: &str, key: &str, expected: Option<f64>) {
        let object = object_of(line, Form::Lines).unwrap().unwrap();
        let number = object.get(key).and_then(number_of);
        // Compared as text, where NaN equals itself.
        assert_eq!(format!("{number:?}"), format!("{expected:?}"), "{line}");
    }

    #[test]
    fn numbers_that_are_not_json_are_read() {
        check(r#"{"a": 0.1}"#, "a", Some(0.1));
        check(r#"{"a": NaN, "b": 1}"#, "a", Some(f64::NAN));
        check(r#"{"a": NaN, "b": 1}"#, "b", Some(1.0));
        check(r#"{"a": -Infinity}"#, "a", Some(f64::NEG_INFINITY));
        check(r#"{"NaN": 3, "t": "is NaN \" NaN", "a": Infinity}"#, "NaN", Some(3.0));
        check(r#"{"a": nan}"#, "a", Some(f64::NAN));
        check(r#"{"a":-nan,"b":[inf]}"#, "a", Some(f64::NAN));
        check(r#"{"a": -inf, "information": 1}"#, "a", Some(f64::NEG_INFINITY));
        check(r#"{"a": NAN}"#, "a", Some(f64::NAN));
        check(r#"{"a": "nan"}"#, "a", Some(f64::NAN));
        check(r#"{"a": "inf"}"#, "a", Some(f64::INFINITY));
    }

    #[test]
    fn a_word_of_a_mebibyte_is_read_at_once() {
        // Letter by letter, each with all that follow, this took minutes.
        let long = "x".repeat(1 << 20);
        assert_eq!(quote_bare_words(&long), long);
        assert_eq!(quote_bare_words("xNaN -NaN"), "xNaN \"-NaN\"");
    }

    #[test]
    fn texts_and_truths_are_no_numbers() {
        check(r#"{"a": "0.97"}"#, "a", None);
        check(r#"{"a": true}"#, "a", None);
        check(r#"{"a": null}"#, "a", None);
    }

    #[test]
    fn only_marked_lines_of_the_output_count() {
        assert!(object_of("loss 0.3", Form::Marked).is_none());
        assert!(object_of("::metric {\"a\":1}", Form::Marked).unwrap().is_ok());
        assert!(object_of("::metric{\"a\":1}", Form::Marked).unwrap().is_ok());
        assert!(object_of("::metric a=1", Form::Marked).unwrap().is_err());
        assert!(object_of("[1]", Form::Lines).unwrap().is_err());
        assert!(object_of("  ", Form::Lines).is_none());
    }

    #[test]
    fn a_number_keeps_every_bit() {
        // A value that a fast parser misses by one bit.
        let text = "122.416294033786585";
        check(&format!(r#"{{"a": {text}}}"#), "a", Some(text.parse().unwrap()));
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in "(?s)(::metric)?[{\":,}NaInfity\\\\-]{0,20}.{0,60}") {
            let _ = object_of(&line, Form::Lines);
            let _ = object_of(&line, Form::Marked);
        }

        #[test]
        fn any_number_written_as_json_is_read_back(value in any::<f64>()) {
            let json = match value {
                v if v.is_nan() => "NaN".to_owned(),
                v if v.is_infinite() => if v > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
                v => serde_json::to_string(&v).unwrap(),
            };
            let object = parse_object(&format!("{{\"x\": {json}}}")).unwrap();
            let read = number_of(&object["x"]).unwrap();
            prop_assert!(read == value || (read.is_nan() && value.is_nan()));
        }
    }
}
