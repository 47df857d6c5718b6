//! What changes the response, drawn.

use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_analysis::{Analysis, Effect, Interaction};

use crate::charts::{
    Charts, MOST_BARS, MOST_PAIRS, half_normal, interaction, level_differences, main_effect,
    pareto, with_unit,
};
use crate::escape::escape;
use crate::figure::figure;
use crate::html::{note, without_analysis};
use crate::input::ReportInput;
use crate::ranking::ranked;
use crate::table::{Cell, Sorting, Table};

/// Interaction plots that are drawn.
const MOST_INTERACTIONS: usize = 12;

/// Pareto chart, half-normal plot, main effects and interactions.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let Some(analysis) = input.analysis else { return without_analysis(input) };
    let response = input.study.metric(&analysis.response);
    let unit = response.and_then(|metric| metric.unit.as_deref());
    drawn(analysis, &with_unit(&analysis.response, unit), charts)
}

/// The same for a response with its unit, if it has one.
pub(in crate::html) fn drawn(analysis: &Analysis, response: &str, charts: &mut Charts) -> String {
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
    let all = ranked(analysis).iter().filter(|effect| effect.percent.is_some()).count();
    if all <= MOST_BARS {
        return String::new();
    }
    note(&format!("The {MOST_BARS} largest of {all} terms."))
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
    crate::html::folded("All effects as a table", &(table.html() + &remark))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{analysis, effect};

    #[test]
    fn bars_left_out_are_counted_among_those_that_could_be_drawn() {
        let with = |drawn: usize, aliased: usize| {
            let drawn = (0..drawn).map(|at| effect(&format!("t{at}"), 1.0, None, 1.0));
            let bare =
                |at: usize| Effect { percent: None, ..effect(&format!("u{at}"), 1.0, None, 0.0) };
            bars_left_out(&analysis(drawn.chain((0..aliased).map(bare)).collect()))
        };
        assert_eq!(with(MOST_BARS, 0), "");
        assert_eq!(with(MOST_BARS - 1, 4), "", "aliased terms have no bar to leave out");
        assert!(with(MOST_BARS + 2, 4).contains("The 25 largest of 27 terms."));
    }

    #[test]
    fn interactions_are_drawn_strongest_first_and_aliased_ones_are_counted() {
        let pair = |a: &str, b: &str| Interaction { a: a.into(), b: b.into(), cells: vec![] };
        let mut own = analysis(vec![
            effect("a:b", 1.0, Some(0.5), 10.0),
            effect("d:c", 1.0, Some(0.5), 70.0),
        ]);
        own.interactions = vec![pair("a", "b"), pair("c", "d"), pair("a", "d")];
        let mut charts = Charts::default();
        let out = interactions(&own, "y", &mut charts);
        assert!(out.contains("Not drawn: 1 interaction, which this design cannot tell"), "{out}");
        let labels: Vec<&str> = out.split("aria-label=\"").skip(1).collect();
        assert_eq!(labels.len(), 2);
        // The term may name its factors the other way round.
        assert!(labels[0].starts_with("Mean y by c with a line for each level of d."), "{out}");
        assert!(labels[1].starts_with("Mean y by a with"), "{out}");
    }
}
