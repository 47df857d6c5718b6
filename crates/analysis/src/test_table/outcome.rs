//! The fields of a test's result, and what they mean in words.

use serde_json::{Map, Value, json};
use trainwright_stats::{Lenth, TTest, TailMethod, Tukey};

use super::input::{Groups, Pairs, Sample};
use super::{StatsTest, TestResult};
use crate::fit::analysis::BoxCoxSummary;
use crate::wording::{count, list, p_value};

/// Largest p-value called rare.
const RARE: f64 = 0.05;

/// A result in the making.
pub(super) struct Outcome {
    fields: Map<String, Value>,
    meaning: Vec<String>,
}

impl Outcome {
    /// A statistic and its p-value if the null hypothesis, put as a clause, holds.
    pub(super) fn test(statistic: f64, p: f64, null: &str) -> Self {
        Self::maybe(statistic, Some(p), null)
    }

    /// The same where the p-value may be undefined.
    pub(super) fn maybe(statistic: f64, p: Option<f64>, null: &str) -> Self {
        let words = match p {
            Some(p) => in_words(p, null),
            None => "The fit is perfect, so chance cannot be weighed against it.".to_owned(),
        };
        Self::without_test(words).with("statistic", statistic).with("p", p)
    }

    /// Words alone; fields follow.
    pub(super) fn without_test(words: String) -> Self {
        Self { fields: Map::new(), meaning: vec![words] }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn with_all(mut self, fields: Value) -> Self {
        if let Value::Object(fields) = fields {
            self.fields.extend(fields);
        }
        self
    }

    pub(super) fn with_bound(mut self) -> Self {
        self.meaning.push("The p-value is an upper bound: it is this small or smaller.".to_owned());
        self.with("p_is_bound", true)
    }

    pub(super) fn method(self, method: TailMethod) -> Self {
        self.with("p_method", method.name())
    }

    pub(super) fn t_test(self, found: &TTest) -> Self {
        let [low, high] = found.interval;
        let outcome = self.with("df", found.df).with("difference", found.difference);
        outcome.with("ci_low", low).with("ci_high", high)
    }

    pub(super) fn rows(self, sample: &Sample) -> Self {
        self.with("n", sample.values.len()).left_out(&sample.left_out)
    }

    pub(super) fn pairs(self, pairs: &Pairs) -> Self {
        self.with("n", pairs.first.len()).left_out(&pairs.left_out)
    }

    pub(super) fn groups(self, groups: &Groups) -> Self {
        let n: usize = groups.values.iter().map(Vec::len).sum();
        let group = |(name, values): (&String, &Vec<f64>)| {
            let mean = trainwright_stats::sample::mean(values).ok();
            let variance = trainwright_stats::sample::variance(values).ok();
            json!({ "name": name, "n": values.len(), "mean": mean, "variance": variance })
        };
        let listed: Vec<Value> = groups.names.iter().zip(&groups.values).map(group).collect();
        self.with("n", n).with("groups", listed).left_out(&groups.left_out)
    }

    fn left_out(mut self, lines: &[u64]) -> Self {
        if !lines.is_empty() {
            self.meaning.push(left_out_words(lines.len()));
        }
        self.with("left_out_lines", lines)
    }

    pub(super) fn left_out_count(mut self, number: usize) -> Self {
        if number > 0 {
            self.meaning.push(left_out_words(number));
        }
        self.with("left_out", number)
    }

    /// All pairs of group means; the statistic is the widest difference.
    pub(super) fn tukey(found: &Tukey, groups: &Groups) -> Self {
        let name = |place: usize| groups.names[place].as_str();
        let pairs: Vec<Value> = found
            .pairs
            .iter()
            .map(|pair| {
                json!({
                    "a": name(pair.second), "b": name(pair.first), "diff": pair.difference,
                    "low": pair.low, "high": pair.high, "p": pair.p,
                })
            })
            .collect();
        let apart: Vec<String> = found
            .pairs
            .iter()
            .filter(|pair| pair.p < RARE)
            .map(|pair| format!("{} - {}", name(pair.second), name(pair.first)))
            .collect();
        let whole = count(found.pairs.len(), "pair");
        let words = match apart.len() {
            0 => format!("None of {whole} of means differs: each interval holds 0."),
            1..=10 => format!("Means differ in {} of {whole}: {}.", apart.len(), list(&apart)),
            many => format!("Means differ in {many} of {whole}."),
        };
        let rate = "If all means were equal, the chance of any such claim would be 5 %.".to_owned();
        let widest = found.pairs.iter().max_by(|a, b| a.q.total_cmp(&b.q));
        let mut outcome = Self::without_test(words);
        outcome.meaning.push(rate);
        outcome
            .with("statistic", widest.map(|pair| pair.q))
            .with("p", widest.map(|pair| pair.p))
            .with("df", found.df)
            .with("mean_square", found.mean_square)
            .with("pairs", pairs)
            .groups(groups)
    }

    /// Effects of a factorial by name, with Lenth's margins.
    pub(super) fn lenth(effects: &[f64], margins: &Lenth) -> Self {
        let mut named: Vec<(usize, String, f64)> = effects
            .iter()
            .enumerate()
            .map(|(index, effect)| {
                let factors = (0..usize::BITS).filter(|bit| (index + 1) >> bit & 1 == 1);
                let letters: Vec<String> = factors.map(letter).collect();
                (letters.len(), letters.concat(), *effect)
            })
            .collect();
        // Stable, so that effects of one degree keep their standard order.
        named.sort_by_key(|(degree, _, _)| *degree);
        let beyond = |margin: f64| -> Vec<String> {
            let active = named.iter().filter(|(_, _, effect)| effect.abs() > margin);
            active.map(|(_, name, _)| name.clone()).collect()
        };
        let words = match beyond(margins.me).as_slice() {
            [] => "No effect stands out from the others.".to_owned(),
            active => format!(
                "Beyond the margin of error {}: {}.",
                if active.len() == 1 { "is" } else { "are" },
                list(active)
            ),
        };
        let sure = match beyond(margins.sme).as_slice() {
            [] => "None is beyond the simultaneous margin, which allows for their number.".into(),
            active => {
                format!("Also beyond the margin that allows for their number: {}.", list(active))
            }
        };
        let mut outcome = Self::without_test(words);
        outcome.meaning.push(sure);
        let fields: Map<String, Value> =
            named.into_iter().map(|(_, name, effect)| (name, effect.into())).collect();
        outcome
            .with("effects", fields)
            .with("pse", margins.pse)
            .with("me", margins.me)
            .with("sme", margins.sme)
    }

    /// The result, with the name of its test first.
    pub(super) fn named(self, test: StatsTest) -> TestResult {
        let mut fields = Map::new();
        fields.insert("test".to_owned(), test.name().into());
        fields.extend(self.fields);
        TestResult { fields, meaning: self.meaning }
    }
}

/// A, B, C and so on without I, which stands for the identity.
fn letter(bit: u32) -> String {
    let mut letters = ('A'..='Z').filter(|letter| *letter != 'I');
    match letters.nth(bit as usize) {
        Some(letter) => letter.to_string(),
        None => format!("X{}", bit - 24),
    }
}

fn left_out_words(number: usize) -> String {
    let verb = if number == 1 { "has no value and is" } else { "have no value and are" };
    format!("{} {verb} left out.", count(number, "row"))
}

/// What a p-value means for a null hypothesis put as a clause.
fn in_words(p: f64, null: &str) -> String {
    let verdict = if p < RARE {
        "That is rare: the data speak against it."
    } else {
        "That is not rare: the data do not speak against it, which does not prove it."
    };
    format!(
        "{}: if {null}, chance alone would give a result this far off {}. {verdict}",
        capital(&p_value(p)),
        how_often(p)
    )
}

fn capital(text: &str) -> String {
    text.replacen('p', "P", 1)
}

fn how_often(p: f64) -> String {
    if p >= 0.995 {
        "nearly always".to_owned()
    } else if p >= 0.015 {
        format!("about {:.0} times in 100", 100.0 * p)
    } else if p >= 1e-6 {
        format!("about once in {:.0} times", 1.0 / p)
    } else {
        "less than once in a million times".to_owned()
    }
}

/// What a Box-Cox power means.
pub(super) fn power_in_words(found: &BoxCoxSummary) -> String {
    let inside = |power: f64| {
        found.low.is_none_or(|low| low <= power) && found.high.is_none_or(|high| high >= power)
    };
    let advice = match (inside(1.0), inside(0.0)) {
        (true, _) => "Its interval holds 1, which means no change: the response can stay as it is.",
        (false, true) => "Its interval holds 0 but not 1: take the logarithm of the response.",
        (false, false) => "Its interval holds neither 1 (no change) nor 0 (the logarithm).",
    };
    format!("The most likely power of the response is {:.2}. {advice}", found.lambda)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_told_in_words() {
        let words = in_words(0.018, "all groups had the same mean");
        assert_eq!(
            words,
            "P = 0.018: if all groups had the same mean, chance alone would give a result this \
             far off about 2 times in 100. That is rare: the data speak against it."
        );
        assert!(in_words(0.39, "x").contains("39 times in 100. That is not rare"));
        assert!(in_words(7e-29, "x").contains("less than once in a million"));
        assert!(in_words(0.01, "x").contains("about once in 100 times"));
        assert!(in_words(0.002, "x").contains("once in 500 times"));
    }

    #[test]
    fn letters_leave_out_the_identity() {
        let names: Vec<String> = [0, 7, 8, 24, 25].map(letter).to_vec();
        assert_eq!(names, ["A", "H", "J", "Z", "X1"]);
    }
}
