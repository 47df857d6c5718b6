//! Lines that come near to what a rule looks for.

use std::collections::BTreeSet;
use std::path::Path;

use crate::output::text::each_line;

/// Lines shown at most.
const SHOWN: usize = 3;
/// Characters of a line shown at most.
const WIDTH: usize = 160;

/// The lines of a text that share most with the letters of `wanted`, at least half of them.
///
/// Likeness is the share of the pairs of neighbouring letters of `wanted` that the line has too.
pub(crate) fn nearest(path: &Path, wanted: &str) -> Vec<(usize, String)> {
    let wanted = pairs(wanted);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut best: Vec<(f64, usize, String)> = Vec::new();
    // A text that cannot be read has no near lines; the rule's own reading tells the reason.
    let _ = each_line(path, |number, line| {
        let line_letters = line.to_lowercase();
        let shared = wanted.iter().filter(|pair| line_letters.contains(pair.as_str())).count();
        let likeness = shared as f64 / wanted.len() as f64;
        if likeness < 0.5 || (best.len() == SHOWN && likeness <= best[SHOWN - 1].0) {
            return;
        }
        best.push((likeness, number, shown(line)));
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(SHOWN);
    });
    best.into_iter().map(|(_, number, line)| (number, line)).collect()
}

/// Neighbouring letters and digits, in lower case.
fn pairs(text: &str) -> BTreeSet<String> {
    let letters: Vec<char> = text.to_lowercase().chars().collect();
    letters
        .windows(2)
        .filter(|pair| pair.iter().all(|c| c.is_alphanumeric()))
        .map(|pair| pair.iter().collect())
        .collect()
}

/// The beginning of a line, as it is kept and shown.
pub(crate) fn shown(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// The letters that a regular expression asks for literally, without its groups' names.
pub(crate) fn literal_letters(pattern: &str) -> String {
    let mut letters = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            // An escape: `\d`, `\.`; a literal one is never a letter.
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            // A group's name or flags, and a class.
            '(' if rest.starts_with("(?") => rest.find(['>', ':', ')']).map_or(1, |end| end + 1),
            '[' => rest.find(']').map_or(1, |end| end + 1),
            _ => 0,
        };
        if skipped > 0 {
            letters.push(' ');
            rest = &rest[skipped..];
        } else {
            letters.push(if c.is_alphanumeric() { c } else { ' ' });
            rest = &rest[c.len_utf8()..];
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_of_a_pattern_are_those_it_asks_for() {
        let letters = literal_letters(r"^val_acc[=:]\s*(?P<value>[0-9.]+)%");
        assert_eq!(letters.split_whitespace().collect::<Vec<_>>(), ["val", "acc"]);
        assert_eq!(literal_letters(r"(?i)loss (?<value>\d+)").trim(), "loss");
    }

    #[test]
    fn the_likest_lines_come_first() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "hello\nacc 1\nVAL ACCURACY: 0.9\nval_accuracy 0.91\n").unwrap();
        let near = nearest(file.path(), "accuracy:");
        assert_eq!(near[0], (3, "VAL ACCURACY: 0.9".to_owned()));
        assert_eq!(near[1], (4, "val_accuracy 0.91".to_owned()));
        assert_eq!(near.len(), 2, "`acc 1` has 2 of 7 pairs");
    }

    proptest! {
        #[test]
        fn no_pattern_or_line_makes_this_panic(text in "(?s).{0,80}") {
            let _ = literal_letters(&text);
            let _ = (pairs(&text), shown(&text.repeat(4)));
        }
    }
}
