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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::JOB_KEYS;

    fn unknown_in(text: &str) -> Vec<(String, String)> {
        let document = DeTable::parse(text).unwrap();
        unknown_keys(document.get_ref())
            .into_iter()
            .map(|problem| {
                (text[problem.span.clone()].to_owned(), problem.help.unwrap_or_default())
            })
            .collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = unknown_in(text);
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn unknown_keys_are_found_at_every_depth() {
        check("shema = 1", &[("shema", "did you mean `schema`?")]);
        check("[factors.x]\nlevel = [1]", &[("level", "did you mean `levels`?")]);
        check("[factors.x]\nrange = { form = 1 }", &[("form", "did you mean `from`?")]);
        check(
            "[[constraint]]\nexpr = \"a\"\n[[constraint]]\nexp = \"a\"",
            &[("exp", "did you mean `expr`?")],
        );
        check("[budget]\nqqqqqqqq = 1", &[("qqqqqqqq", "there are max_hours, price_per_hour")]);
    }

    #[test]
    fn names_that_the_user_gives_are_never_unknown() {
        check(
            "[factors.anything]\n[metrics.whatever]\n[echo.it]\n[run.env]\nANY = \"1\"\n\
             [design.baseline]\nsome = 1",
            &[],
        );
    }

    #[test]
    fn every_unknown_key_is_told() {
        let found = unknown_in("a = 1\n[study]\nb = 2\n[run]\nc = 3");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn the_nearest_word_is_at_most_a_third_away() {
        let known = || ["lr", "batch", "epochs", "optimizer"].into_iter();
        assert_eq!(nearest("bacth", known()), Some("batch"));
        assert_eq!(nearest("epoch", known()), Some("epochs"));
        assert_eq!(nearest("optimisers", known()), Some("optimizer"));
        assert_eq!(nearest("rl", known()), None, "two letters are too few for a guess");
        assert_eq!(nearest("size", known()), None);
        assert_eq!(nearest("size", [].into_iter()), None);
        // Of two that are as near, the first by letter, whatever their order.
        assert_eq!(nearest("max", ["map", "mab"].into_iter()), Some("mab"));
    }

    #[test]
    fn the_schema_knows_the_keys_of_a_job_that_the_trainer_knows() {
        let schema = study_schema();
        let shown = schema["$defs"]["JobDraft"]["properties"].as_object().unwrap();
        let shown: BTreeSet<&str> = shown.keys().map(String::as_str).collect();
        assert_eq!(shown, BTreeSet::from(JOB_KEYS));
    }

    #[test]
    fn every_key_of_the_schema_is_described() {
        let schema = study_schema();
        for (table, own) in schema["$defs"].as_object().unwrap() {
            for (key, property) in own["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{table}.{key}");
            }
        }
    }
}
