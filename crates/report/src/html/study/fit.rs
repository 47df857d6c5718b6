//! The fitted equation and how far to trust it.

use trainwright_analysis::wording::{p_value as p_in_words, percent};
use trainwright_analysis::{Analysis, AnovaTable, AnovaType, LogScale};

use crate::charts::{
    Charts, MOST_POINTS, against_fitted, against_order, histogram, power_profile, quantiles,
};
use crate::escape::escape;
use crate::figure::{figure, to_spread};
use crate::html::{facts, folded, note, paragraph, without_analysis};
use crate::input::ReportInput;
use crate::table::{Cell, Sorting, Table};

/// Fit, ANOVA, coefficients, residuals, Box-Cox and the log scale.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    input.analysis.map_or_else(|| without_analysis(input), |analysis| shown(analysis, charts))
}

/// The same for an analysis that needs no study.
pub(in crate::html) fn shown(analysis: &Analysis, charts: &mut Charts) -> String {
    let mut out = summary(analysis);
    out += &anova(analysis);
    out += &coefficients(analysis);
    if !analysis.residuals.is_empty() {
        out += "<h3>Residuals</h3>\n<div class=\"pair\">";
        out += &charts.place("residuals-fitted", against_fitted(analysis));
        out += &charts.place("residuals-order", against_order(analysis));
        out += &charts.place("residuals-quantiles", quantiles(analysis));
        if let Some(chart) = histogram(analysis) {
            out += &charts.place("residuals-histogram", chart);
        }
        out += "</div>\n";
    }
    if analysis.residuals.len() > MOST_POINTS {
        out += &note(&format!(
            "Each chart shows {MOST_POINTS} of {} residuals: the largest quarter of them and an \
             even sample of the rest.",
            analysis.residuals.len()
        ));
    }
    out += &box_cox(analysis);
    let profile = analysis.box_cox.as_ref();
    if let Some(chart) = profile.and_then(|own| power_profile(&analysis.response, own)) {
        out += &charts.place("power-profile", chart);
    }
    if let Some(log_scale) = &analysis.log_scale {
        out += &logarithm(analysis, log_scale);
    }
    out
}

fn summary(analysis: &Analysis) -> String {
    let fit = &analysis.fit;
    let shown = |value: Option<f64>| {
        value.map_or_else(
            || "\u{2013}".to_owned(),
            |value| format!("<span title=\"{value}\">{}</span>", figure(value)),
        )
    };
    let p = fit.p.map_or_else(String::new, |p| format!(", {}", escape(&p_in_words(p))));
    let mut out = format!("<p><code>{}</code></p>\n", escape(&analysis.formula));
    out += &facts(&[
        ("observations", analysis.n.to_string()),
        (
            "explained (R\u{b2})",
            format!("<span title=\"{}\">{}</span>", fit.r2, percent(100.0 * fit.r2)),
        ),
        ("adjusted R\u{b2}", shown(fit.adj_r2)),
        ("residual deviation", shown(fit.sigma)),
        ("residual degrees of freedom", fit.df_residual.to_string()),
        ("F of the equation", format!("{}{p}", shown(fit.f))),
        ("AIC", shown(fit.aic)),
        ("BIC", shown(fit.bic)),
    ]);
    out
}

fn anova(analysis: &Analysis) -> String {
    if analysis.anova.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h3>Analysis of variance</h3>\n<div data-tabs>\n");
    // Type II answers most questions of a designed experiment, so it is in front.
    let front = analysis.anova.iter().position(|own| own.kind == AnovaType::Two).unwrap_or(0);
    for (index, table) in analysis.anova.iter().enumerate() {
        let (name, meaning) = match table.kind {
            AnovaType::One => ("Type I", "Each term after those before it: the order matters."),
            AnovaType::Two => ("Type II", "Each term after all others that do not contain it."),
            AnovaType::Three => {
                ("Type III", "Each term after all others, with sum-to-zero contrasts.")
            }
        };
        let front = if index == front { " data-front" } else { "" };
        out += &format!(
            "<div data-tab=\"{name}\"{front}><h4>{name}</h4><p class=\"quiet\">{meaning}</p>{}</div>\n",
            anova_table(table, name, analysis.alpha)
        );
    }
    out + "</div>\n"
}

