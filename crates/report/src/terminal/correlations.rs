//! A response correlated with its parameters.

use trainwright_analysis::Correlations;

use super::{Colour, TextTable, findings_text};
use crate::figure::p_value;

/// Both correlations of every parameter, in a table and in words.
pub fn correlations_text(found: &Correlations, colour: Colour) -> String {
    let mut table = TextTable::with_header([
        "",
        "n",
        "r",
        "95 % interval",
        "p adj.",
        "rho",
        "95 % interval",
        "p adj.",
    ]);
    for row in &found.rows {
        table.row([
            row.name.clone(),
            row.n.to_string(),
            decimals(Some(row.r)),
            ends(row.ci_low, row.ci_high),
            chance(row.p_adjusted),
            decimals(row.rho),
            ends(row.rho_low, row.rho_high),
            chance(row.rho_p_adjusted),
        ]);
    }
    let sentences: String = found.rows.iter().map(|row| format!("  {}\n", row.text)).collect();
    let left_out: String = found
        .left_out
        .iter()
        .map(|own| format!("  {} is left out: {}\n", own.name, own.reason))
        .collect();
    format!(
        "{} correlated with, Pearson's r and Spearman's rho (p-values adjusted by Holm's method)\n\
         {table}\n{sentences}{left_out}{}",
        found.response,
        findings_text(&found.findings, colour)
    )
}

fn decimals(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

fn ends(low: Option<f64>, high: Option<f64>) -> String {
    low.zip(high).map_or_else(String::new, |(low, high)| format!("{low:.3} to {high:.3}"))
}

fn chance(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => p_value(p),
        other => decimals(other),
    }
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::{CorrelationRow, LeftOut};

    use super::*;

    #[test]
    fn chances_too_small_for_decimals_are_written_by_their_size() {
        for (p, expected) in
            [(0.25, "0.250"), (0.001, "0.001"), (0.000_34, "3e-4"), (0.0, "< 1e-300")]
        {
            assert_eq!(chance(Some(p)), expected);
        }
        assert_eq!(chance(None), "");
    }

    #[test]
    fn what_is_unknown_is_left_empty_and_columns_left_out_say_why() {
        let row = CorrelationRow {
            name: "n".to_owned(),
            n: 3,
            r: -0.5,
            ci_low: None,
            ci_high: Some(0.5),
            p: None,
            p_adjusted: None,
            r2: 0.25,
            rho: None,
            rho_low: Some(-0.9),
            rho_high: Some(0.1),
            rho_p: None,
            rho_p_adjusted: Some(0.04),
            r2_quadratic: None,
            curvature_p: None,
            lack_of_fit_p: None,
            text: "It falls.".to_owned(),
        };
        let left = LeftOut { name: "m".to_owned(), reason: "it never varies".to_owned() };
        let found = Correlations {
            response: "y".to_owned(),
            adjustment: "holm",
            rows: vec![row],
            left_out: vec![left],
            findings: vec![],
        };
        let text = correlations_text(&found, Colour::Never);
        let line = text.lines().find(|line| line.starts_with(" n ")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["n", "3", "-0.500", "-0.900", "to", "0.100", "0.040"]);
        assert!(text.ends_with("\n  It falls.\n  m is left out: it never varies\n"), "{text}");
    }
}
