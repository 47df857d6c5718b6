//! A response correlated with its parameters.

use trainwright_analysis::Correlations;

use super::{Colour, TextTable, findings_text};

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
        Some(p) if p < 0.001 => format!("{p:.0e}"),
        other => decimals(other),
    }
}
