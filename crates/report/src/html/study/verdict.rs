//! The answer, first.

use std::fmt::Write;

use trainwright_analysis::wording::{count, p_value as p_in_words, percent};
use trainwright_analysis::{Analysis, Check, Finding};
use trainwright_study::TrialState;

use super::best::best_card;
use super::history;
use crate::charts::Charts;
use crate::escape::{escape, with_code};
use crate::html::without_analysis;
use crate::input::ReportInput;
use crate::next_steps::next_steps;
use crate::ranking::{Standing, in_words, ranked, standing, told_once};

/// Effects named where none stands out.
const LARGEST: usize = 3;

/// Effects named on the first screen.
const MOST_EFFECTS: usize = 5;

/// Name, question and progress of the study.
pub(in crate::html) fn header(input: &ReportInput<'_>) -> String {
    let study = input.study;
    let description = study.description.as_deref().map_or_else(String::new, |text| {
        format!("<p class=\"description\">{}</p>\n", escape(text))
    });
    let counts: Vec<(TrialState, usize)> = TrialState::ALL
        .into_iter()
        .map(|state| (state, input.count(state)))
        .filter(|(_, number)| *number > 0)
        .collect();
    format!(
        "<header><div class=\"wide\"><p class=\"kind\">Study report</p>\n<h1>{}</h1>\n{description}\
         {}</div></header>\n",
        escape(&study.name),
        progress(&counts)
    )
}

/// How many trials are in each state, as a strip and in words.
pub fn progress(counts: &[(TrialState, usize)]) -> String {
    let total: usize = counts.iter().map(|(_, number)| number).sum();
    let (mut strip, mut words, mut from) = (String::new(), Vec::new(), 0.0);
    for (state, number) in counts.iter().filter(|(_, number)| *number > 0) {
        // Attributes of a drawing, because a strict policy forbids styles in markup.
        let share = 100.0 * *number as f64 / total as f64;
        let _ = write!(
            strip,
            "<rect class=\"state-{state}\" x=\"{from:.2}%\" width=\"{share:.2}%\" height=\"8\"/>"
        );
        from += share;
        words.push(format!("{number} {state}"));
    }
    let words = words.join(", ");
    format!(
        "<div class=\"progress\"><svg class=\"strip\" role=\"img\" aria-label=\"Trials: {words}\">\
         {strip}</svg><p>{}: {words}</p></div>",
        count(total, "trial")
    )
}

/// Best configuration, effects, findings, checks and what to do next.
pub(in crate::html) fn section(input: &ReportInput<'_>, charts: &mut Charts) -> String {
    let effects = input.analysis.map_or_else(|| without_analysis(input), |own| effects(input, own));
    let mut out = format!(
        "<div class=\"hero\"><div class=\"card best\">{}</div>\
         <div class=\"card\"><h3>What matters</h3>{effects}</div></div>\n",
        best_card(input)
    );
    if let Some(analysis) = input.analysis {
        out += &findings_of(analysis);
        out += &checks(&analysis.checks);
    }
    out += &history::part(input, charts);
    let _ = write!(out, "<h3>What to do next</h3>\n<ul class=\"next\">");
    for step in next_steps(input) {
        let _ = write!(out, "<li>{}.</li>", with_code(&step));
    }
    out += "</ul>\n";
    out
}

fn effects(input: &ReportInput<'_>, analysis: &Analysis) -> String {
    let ranked = ranked(analysis);
    let judged = |wanted| ranked.iter().filter(move |own| standing(analysis, own) == wanted);
    let mut shown: Vec<_> = judged(Standing::StandsOut).collect();
    let standing_out = shown.len();
    if shown.is_empty() {
        shown = ranked.iter().take(LARGEST).collect();
    }
    let left_out = standing_out.saturating_sub(MOST_EFFECTS);
    shown.truncate(MOST_EFFECTS);
    let mut out = String::from("<ol class=\"ranking\">");
    for effect in shown {
        let share = effect.percent.map_or_else(String::new, |share| {
            format!(
                "<svg class=\"share\" aria-hidden=\"true\"><title>{share} % of the variation</title>\
                 <rect width=\"{:.1}%\" height=\"7\"/></svg><em>{}</em>",
                share.clamp(0.0, 100.0),
                percent(share)
            )
        });
        let p = effect.p.map_or_else(String::new, |p| {
            format!(", <span class=\"nowrap\">{}</span>", escape(&p_in_words(p)))
        });
        let words = in_words(input.study, analysis, effect);
        let _ = write!(
            out,
            "<li><div class=\"line\"><b>{}</b>{share}</div><p>{}{p}</p></li>",
            escape(&effect.told_as()),
            escape(&words)
        );
    }
    out += "</ol>";
    let _ =
        write!(out, "<p class=\"quiet\">{}</p>", rest_in_words(analysis, standing_out, left_out));
    out
}

fn rest_in_words(analysis: &Analysis, standing_out: usize, left_out: usize) -> String {
    let could_be_noise = |effect: &&&_| standing(analysis, effect) == Standing::Noise;
    let noise = ranked(analysis).iter().filter(could_be_noise).count();
    let unsettled = ranked(analysis)
        .iter()
        .filter(|effect| standing(analysis, effect) == Standing::Unsettled)
        .count();
    let explained = percent(100.0 * analysis.fit.r2);
    let mut words = match (standing_out, noise) {
        _ if unsettled > 0 => format!(
            "{} {} part of a product that stands out, or cannot be judged while the equation misses \
             terms.",
            count(unsettled, "other term"),
            if unsettled == 1 { "is" } else { "are" }
        ),
        (0, 0) => "There is no measure of noise, so these are only the largest.".to_owned(),
        (0, _) => {
            format!(
                "None of {} stands out from the noise; these are the largest.",
                count(noise, "term")
            )
        }
        (_, 0) => "Every term stands out from the noise.".to_owned(),
        (_, 1) => "1 other term could be noise.".to_owned(),
        (_, _) => format!("{noise} other terms could be noise."),
    };
    if left_out > 0 {
        let _ = write!(words, " {left_out} more under <a href=\"#effects\">Effects</a>.");
    }
    format!("{words} All terms together explain {explained} of the variation.")
}

/// All findings but the ranking of effects, which stands above them at greater length.
pub(in crate::html) fn findings_of(analysis: &Analysis) -> String {
    findings(told_once(analysis).filter(|own| own.id != "effect-ranking"))
}

/// Findings as a list, the gravest first; nothing where there are none.
pub(in crate::html) fn findings<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut sorted: Vec<&Finding> = findings.collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if sorted.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h3 id=\"findings\">Findings</h3>\n<ul class=\"findings\">");
    for finding in sorted {
        let word = finding.severity.name();
        let _ = write!(
            out,
            "<li class=\"{word}\"><span class=\"tag\">{word}</span><p>{}</p></li>",
            escape(&finding.text)
        );
    }
    out + "</ul>\n"
}

/// Each assumption and whether it holds.
pub(in crate::html) fn checks(checks: &[Check]) -> String {
    let mut out = String::from("<h3>Checks of the analysis</h3>\n<ul class=\"findings checks\">");
    for check in checks {
        let (class, word) = match check.holds {
            Some(true) => ("holds", "holds"),
            Some(false) => ("warning", "in doubt"),
            None => ("note", "unchecked"),
        };
        let _ = write!(
            out,
            "<li class=\"{class}\"><span class=\"tag\">{word}</span><p><b>{}</b>: {}</p></li>",
            escape(&check.name.replace('-', " ")),
            escape(&check.verdict)
        );
    }
    out + "</ul>\n"
}
