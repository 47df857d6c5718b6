//! What runs: commands as the user wrote them, with parameters filled in.

use std::fmt;

use trainwright_study::{Direction, Pattern, is_identifier};

use super::BenchRequest;
use crate::Error;

/// Combinations of parameters and commands that may run.
const MOST_COMMANDS: usize = 1000;
/// Letters of a command that name it in sentences.
const LABEL: usize = 48;

/// A command to time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchCommand {
    /// What runs.
    pub text: BenchText,
    /// What to call it.
    pub name: Option<String>,
}

/// A command as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BenchText {
    /// A text for a shell, or to be split into words where there is none.
    Line(String),
    /// A program and its arguments, which no shell sees however few they are.
    Words(Vec<String>),
}

/// Values for `{name}` in commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchParameter {
    /// The name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

impl BenchParameter {
    /// Numbers from one to another, both included where the steps meet them.
    ///
    /// # Errors
    /// No numbers, a step that leads nowhere, or too many values.
    pub fn scan(name: &str, from: &str, to: &str, step: Option<&str>) -> Result<Self, Error> {
        let wrong = |what: String| Error::Request(format!("the scan of `{name}`: {what}"));
        let number = |text: &str| {
            let value = text.parse::<f64>().ok().filter(|own| own.is_finite());
            value.ok_or_else(|| wrong(format!("`{text}` is not a number")))
        };
        let (first, last, by) = (number(from)?, number(to)?, number(step.unwrap_or("1"))?);
        if by <= 0.0 || last < first {
            return Err(wrong(format!("from {from} to {to} by {by} leads nowhere")));
        }
        // Half a step more keeps the last value whatever rounding does.
        let count = (((last - first) / by + 1e-9).floor() as usize).saturating_add(1);
        if count > MOST_COMMANDS {
            return Err(wrong(format!("there are {count} values; {MOST_COMMANDS} may be")));
        }
        let places = [from, to, step.unwrap_or("1")].map(decimal_places);
        let places = places.into_iter().max().unwrap_or(0);
        let values = (0..count).map(|at| format!("{:.*}", places, first + at as f64 * by));
        Ok(Self { name: name.to_owned(), values: values.collect() })
    }
}

/// Digits after the point of a number as it is written; `2.5e-3` has four.
fn decimal_places(text: &str) -> usize {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let after = digits.split_once('.').map_or(0, |(_, after)| after.len() as i64);
    let exponent: i64 = exponent.parse().unwrap_or(0);
    usize::try_from(after - exponent).unwrap_or(0)
}

/// What runs commands that are one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BenchShell {
    /// A program and its arguments; `-c` and the text follow.
    Program(Vec<String>),
    /// None: texts are split into words at blanks, quotes keep them together.
    None,
}

impl Default for BenchShell {
    fn default() -> Self {
        Self::Program(vec!["sh".to_owned()])
    }
}

impl fmt::Display for BenchShell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(words) => f.write_str(&words.join(" ")),
            Self::None => f.write_str("none"),
        }
    }
}

/// A number that commands print, compared instead of their time.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchMetric {
    /// What to call it.
    pub name: String,
    /// Where it stands in the output; a key of `::metric` lines where absent.
    pub pattern: Option<Pattern>,
    /// Its unit, for words.
    pub unit: Option<String>,
    /// Which end of it is good.
    pub objective: Option<Direction>,
}

impl BenchMetric {
    /// Reads `name`, `name=pattern` or a pattern by itself.
    ///
    /// # Errors
    /// A pattern that cannot be read, or has no group named `value`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (name, pattern) = match text.split_once('=') {
            _ if is_identifier(text) => (text, None),
            Some((name, pattern)) if is_identifier(name) => (name, Some(pattern)),
            _ => ("value", Some(text)),
        };
        let pattern = pattern.map(Pattern::parse).transpose().map_err(|what| {
            Error::Request(format!(
                "the metric `{text}`: {what}; write a key of ::metric lines, such as rate, or \
                 where the number stands, such as 'rate=(?<value>[0-9.]+) items/s'"
            ))
        })?;
        Ok(Self { name: name.to_owned(), pattern, unit: None, objective: None })
    }
}

/// A command ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadyCommand {
    /// How it is named in sentences.
    pub(super) label: String,
    /// The command as the user would write it.
    pub(super) text: String,
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// Whether a shell runs it.
    pub(super) through_shell: bool,
    /// What runs before it, program and arguments.
    pub(super) prepare: Option<Vec<String>>,
    /// Values of its parameters.
    pub(super) parameters: Vec<(String, String)>,
}