fn anova_table(table: &AnovaTable, name: &str, alpha: f64) -> String {
    let mut out = Table::new(
        &format!("Analysis of variance, {name}"),
        Sorting::Fixed,
        &[
            "term",
            "df",
            "sum of squares",
            "mean square",
            "F",
            "p",
            "p, Holm",
            "of variation",
            "partial eta²",
            "omega²",
        ],
    );
    for line in &table.rows {
        let term =
            if line.aliased { format!("{} (aliased)", line.term) } else { line.term.clone() };
        out.push(vec![
            Cell::text(&term),
            Cell::count(line.df),
            Cell::optional(line.sum_sq),
            Cell::optional(line.mean_sq),
            Cell::optional(line.f),
            Cell::p(line.p, alpha),
            Cell::p(line.p_adjusted, alpha),
            Cell::percent(line.percent),
            Cell::optional(line.partial_eta_sq),
            Cell::optional(line.omega_sq),
        ]);
    }
    out.html()
}

fn coefficients(analysis: &Analysis) -> String {
    let mut table = Table::new(
        "Coefficients",
        Sorting::ByHeader,
        &["coefficient", "estimate", "standard error", "t", "p", "from", "to", "VIF"],
    );
    for row in &analysis.fit.coefficients {
        let name = if row.aliased { format!("{} (aliased)", row.name) } else { row.name.clone() };
        table.push(vec![
            Cell::text(&name),
            Cell::optional(row.estimate),
            Cell::optional(row.std_error),
            Cell::optional(row.t),
            Cell::p(row.p, analysis.alpha),
            Cell::optional(row.ci_low),
            Cell::optional(row.ci_high),
            Cell::optional(row.vif),
        ]);
    }
    folded("Coefficients", &table.html())
}

fn box_cox(analysis: &Analysis) -> String {
    let Some(own) = &analysis.box_cox else { return String::new() };
    let spread = own.low.zip(own.high).unwrap_or((own.lambda - 0.5, own.lambda + 0.5));
    let shown = |value: f64| to_spread(value, spread.0, spread.1);
    let end = |value: Option<f64>| value.map_or_else(|| "beyond the search".to_owned(), shown);
    let meaning = match (own.low, own.high) {
        (Some(low), _) if low > 1.0 => "a power above 1 would suit the equation better",
        (_, Some(high)) if high < 1.0 && own.low.is_none_or(|low| low <= 0.0) && high >= 0.0 => {
            "the logarithm would suit the equation better than the response itself"
        }
        (_, Some(high)) if high < 1.0 => "a lower power would suit the equation better",
        _ => "the response may stay as it is",
    };
    paragraph(&format!(
        "Box-Cox: the most likely power of {} is {} (95 % interval {} to {}), so {meaning}.",
        analysis.response,
        shown(own.lambda),
        end(own.low),
        end(own.high)
    ))
}

fn logarithm(analysis: &Analysis, log_scale: &LogScale) -> String {
    let mut table = Table::new(
        "Effects on the logarithm",
        Sorting::ByHeader,
        &["term", "effect on log", "from", "to", "ratio high/low", "p", "of variation"],
    );
    for effect in &log_scale.effects {
        table.push(vec![
            Cell::text(&effect.term),
            Cell::optional(effect.effect),
            Cell::optional(effect.ci_low),
            Cell::optional(effect.ci_high),
            Cell::optional(effect.effect.map(f64::exp)),
            Cell::p(effect.p, analysis.alpha),
            Cell::percent(effect.percent),
        ]);
    }
    let normality = match (log_scale.shapiro_w, log_scale.shapiro_p) {
        (Some(w), Some(p)) => {
            let verdict = if p <= analysis.alpha { "still not normal" } else { "close to normal" };
            format!(
                " Its residuals are {verdict} (Shapiro-Wilk W = {}, {}).",
                figure(w),
                p_in_words(p)
            )
        }
        _ => String::new(),
    };
    let words = format!(
        "The same equation for log({}) explains {} of its variation, against {} above.{normality}",
        analysis.response,
        percent(100.0 * log_scale.r2),
        percent(100.0 * analysis.fit.r2)
    );
    format!("<h3>On the log scale</h3>\n{}{}", paragraph(&words), table.html())
}
