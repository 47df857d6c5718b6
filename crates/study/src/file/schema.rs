//! The JSON Schema of the study file, for editors and for finding unknown keys.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::file::draft::StudyDraft;
use crate::file::problem::Problem;

/// The JSON Schema of a study file.
pub fn study_schema() -> Value {
    let mut schema = schemars::schema_for!(StudyDraft).to_value();
    schema["title"] = "Trainwright study".into();
    schema
}

/// Tables of later versions, refused with a reason instead of "unknown".
const NOT_YET: [(&str, &str); 1] =
    [("search", "searches are not built in yet: list levels and choose a [design]")];

/// Every key that the schema does not know, with a guess at what was meant.
pub(crate) fn unknown_keys(document: &DeTable<'_>) -> Vec<Problem> {
    let schema = study_schema();
    let mut walk = Walk { root: &schema, problems: Vec::new() };
    walk.table(document, &schema);
    walk.problems
}

struct Walk<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>, schema: &Value) {
        let schema = self.resolve(schema).clone();
        let known: BTreeMap<&str, &Value> = match schema["properties"].as_object() {
            Some(properties) => properties.iter().map(|(k, v)| (k.as_str(), v)).collect(),
            None => BTreeMap::new(),
        };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if let Some(inner) = known.get(name) {
                self.value(value, inner);
            } else if schema["additionalProperties"].is_object() {
                self.value(value, &schema["additionalProperties"]);
            } else if !known.is_empty() {
                self.problems.push(unknown(name, key.span(), known.keys().copied()));
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &Value) {
        if let Some(table) = value.get_ref().as_table() {
            self.table(table, schema);
        } else if let Some(array) = value.get_ref().as_array() {
            let items = self.resolve(schema)["items"].clone();
            for item in array.iter() {
                self.value(item, &items);
            }
        }
    }

    /// Follows references and the "or null" of optional tables.
    fn resolve<'v>(&'v self, schema: &'v Value) -> &'v Value {
        if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            return &self.root["$defs"][name];
        }
        match schema["anyOf"].as_array().and_then(|options| options.first()) {
            Some(first) => self.resolve(first),
            None => schema,
        }
    }
}

fn unknown<'a>(name: &str, span: Range<usize>, known: impl Iterator<Item = &'a str>) -> Problem {
    if let Some((_, reason)) = NOT_YET.iter().find(|(key, _)| *key == name) {
        let message = format!("`{name}` is refused");
        return Problem { message, span, help: Some((*reason).to_owned()) };
    }
    let known: Vec<&str> = known.collect();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Problem { message: format!("unknown key `{name}`"), span, help: Some(help) }
}

/// The candidate that `word` was most likely meant to be.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(word.len()) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}