/// Every command with every combination of parameters.
pub(super) fn expanded(request: &BenchRequest) -> Result<Vec<ReadyCommand>, Error> {
    let wrong = |what: &str| Err(Error::Request(what.to_owned()));
    if request.commands.is_empty() {
        return wrong("there is no command to time");
    }
    if !(request.prepare.len() <= 1 || request.prepare.len() == request.commands.len()) {
        return wrong("give --prepare once for all commands, or once for each");
    }
    if !(request.alpha > 0.0 && request.alpha < 1.0) {
        return wrong("alpha must lie between 0 and 1");
    }
    let combinations = combinations(&request.parameters)?;
    if combinations.len() * request.commands.len() > MOST_COMMANDS {
        return wrong("there are more than 1000 commands");
    }
    let mut ready = Vec::new();
    for values in &combinations {
        for (at, command) in request.commands.iter().enumerate() {
            let prepare = request.prepare.get(at).or(request.prepare.first());
            ready.push(ready_command(request, command, prepare, values)?);
        }
    }
    tell_apart(&mut ready);
    Ok(ready)
}

fn ready_command(
    request: &BenchRequest,
    command: &BenchCommand,
    prepare: Option<&String>,
    values: &[(String, String)],
) -> Result<ReadyCommand, Error> {
    let (text, words, through_shell) = match &command.text {
        BenchText::Line(text) => {
            let text = fill(text, values);
            let words = words_of(&request.shell, &text)?;
            (text, words, request.shell != BenchShell::None)
        }
        BenchText::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| fill(word, values)).collect();
            (words.join(" "), words, false)
        }
    };
    if words.first().is_none_or(String::is_empty) {
        return Err(Error::Request("a command is empty".to_owned()));
    }
    let name = command.name.as_ref().map(|name| fill(name, values));
    let prepare = prepare.map(|own| words_of(&request.shell, &fill(own, values))).transpose()?;
    Ok(ReadyCommand {
        label: name.unwrap_or_else(|| shortened(&text)),
        text,
        words,
        through_shell,
        prepare,
        parameters: values.to_vec(),
    })
}

/// Words that a shell gets, or that a text splits into.
pub(super) fn words_of(shell: &BenchShell, text: &str) -> Result<Vec<String>, Error> {
    match shell {
        BenchShell::Program(words) => {
            Ok([words.as_slice(), &["-c".to_owned(), text.to_owned()]].concat())
        }
        BenchShell::None => split(text)
            .ok_or_else(|| Error::Request(format!("a quotation mark of `{text}` is not closed"))),
    }
}

/// Splits at blanks; quotes and backslashes keep them together, as in a shell.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let own = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        other => own.push(other),
                    }
                }
            }
            '"' => {
                let own = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            escaped @ ('"' | '\\' | '$' | '`') => own.push(escaped),
                            other => own.extend(['\\', other]),
                        },
                        other => own.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// The text with values in place of `{name}`; a value that looks like a name stays as it is.
fn fill(text: &str, values: &[(String, String)]) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, from)) = rest.split_once('{') {
        filled.push_str(before);
        let named = |(name, _): &&(String, String)| {
            from.strip_prefix(name.as_str()).is_some_and(|after| after.starts_with('}'))
        };
        rest = match values.iter().find(named) {
            Some((name, value)) => {
                filled.push_str(value);
                &from[name.len() + 1..]
            }
            None => {
                filled.push('{');
                from
            }
        };
    }
    filled + rest
}

fn combinations(parameters: &[BenchParameter]) -> Result<Vec<Vec<(String, String)>>, Error> {
    let mut found = vec![Vec::new()];
    for parameter in parameters {
        if parameter.values.is_empty() {
            return Err(Error::Request(format!("`{}` has no values", parameter.name)));
        }
        let mut next = Vec::new();
        for own in &found {
            for value in &parameter.values {
                let mut own: Vec<(String, String)> = Clone::clone(own);
                own.push((parameter.name.clone(), value.clone()));
                next.push(own);
            }
        }
        found = next;
        if found.len() > MOST_COMMANDS {
            return Err(Error::Request("there are more than 1000 combinations".to_owned()));
        }
    }
    Ok(found)
}

/// The two ends of a long command, which differ more often than its middle.
fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= LABEL {
        return text;
    }
    let half = LABEL / 2 - 1;
    let (front, back) = (&letters[..half], &letters[letters.len() - half..]);
    format!("{}…{}", front.iter().collect::<String>(), back.iter().collect::<String>())
}

