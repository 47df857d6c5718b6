//! `trainwright correlate`.

use trainwright_analysis::Correlations;
use trainwright_report::findings_text;

use crate::arguments::CorrelateArguments;
use crate::output::{plain_table, print, print_json, stdout_colour};

pub(crate) fn correlate(arguments: &CorrelateArguments) -> anyhow::Result<u8> {
    let found = trainwright::correlate(&arguments.data, &arguments.column, &arguments.with)?;
    if arguments.json {
        print_json("correlate", &found)?;
    } else {
        print(&text(&found))?;
    }
    Ok(0)
}

fn text(found: &Correlations) -> String {
    let mut table = plain_table();
    table.set_header(["", "n", "r", "95 % interval", "p adj.", "rho", "95 % interval", "p adj."]);
    let value = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:.3}"));
    let ends = |low: Option<f64>, high: Option<f64>| match low.zip(high) {
        Some((low, high)) => format!("{low:.3} to {high:.3}"),
        None => String::new(),
    };
    let p = |p: Option<f64>| match p {
        Some(p) if p < 0.001 => format!("{p:.0e}"),
        other => value(other),
    };
    for row in &found.rows {
        table.add_row([
            row.name.clone(),
            row.n.to_string(),
            value(Some(row.r)),
            ends(row.ci_low, row.ci_high),
            p(row.p_adjusted),
            value(row.rho),
            ends(row.rho_low, row.rho_high),
            p(row.rho_p_adjusted),
        ]);
    }
    let sentences: Vec<String> = found.rows.iter().map(|row| format!("  {}\n", row.text)).collect();
    let left_out: Vec<String> = found
        .left_out
        .iter()
        .map(|own| format!("  {} is left out: {}\n", own.name, own.reason))
        .collect();
    format!(
        "{} correlated with, Pearson's r and Spearman's rho (p-values adjusted by Holm's method)\n\
         {table}\n\n{}{}{}",
        found.response,
        sentences.concat(),
        left_out.concat(),
        findings_text(&found.findings, stdout_colour())
    )
}
