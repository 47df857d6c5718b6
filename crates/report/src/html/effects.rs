//! What changes the response, drawn.

use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_analysis::{Analysis, Effect, Interaction};

use super::{note, without_analysis};
use crate::charts::{
    Charts, MOST_BARS, MOST_PAIRS, half_normal, interaction, level_differences, main_effect,
    pareto, with_unit,
};
use crate::escape::escape;
use crate::figure::figure;
use crate::input::ReportInput;
use crate::ranking::ranked;
use crate::table::{Cell, Sorting, Table};

/// Interaction plots that are drawn.
const MOST_INTERACTIONS: usize = 12;

/// Pareto chart, half-normal plot, main effects and interactions.
pub(super) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let Some(analysis) = input.analysis else { return without_analysis(input) };
    let response = input.study.metric(&analysis.response);
    let unit = response.and_then(|metric| metric.unit.as_deref());
    drawn(analysis, &with_unit(&analysis.response, unit), charts)
}

/// The same for a response with its unit, if it has one.
pub(super) fn drawn(analysis: &Analysis, response: &str, charts: &mut Charts) -> String {
    let mut out = String::from("<div class=\"pair\">");
    if let Some(chart) = pareto(analysis) {
        let _ = write!(
            out,
            "<figure><figcaption><b>Pareto chart.</b> Share of the variation that each term \
             explains, by type II sums of squares.</figcaption>{}{}</figure>",
            charts.place("pareto", chart),
            bars_left_out(analysis)
        );
    }
    if let Some(chart) = half_normal(analysis) {
        let _ = write!(
            out,
            "<figure><figcaption><b>Half-normal plot.</b> Effects that are only noise lie along \
             the dashed line; real ones lie above it.</figcaption>{}</figure>",
            charts.place("half-normal", chart)
        );
    }
    out += "</div>\n";
    out += &effect_table(analysis);
    if !analysis.main_effects.is_empty() {
        out += &format!(
            "<h3>Main effects</h3>\n<p class=\"look\">Mean {} at each level, with its interval. \
             All panels share one vertical scale: the steeper, the stronger.</p>\n\
             <div class=\"panels narrow\">",
            escape(response)
        );
        for (index, effect) in analysis.main_effects.iter().enumerate() {
            let chart = main_effect(analysis, effect, response);
            out += &charts.place(&format!("main-effect-{}", index + 1), chart);
        }
        out += "</div>\n";
    }
    out += &differences(analysis, response, charts);
    out += &interactions(analysis, response, charts);
    out
}

fn differences(analysis: &Analysis, response: &str, charts: &mut Charts) -> String {
    if analysis.level_differences.is_empty() {
        return String::new();
    }
    let level = figure(100.0 * (1.0 - analysis.alpha));
    let unequal = analysis.level_differences.iter().any(|own| own.method == "games-howell");
    let method = if unequal { "the method of Games and Howell" } else { "Tukey's method" };
    let mut out = format!(
        "<h3>Which levels differ</h3>\n<p class=\"look\">Differences of mean {} between all pairs \
         of levels, by {method}: the intervals of a factor hold together at {level} %. One \
         that leaves out zero is a difference.</p>\n<div class=\"panels\">",
        escape(response)
    );
    let mut cut = 0;
    for (index, factor) in analysis.level_differences.iter().enumerate() {
        cut += factor.pairs.len().saturating_sub(MOST_PAIRS);
        let chart = level_differences(factor, response);
        out += &charts.place(&format!("level-differences-{}", index + 1), chart);
    }
    out += "</div>\n";
    if cut > 0 {
        out += &note(&format!("{} more in the JSON of the analysis.", count(cut, "pair")));
    }
    out
}

fn bars_left_out(analysis: &Analysis) -> String {
    let left_out = analysis.effects.len().saturating_sub(MOST_BARS);
    if left_out == 0 {
        return String::new();
    }
    note(&format!("The {MOST_BARS} largest of {} terms.", analysis.effects.len()))
}

fn effect_table(analysis: &Analysis) -> String {
    let mut table = Table::new(
        "Effects",
        Sorting::ByHeader,
        &["term", "effect", "from", "to", "p", "p adjusted", "of variation"],
    );
    for effect in ranked(analysis) {
        table.push(vec![
            Cell::text(&effect.term),
            Cell::optional(effect.effect),
            Cell::optional(effect.ci_low),
            Cell::optional(effect.ci_high),
            Cell::p(effect.p, analysis.alpha),
            Cell::p(effect.p_adjusted, analysis.alpha),
            Cell::percent(effect.percent),
        ]);
    }
    let remark = note(&format!(
        "An effect is the change of {} from the low to the high level, averaged over the other \
         factors. p-values up to {} are bold; adjusted ones allow for the number of terms (Holm).",
        analysis.response, analysis.alpha
    ));
    super::folded("All effects as a table", &(table.html() + &remark))
}

fn interactions(analysis: &Analysis, response: &str, charts: &mut Charts) -> String {
    if analysis.interactions.is_empty() {
        return String::new();
    }
    let order: Vec<&Effect> = ranked(analysis);
    let rank = |own: &Interaction| {
        let named = |effect: &&Effect| {
            effect.term == format!("{}:{}", own.a, own.b)
                || effect.term == format!("{}:{}", own.b, own.a)
        };
        order.iter().position(named)
    };
    let mut sorted: Vec<(usize, &Interaction)> =
        analysis.interactions.iter().filter_map(|own| Some((rank(own)?, own))).collect();
    sorted.sort_by_key(|(rank, _)| *rank);
    let hidden = analysis.interactions.len() - sorted.len();
    let hidden = match hidden {
        0 => String::new(),
        _ => note(&format!(
            "Not drawn: {}, which this design cannot tell from other terms.",
            count(hidden, "interaction")
        )),
    };
    if sorted.is_empty() {
        return hidden;
    }
    let mut out = format!(
        "<h3>Interactions</h3>\n<p class=\"look\">Mean {} by two factors at a time, the strongest \
         interaction first, on one vertical scale. Parallel lines mean that the two act \
         independently.</p>\n<div class=\"panels\">",
        escape(response)
    );
    for (index, (_, own)) in sorted.iter().take(MOST_INTERACTIONS).enumerate() {
        let chart = interaction(analysis, own, response);
        out += &charts.place(&format!("interaction-{}", index + 1), chart);
    }
    out += "</div>\n";
    if sorted.len() > MOST_INTERACTIONS {
        let all = count(sorted.len(), "interaction");
        out += &note(&format!("The {MOST_INTERACTIONS} strongest of {all}."));
    }
    out + &hidden
}
