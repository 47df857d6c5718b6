//! Small studies that the tests of this crate share.

use trainwright_study::{Configuration, Level, Study};

/// A study of these factors, each with the lines of its table, and the lines of its design.
pub(crate) fn study(factors: &[(&str, &str)], design: &str) -> Study {
    let factors: String =
        factors.iter().map(|(name, lines)| format!("[factors.{name}]\n{lines}\n")).collect();
    let text =
        format!("schema = 1\n[study]\nname = \"s\"\n{factors}[design]\n{design}\n[metrics.m]\n");
    Study::from_text(&text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// A configuration as a command line spells it: `a=1 b=x`.
pub(crate) fn configuration(text: &str) -> Configuration {
    let pair = |part: &str| {
        let (name, level) = part.split_once('=').unwrap();
        (name.to_owned(), Level::parse(level))
    };
    Configuration::new(text.split_whitespace().map(pair).collect())
}
