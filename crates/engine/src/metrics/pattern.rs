//! Lines that match a regular expression.

use std::path::Path;

use trainwright_study::Pattern;

use super::{Point, Reading, number, shown};
use crate::output::text::each_line;

/// The group `value` of every line that matches, with the group `step` where there is one.
///
/// A line counts once, by its first match.
pub(crate) fn read(path: &Path, pattern: &Pattern) -> Reading {
    let mut reading = Reading::new(path);
    let read = each_line(path, |line, text| {
        let Some(found) = pattern.regex().captures(text) else { return };
        let Some(value) = found.name("value") else { return };
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
    if let Err(error) = read {
        reading.complain(format!("{}: {error}", path.display()));
    }
    reading
}
