//! Lines that match a regular expression.

use std::path::Path;

use trainwright_study::Pattern;

use super::{Point, Reading, number, shown};
use crate::output::text::{End, each_line};

/// The group `value` of every line that matches, with the group `step` where there is one.
///
/// A line counts once, by its first match. A last line without an end is taken as it is, unless it was
/// visibly cut off: its value ends in a decimal point, or it does not match and is the beginning of
/// a line such as the last that did, digits apart.
pub(crate) fn read(path: &Path, pattern: &Pattern) -> Reading {
    let mut reading = Reading::new(path);
    let (mut model, mut last) = (String::new(), String::new());
    let mut cut_value = false;
    let read = each_line(path, |line, text| {
        last.clear();
        cut_value = false;
        let value =
            pattern.regex().captures(text).and_then(|found| found.name("value").map(|_| found));
        let Some(found) = value else {
            last.push_str(text);
            return;
        };
        let Some(value) = found.name("value") else { return };
        model.clear();
        model.push_str(text);
        cut_value = value.end() == text.len() && value.as_str().ends_with('.');
        match number(value.as_str()) {
            Some(value) => {
                let step = found.name("step").and_then(|step| number(step.as_str()));
                let step = step.filter(|step| step.is_finite());
                reading.values.add(Point { line, text: shown(text).into(), value, step });
            }
            None => reading.complain(format!(
                "line {line} of {}: `{}` is no number",
                reading.place,
                shown(value.as_str())
            )),
        }
    });
    match read {
        Ok(End::Open) if cut_value || begins_like(&last, &model) => {
            let line = if cut_value { &model } else { &last };
            let (place, line) = (&reading.place, shown(line));
            let complaint = format!("the last line of {place} was cut off: `{line}`");
            reading.complain(complaint);
        }
        Ok(_) => {}
        Err(error) => reading.complain(format!("{}: {error}", path.display())),
    }
    reading
}

/// Whether a line is the beginning of one like another, whatever its numbers.
fn begins_like(line: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let (line, other) = (plain(line), plain(other));
    !line.trim().is_empty() && other.starts_with(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_like_line_is_known_whatever_its_numbers() {
        let whole = "epoch 3 loss 0.25 accuracy 0.9";
        for cut in ["e", "epoch 12 lo", "epoch 4 loss 0.1 accuracy 0", "epoch 4 loss 0."] {
            assert!(begins_like(cut, whole), "{cut}");
        }
        for other in ["", "  ", "12", "done", "epoch 4 time"] {
            assert!(!begins_like(other, whole), "{other}");
        }
        assert!(!begins_like("epoch", ""), "there was no line that matched");
    }
}
