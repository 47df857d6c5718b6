//! The verdict as plain text: the answer, what matters, what to trust, what to do next.

use std::collections::BTreeMap;

use trainwright_analysis::wording::{count, percent};
use trainwright_analysis::{Analysis, Best, Finding, Severity};
use trainwright_study::TrialState;
use unicode_width::UnicodeWidthStr;

use crate::best_words::beside_the_best;
use crate::figure::{figure, p_value, to_spread};
use crate::input::ReportInput;
use crate::next_steps::next_steps;
use crate::ranking::{Standing, in_words, ranked, standing, told_once, why_unsettled};

use super::analysis_tables::{put_anova, put_fit, put_strata};
use super::bottlenecks::put_bottlenecks;
use super::{Colour, visible};

/// What a study found, for a terminal.
pub fn verdict(input: &ReportInput<'_>, colour: Colour) -> String {
    let mut text = format!("\n{}\n", counts(input));
    match (input.analysis, &input.analysis_refused) {
        (Some(analysis), _) => {
            let unit = input.study.response().unit.as_deref();
            put_best(&mut text, unit, analysis, colour);
            put_effects(&mut text, input, analysis, colour);
            put_comparisons(&mut text, analysis, colour);
            // The ranking stands just above, in more words.
            let others = told_once(analysis).filter(|own| own.id != "effect-ranking");
            put_findings(&mut text, others.collect(), colour);
            put_checks(&mut text, analysis, colour);
        }
        (None, Some(reason)) => put(&mut text, &format!("\nNo analysis yet: {reason}")),
        (None, None) => {}
    }
    put_failures(&mut text, input, colour);
    put(&mut text, &format!("\n{}", colour.heading("Next")));
    for step in next_steps(input) {
        put(&mut text, &format!("  - {step}"));
    }
    text
}

/// What an analysis says by itself, for a terminal: the verdict first, with the response's unit
/// where that is known, then the tables.
pub fn analysis_text(analysis: &Analysis, unit: Option<&str>, colour: Colour) -> String {
    let mut text = String::new();
    put_best(&mut text, unit, analysis, colour);
    put_comparisons(&mut text, analysis, colour);
    put_findings(&mut text, told_once(analysis).collect(), colour);
    put_checks(&mut text, analysis, colour);
    put_bottlenecks(&mut text, analysis, colour);
    put_fit(&mut text, analysis, colour);
    for table in &analysis.anova {
        put_anova(&mut text, table, colour);
    }
    put_strata(&mut text, analysis, colour);
    // Parts begin with an empty line, and the first one stands at the top.
    text.trim_start_matches('\n').to_owned()
}

/// Findings by themselves, the most serious first; nothing where there are none.
pub fn findings_text(findings: &[Finding], colour: Colour) -> String {
    let mut text = String::new();
    put_findings(&mut text, findings.iter().collect(), colour);
    text
}

