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

#[cfg(test)]
mod tests {
    use trainwright_analysis::LevelSummary;
    use trainwright_study::Level;

    use super::*;

    #[test]
    fn a_single_value_has_no_known_spread() {
        let baseline = LevelSummary { level: Level::Integer(1), n: 1, mean: 12.5, sd: None };
        let found = Comparison {
            response: "time".to_owned(),
            by: "cores".to_owned(),
            paired: None,
            objective: None,
            alpha: 0.05,
            method: "ratio of means",
            adjustment: "holm",
            baseline,
            levels: vec![],
            findings: vec![],
        };
        let text = comparison_text(&found, Colour::Never);
        assert_eq!(
            text,
            "time by cores\n cores  n  mean   sd\n 1      1  12.50  unknown\n\n\n  Ratio of means; \
             p-values adjusted by Holm's method.\n"
        );
    }

    #[test]
    fn a_capital_is_one_letter_even_where_it_takes_two() {
        assert_eq!(capital("welch"), "Welch");
        assert_eq!(capital("ß"), "SS");
        assert_eq!(capital(""), "");
    }
}