/// Numbers commands whose labels are the same, until none are: a label may look like a numbered one.
fn tell_apart(ready: &mut [ReadyCommand]) {
    loop {
        let labels: Vec<String> = ready.iter().map(|own| own.label.clone()).collect();
        let mut changed = false;
        for (at, own) in ready.iter_mut().enumerate() {
            if labels.iter().filter(|label| **label == own.label).count() > 1 {
                own.label = format!("{} ({})", own.label, at + 1);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_splits_into_words_as_in_a_shell() {
        let words = |text: &str| split(text);
        assert_eq!(
            words("a  'b c' \"d \\\" e\" f\\ g ''").unwrap(),
            ["a", "b c", "d \" e", "f g", ""]
        );
        assert_eq!(words("a\"b\"'c'").unwrap(), ["abc"]);
        assert_eq!((words("'a"), words("\"a"), words("a\\")), (None, None, None));
        assert_eq!(words(" ").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_scan_has_both_ends_and_the_digits_of_its_numbers() {
        let values = |from, to, step| BenchParameter::scan("n", from, to, step).unwrap().values;
        assert_eq!(values("1", "3", None), ["1", "2", "3"]);
        assert_eq!(values("0.3", "0.7", Some("0.2")), ["0.3", "0.5", "0.7"]);
        for (from, to, step) in [("3", "1", None), ("1", "2", Some("0")), ("a", "2", None)] {
            assert!(BenchParameter::scan("n", from, to, step).is_err());
        }
    }

    #[test]
    fn a_metric_is_a_key_or_a_pattern() {
        assert_eq!(BenchMetric::parse("rate").unwrap().pattern, None);
        let named = BenchMetric::parse("rate=(?<value>\\d+)/s").unwrap();
        assert_eq!((named.name.as_str(), named.pattern.is_some()), ("rate", true));
        assert_eq!(BenchMetric::parse("took (?<value>\\d+)").unwrap().name, "value");
        let error = BenchMetric::parse("rate=\\d+").unwrap_err().to_string();
        assert!(error.contains("no group `(?P<value>...)`"), "{error}");
    }

    #[test]
    fn long_commands_are_named_by_both_ends() {
        let long = format!("run {} end", "x".repeat(90));
        let label = shortened(&long);
        assert!(label.chars().count() <= LABEL && label.ends_with(" end"), "{label}");
    }

    proptest! {
        #[test]
        fn words_in_single_quotes_come_back(words in prop::collection::vec("[^']{0,12}", 1..5)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(split(&quoted.join(" ")).unwrap(), words);
        }

        #[test]
        fn any_text_splits_or_is_refused(text in ".*") {
            let _ = split(&text);
        }
    }

    #[test]
    fn a_scan_of_small_numbers_or_of_far_too_many_is_what_it_says() {
        let values =
            |from, to, step| BenchParameter::scan("n", from, to, step).map(|own| own.values);
        assert_eq!(values("1e-3", "3e-3", Some("1e-3")).unwrap(), ["0.001", "0.002", "0.003"]);
        assert_eq!(values("2.5e2", "3e2", Some("25")).unwrap(), ["250", "275", "300"]);
        let told = values("0", "1e300", Some("1e-9")).unwrap_err().to_string();
        assert!(told.contains("the scan of `n`") && told.contains("1000 may be"), "{told}");
        assert_eq!(values("1", "1000", None).unwrap().len(), 1000);
        assert!(values("0", "1000", None).is_err());
        assert!(values("nan", "1", None).is_err() && values("1", "inf", None).is_err());
    }

    #[test]
    fn values_are_filled_in_once_and_what_is_no_name_stays() {
        let values = [("a".to_owned(), "{b}".to_owned()), ("b".to_owned(), "x".to_owned())];
        assert_eq!(fill("{a} {b} {c} {{a}} {", &values), "{b} x {c} {{b}} {");
        assert_eq!(fill("awk '{print $1}' {b}", &values), "awk '{print $1}' x");
        assert_eq!(fill("", &values), "");
    }

    #[test]
    fn no_two_commands_have_one_label() {
        let ready = |label: &str| ReadyCommand {
            label: label.to_owned(),
            text: label.to_owned(),
            words: vec![label.to_owned()],
            through_shell: false,
            prepare: None,
            parameters: Vec::new(),
        };
        let mut all = ["a", "a", "a (1)", "b"].map(ready);
        tell_apart(&mut all);
        let labels: std::collections::BTreeSet<&str> =
            all.iter().map(|own| own.label.as_str()).collect();
        assert_eq!(labels.len(), 4, "{labels:?}");
        assert_eq!(all[3].label, "b", "one that is alone keeps its label");
    }

    #[test]
    fn every_combination_runs_and_too_many_are_refused() {
        let parameter = |name: &str, count: usize| BenchParameter {
            name: name.to_owned(),
            values: (0..count).map(|own| own.to_string()).collect(),
        };
        let all = combinations(&[parameter("a", 2), parameter("b", 3)]).unwrap();
        assert_eq!(all.len(), 6);
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!(combinations(&[]).unwrap(), [Vec::new()]);
        assert!(combinations(&[parameter("a", 40), parameter("b", 40)]).is_err());
        let told = combinations(&[parameter("none", 0)]).unwrap_err().to_string();
        assert_eq!(told, "`none` has no values");
    }
}
