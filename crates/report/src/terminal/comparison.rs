//! Levels compared with a baseline.

use trainwright_analysis::Comparison;

use super::{Colour, TextTable, findings_text};
use crate::figure::figure;

/// The groups, each against the baseline in words, and what to know about it.
pub fn comparison_text(found: &Comparison, colour: Colour) -> String {
    let mut table = TextTable::with_header([found.by.as_str(), "n", "mean", "sd"]);
    let owns = std::iter::once(&found.baseline).chain(found.levels.iter().map(|own| &own.own));
    for own in owns {
        let sd = own.sd.map_or_else(|| "unknown".to_owned(), figure);
        table.row([own.level.to_string(), own.n.to_string(), figure(own.mean), sd]);
    }
    let sentences: String = found.levels.iter().map(|own| format!("  {}\n", own.text)).collect();
    format!(
        "{} by {}\n{table}\n{sentences}\n  {}; p-values adjusted by Holm's method.\n{}",
        found.response,
        found.by,
        capital(found.method),
        findings_text(&found.findings, colour)
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