pub(super) fn put(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn counts(input: &ReportInput<'_>) -> String {
    let words: Vec<String> = TrialState::ALL
        .into_iter()
        .map(|state| (state, input.count(state)))
        .filter(|(_, number)| *number > 0)
        .map(|(state, number)| format!("{number} {state}"))
        .collect();
    format!("{}: {}, {}", input.study.name, count(input.trials.len(), "trial"), words.join(", "))
}

fn put_best(text: &mut String, unit: Option<&str>, analysis: &Analysis, colour: Colour) {
    let Some(best) = &analysis.best else { return };
    let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    put(text, &format!("\n{}", colour.heading("Best configuration measured")));
    put(text, &format!("  {}", colour.paint("1;32", &best.configuration.to_string())));
    put(
        text,
        &format!(
            "  {} {}{unit}, mean of {}",
            analysis.response,
            with_interval(best, analysis.alpha),
            count(best.n, "trial")
        ),
    );
    for line in beside_the_best(analysis, best) {
        put(text, &format!("  {line}"));
    }
}

fn with_interval(best: &Best, alpha: f64) -> String {
    match (best.ci_low, best.ci_high) {
        (Some(low), Some(high)) => {
            let [mean, from, to] = [best.mean, low, high].map(|value| to_spread(value, low, high));
            format!("{mean} ({} % interval {from} to {to})", figure(100.0 * (1.0 - alpha)))
        }
        _ => figure(best.mean),
    }
}

fn put_effects(text: &mut String, input: &ReportInput<'_>, analysis: &Analysis, colour: Colour) {
    put(text, &format!("\n{}", colour.heading("What matters, by share of the variation")));
    let ranked = ranked(analysis);
    let width = ranked.iter().map(|effect| effect.told_as().width()).max().unwrap_or(0);
    let (mut noise, mut unsettled) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for effect in ranked {
        let share = effect.percent.map(percent).unwrap_or_default();
        let p = effect.p.map(|p| format!(" (p = {})", p_value(p))).unwrap_or_default();
        match standing(analysis, effect) {
            Standing::Noise => noise.push(effect.told_as()),
            Standing::Unsettled => {
                let why = why_unsettled(analysis, effect).unwrap_or_default();
                unsettled.entry(why).or_default().push(effect.told_as());
            }
            _ => {
                let words = in_words(input.study, analysis, effect);
                let name = effect.told_as();
                let room = " ".repeat(width - name.width());
                put(text, &format!("  {name}{room}  {share:>7}  {words}{p}"));
            }
        }
    }
    for (why, terms) in unsettled {
        put(text, &format!("  {why}: {}", terms.join(", ")));
    }
    if !noise.is_empty() {
        put(text, &format!("  could be noise: {}", noise.join(", ")));
    }
}

/// Levels against their baselines, and the surface, where a study has them.
fn put_comparisons(text: &mut String, analysis: &Analysis, colour: Colour) {
    let sentences = analysis.comparisons.iter().flat_map(|own| &own.levels).map(|own| &own.text);
    let lines: Vec<&String> =
        sentences.chain(analysis.surface.iter().map(|surface| &surface.text)).collect();
    if lines.is_empty() {
        return;
    }
    put(text, &format!("\n{}", colour.heading("Compared")));
    for line in lines {
        put(text, &format!("  {line}"));
    }
}

fn put_findings(text: &mut String, mut findings: Vec<&Finding>, colour: Colour) {
    if findings.is_empty() {
        return;
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    put(text, &format!("\n{}", colour.heading("Findings")));
    for finding in findings {
        let word = format!("{:<7}", finding.severity.name());
        let tag = match finding.severity {
            Severity::Serious => colour.paint("1;31", &word),
            Severity::Warning => colour.paint("33", &word),
            Severity::Info => word,
        };
        put(text, &format!("  {tag}  {}", finding.text));
    }
}

fn put_checks(text: &mut String, analysis: &Analysis, colour: Colour) {
    if analysis.checks.is_empty() {
        return;
    }
    put(text, &format!("\n{}", colour.heading("Can the figures be trusted?")));
    for check in &analysis.checks {
        let tag = match check.holds {
            Some(true) => colour.paint("32", "yes"),
            Some(false) => colour.paint("33", "no "),
            None => "?  ".to_owned(),
        };
        put(text, &format!("  {tag}  {}: {}", check.name.replace('-', " "), check.verdict));
    }
}

/// Most failed trials whose last lines are shown.
const MOST_FAILURES: usize = 3;

fn put_failures(text: &mut String, input: &ReportInput<'_>, colour: Colour) {
    let failed: Vec<_> =
        input.trials.iter().filter(|trial| trial.state == TrialState::Failed).collect();
    if failed.is_empty() {
        return;
    }
    put(text, &format!("\n{}", colour.heading("Failed trials")));
    for trial in failed.iter().take(MOST_FAILURES) {
        let reason = trial.reason.as_deref().unwrap_or("no reason kept");
        put(text, &format!("  trial {} ({}):", trial.number, trial.configuration));
        for line in reason.lines() {
            put(text, &format!("    {}", visible(line)));
        }
    }
    if failed.len() > MOST_FAILURES {
        put(text, &format!("  and {} more", failed.len() - MOST_FAILURES));
    }
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::Check;

    use super::*;
    use crate::tests::{SmallStudy, analysis, effect, trial};

    fn under<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
        let lines = text.lines().skip_while(|line| *line != heading).skip(1);
        lines.take_while(|line| !line.is_empty()).collect()
    }

    #[test]
    fn findings_are_told_gravest_first_and_in_their_order_among_equals() {
        let finding = |severity, text: &str| Finding::new("outlier", severity, text.to_owned());
        let text = findings_text(
            &[
                finding(Severity::Info, "first"),
                finding(Severity::Serious, "second"),
                finding(Severity::Warning, "third"),
                finding(Severity::Serious, "fourth"),
            ],
            Colour::Never,
        );
        assert_eq!(
            under(&text, "Findings"),
            ["  serious  second", "  serious  fourth", "  warning  third", "  note     first"]
        );
        assert_eq!(findings_text(&[], Colour::Never), "");
    }

    #[test]
    fn effects_that_cannot_be_judged_stand_with_their_reason() {
        let own = SmallStudy::with("", "");
        let found = analysis(vec![
            effect("a", 0.1, Some(0.9), 1.0),
            effect("b", 0.1, Some(0.9), 2.0),
            effect("c", 0.1, Some(0.9), 3.0),
            effect("a:b", 4.0, Some(0.000_2), 94.0),
        ]);
        let text = verdict(&own.input(Some(&found)), Colour::Never);
        assert_eq!(
            under(&text, "What matters, by share of the variation"),
            [
                "  a:b   94.0 %  a changes y by -3.900 at b = 10, by +4.100 at b = 20 (p = 2e-4)",
                "  acts through a:b: b, a",
                "  could be noise: c",
            ]
        );
    }

    #[test]
    fn checks_are_answered_by_yes_no_or_a_question_mark() {
        let check =
            |name, holds| Check { name, statistic: None, p: None, holds, verdict: "v".into() };
        let mut found = analysis(vec![]);
        found.checks = vec![
            check("equal-variance", Some(true)),
            check("normality", Some(false)),
            check("lack-of-fit", None),
        ];
        let text = analysis_text(&found, None, Colour::Never);
        assert_eq!(
            under(&text, "Can the figures be trusted?"),
            ["  yes  equal variance: v", "  no   normality: v", "  ?    lack of fit: v"]
        );
    }

    #[test]
    fn three_failed_trials_are_told_and_the_rest_counted() {
        let mut own = SmallStudy::with("", "");
        own.trials = (1..=5).map(|number| trial(number, 1, TrialState::Failed, None)).collect();
        own.trials[0].reason = Some("first\n\x1b[31msecond".to_owned());
        let text = verdict(&own.input(None), Colour::Never);
        assert!(text.starts_with("\nsmall: 5 trials, 5 failed\n"), "{text}");
        let lines = under(&text, "Failed trials");
        assert_eq!(lines[..3], ["  trial 1 (a=1 b=10):", "    first", "    \\e[31msecond"]);
        assert_eq!(lines[4], "    no reason kept");
        assert_eq!(lines.last(), Some(&"  and 2 more"));
    }
}
