//! Coefficients and analysis-of-variance tables as plain text.

use trainwright_analysis::wording::percent;
use trainwright_analysis::{Analysis, AnovaLine, AnovaTable};

use super::Colour;
use super::text_table::TextTable;
use super::verdict::put;
use crate::figure::{figure, p_value};

/// More coefficients than this are left to `--json`.
const MOST_COEFFICIENTS: usize = 40;

/// The equation, its coefficients and the figures of the whole.
pub(super) fn put_fit(text: &mut String, analysis: &Analysis, colour: Colour) {
    let fit = &analysis.fit;
    put(text, &format!("\n{}", colour.heading("Equation")));
    put(text, &format!("  {}", analysis.formula));
    let explained = percent(100.0 * fit.r2);
    put(text, &format!("  n = {}, {explained} explained", analysis.n));
    put(text, &format!("\n{}", colour.heading("Coefficients")));
    let confidence = figure(100.0 * (1.0 - analysis.alpha));
    let from = format!("{confidence} % from");
    let head = ["name", "estimate", "std error", "t", "p", &from, "to", "VIF", ""];
    let mut table = TextTable::with_header(head).numbers_in(1..8);
    for row in fit.coefficients.iter().take(MOST_COEFFICIENTS) {
        table.row([
            row.name.clone(),
            shown(row.estimate, figure),
            shown(row.std_error, figure),
            shown(row.t, figure),
            shown(row.p, p_value),
            shown(row.ci_low, figure),
            shown(row.ci_high, figure),
            shown(row.vif, figure),
            if row.aliased { "aliased" } else { "" }.to_owned(),
        ]);
    }
    text.push_str(&table.to_string());
    if fit.coefficients.len() > MOST_COEFFICIENTS {
        let more = fit.coefficients.len() - MOST_COEFFICIENTS;
        put(text, &format!("  and {more} more, which --json lists"));
    }
    let named = |name: &str, value: Option<f64>, form: fn(f64) -> String| {
        value.map(|value| format!("{name} {}", form(value)))
    };
    let figures = [
        named("R2", Some(fit.r2), figure),
        named("adjusted", fit.adj_r2, figure),
        named("residual deviation", fit.sigma, figure),
        fit.f.zip(fit.p).map(|(f, p)| {
            let (first, second) = (fit.df_model, fit.df_residual);
            format!("F({first}, {second}) {}, p {}", figure(f), p_value(p))
        }),
        named("AIC", fit.aic, figure),
        named("BIC", fit.bic, figure),
    ];
    put(text, &format!("  {}", figures.into_iter().flatten().collect::<Vec<_>>().join("; ")));
}

/// One table of sums of squares.
pub(super) fn put_anova(text: &mut String, table: &AnovaTable, colour: Colour) {
    let kind = u8::from(table.kind);
    put(text, &format!("\n{} {kind}", colour.heading("Analysis of variance, type")));
    put_lines(text, &table.rows);
}

/// One table a source of error.
pub(super) fn put_strata(text: &mut String, analysis: &Analysis, colour: Colour) {
    for table in &analysis.strata {
        put(text, &format!("\n{} {}", colour.heading("Stratum"), table.stratum));
        put_lines(text, &table.rows);
    }
}

fn put_lines(text: &mut String, lines: &[AnovaLine]) {
    let head =
        ["term", "df", "sum of sq", "F", "p", "p (Holm)", "share", "part. eta2", "omega2", ""];
    let mut table = TextTable::with_header(head).numbers_in(1..9);
    for row in lines {
        table.row([
            row.term.clone(),
            row.df.to_string(),
            shown(row.sum_sq, figure),
            shown(row.f, figure),
            shown(row.p, p_value),
            shown(row.p_adjusted, p_value),
            shown(row.percent, percent),
            shown(row.partial_eta_sq, figure),
            shown(row.omega_sq, figure),
            if row.aliased { "aliased with other terms" } else { "" }.to_owned(),
        ]);
    }
    text.push_str(&table.to_string());
}

fn shown(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map(form).unwrap_or_default()
}
