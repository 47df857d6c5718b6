//! The best configuration, how it compares and how far to trust it.

use std::collections::BTreeMap;
use std::fmt::Write;

use trainwright_analysis::wording::count;
use trainwright_analysis::{Analysis, Best, Severity};
use trainwright_study::{Configuration, Direction};

use crate::best_words::beside_the_best;
use crate::charts::with_unit;
use crate::escape::escape;
use crate::figure::{figure, significant, to_spread};
use crate::input::{ReportInput, ReportTrial};
use crate::ranking::told_once;

/// The card that answers the study's question.
pub(in crate::html) fn best_card(input: &ReportInput<'_>) -> String {
    match input.analysis {
        Some(analysis) => match &analysis.best {
            Some(best) => measured(input, analysis, best) + &trust(analysis),
            None => "<h3>Best configuration</h3><p>The study asks for no direction, so no \
                     configuration is best.</p>"
                .to_owned(),
        },
        None => best_so_far(input),
    }
}

fn measured(input: &ReportInput<'_>, analysis: &Analysis, best: &Best) -> String {
    let unit = input.study.response().unit.as_deref();
    let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
    let wish = match best.direction {
        Direction::Minimize => "Smallest",
        Direction::Maximize => "Largest",
    };
    let (mean, interval) = mean_in_words(best, analysis.alpha);
    let beside: String = beside_the_best(analysis, best)
        .iter()
        .map(|line| format!("<p>{}</p>", escape(line)))
        .collect();
    format!(
        "<h3>Best configuration measured</h3>{}<p class=\"big\" title=\"{}\">{mean}<span>{}</span>\
         </p><p>{wish} mean {} of all rows, {interval} from {}.</p>{beside}{}",
        chips(&best.configuration),
        best.mean,
        escape(&unit),
        escape(&analysis.response),
        count(best.n, "trial"),
        compared(input, analysis, best)
    )
}

/// The mean and its interval in words.
fn mean_in_words(best: &Best, alpha: f64) -> (String, String) {
    match (best.ci_low, best.ci_high) {
        (Some(low), Some(high)) => {
            let [mean, from, to] = [best.mean, low, high].map(|value| to_spread(value, low, high));
            let level = figure(100.0 * (1.0 - alpha));
            (mean, format!("{level} % interval <b>{from} to {to}</b>,"))
        }
        _ => (figure(best.mean), "without an interval,".to_owned()),
    }
}

/// The best against the mean of all trials and the worst row.
fn compared(input: &ReportInput<'_>, analysis: &Analysis, best: &Best) -> String {
    let mut rows: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in input.trials.iter().filter(|trial| trial.counts()) {
        if let (Some(row), Some(value)) = (trial.row, trial.value(&analysis.response)) {
            rows.entry(row).or_default().push(value);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means = rows.values().map(|values| mean(values));
    let worst = match best.direction {
        Direction::Minimize => means.reduce(f64::max),
        Direction::Maximize => means.reduce(f64::min),
    };
    let Some(worst) = worst.filter(|_| rows.len() > 1) else { return String::new() };
    let all: Vec<f64> = rows.values().flatten().copied().collect();
    let shown = |value: f64| {
        let ratio = value / best.mean;
        let times = if ratio.is_finite() && ratio > 0.0 {
            format!(", {} times the best", significant(ratio, 2))
        } else {
            String::new()
        };
        format!("<span title=\"{value}\">{}</span>{times}", significant(value, 3))
    };
    crate::html::facts(&[
        ("mean of all trials", shown(mean(&all))),
        ("mean of the worst row", shown(worst)),
    ])
}

/// What to mind before relying on the answer.
fn trust(analysis: &Analysis) -> String {
    let of = |severity| told_once(analysis).filter(|own| own.severity == severity).count();
    let (serious, warnings) = (of(Severity::Serious), of(Severity::Warning));
    let checked = analysis.checks.iter().filter(|check| check.holds.is_some()).count();
    let holding = analysis.checks.iter().filter(|check| check.holds == Some(true)).count();
    let mut words = match (serious, warnings) {
        (0, 0) => "No warnings".to_owned(),
        (0, _) => count(warnings, "warning"),
        (_, 0) => count(serious, "serious finding"),
        _ => format!("{} and {}", count(serious, "serious finding"), count(warnings, "warning")),
    };
    if serious + warnings > 0 {
        words = format!("<a href=\"#findings\">{words}</a>");
    }
    let class = match (serious, warnings) {
        (0, 0) => "holds",
        (0, _) => "warning",
        _ => "serious",
    };
    let _ = write!(words, "; {holding} of {checked} checks hold.");
    format!("<p class=\"trust {class}\"><span class=\"tag\">trust</span><span>{words}</span></p>")
}

fn best_so_far(input: &ReportInput<'_>) -> String {
    let response = input.study.response();
    let finished = input.trials.iter().filter(|trial| trial.counts());
    let measured = finished.filter_map(|trial| Some((trial, trial.value(&response.name)?)));
    let best: Option<(&ReportTrial, f64)> = match input.study.direction() {
        Direction::Minimize => measured.min_by(|a, b| a.1.total_cmp(&b.1)),
        Direction::Maximize => measured.max_by(|a, b| a.1.total_cmp(&b.1)),
    };
    let Some((trial, value)) = best else {
        return "<h3>Best trial so far</h3><p>No trial has finished yet.</p>".to_owned();
    };
    format!(
        "<h3>Best trial so far</h3>{}<p class=\"big\" title=\"{value}\">{}</p>\
         <p>{} of trial {}: one measurement, so nobody knows yet how much of it is luck.</p>",
        chips(&trial.configuration),
        figure(value),
        escape(&with_unit(&response.name, response.unit.as_deref())),
        trial.number
    )
}

fn chips(configuration: &Configuration) -> String {
    let chips: String = configuration
        .iter()
        .map(|(factor, level)| {
            let level = level.to_string();
            format!("<li><span>{}</span> {}</li>", escape(factor), escape(&level))
        })
        .collect();
    format!("<ul class=\"chips\">{chips}</ul>")
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::{Check, Finding};
    use trainwright_study::TrialState;

    use super::*;
    use crate::tests::{SmallStudy, analysis, configuration, trial};

    fn best(direction: Direction, mean: f64) -> Best {
        Best {
            configuration: configuration(1, 10),
            mean,
            ci_low: None,
            ci_high: None,
            n: 2,
            direction,
            spread: None,
            alike: vec![],
            predicted: None,
        }
    }

    #[test]
    fn the_worst_row_is_worst_in_the_direction_asked_for_and_failed_trials_do_not_count() {
        let mut own = SmallStudy::with("", "");
        let finished = TrialState::Finished;
        own.trials = vec![
            trial(1, 1, finished, Some(2.0)),
            trial(2, 1, finished, Some(4.0)),
            trial(3, 2, finished, Some(12.0)),
            trial(4, 3, TrialState::Diverged, Some(1e9)),
        ];
        let found = analysis(vec![]);
        // Rows have the means 3 and 12; all three trials together 6.
        let small = compared(&own.input(None), &found, &best(Direction::Minimize, 3.0));
        assert!(small.contains("<span title=\"6\">6.00</span>, 2.0 times the best"), "{small}");
        assert!(small.contains("<span title=\"12\">12.0</span>, 4.0 times the best"), "{small}");
        let large = compared(&own.input(None), &found, &best(Direction::Maximize, 12.0));
        assert!(large.contains("<span title=\"3\">3.00</span>, 0.25 times the best"), "{large}");
        // A ratio to nothing, or to something of the other sign, means nothing.
        for mean in [0.0, -3.0] {
            let odd = compared(&own.input(None), &found, &best(Direction::Minimize, mean));
            assert!(!odd.contains("times the best"), "{odd}");
        }
        own.trials.truncate(2);
        assert_eq!(compared(&own.input(None), &found, &best(Direction::Minimize, 3.0)), "");
    }

    #[test]
    fn trust_counts_findings_and_checks_and_what_could_not_be_checked_counts_neither_way() {
        let check = |holds| Check {
            name: "normality",
            statistic: None,
            p: None,
            holds,
            verdict: "v".into(),
        };
        let finding = |severity, text: &str| Finding::new("outlier", severity, text.to_owned());
        let mut own = analysis(vec![]);
        own.checks = vec![check(Some(true)), check(Some(false)), check(None)];
        assert_eq!(
            trust(&own),
            "<p class=\"trust holds\"><span class=\"tag\">trust</span><span>No warnings; 1 of 2 \
             checks hold.</span></p>"
        );
        own.findings = vec![finding(Severity::Warning, "w"), finding(Severity::Info, "i")];
        assert!(trust(&own).contains("trust warning"), "{}", trust(&own));
        assert!(trust(&own).contains("<a href=\"#findings\">1 warning</a>"), "{}", trust(&own));
        own.findings.push(finding(Severity::Serious, "s"));
        assert!(trust(&own).contains("trust serious"));
        assert!(trust(&own).contains("1 serious finding and 1 warning</a>"), "{}", trust(&own));
        // A finding that a check says in the same words is told once.
        own.findings = vec![finding(Severity::Warning, "v")];
        assert!(trust(&own).contains("No warnings"));
    }

    #[test]
    fn before_there_is_an_analysis_the_best_finished_trial_stands_in() {
        let mut own = SmallStudy::with(
            "objective = \"minimize\"",
            "objective = \"maximize\"\nunit = \"<u>\"",
        );
        assert!(best_card(&own.input(None)).contains("No trial has finished yet."));
        own.trials = vec![
            trial(1, 1, TrialState::Finished, Some(0.5)),
            trial(2, 2, TrialState::Finished, Some(0.75)),
            trial(3, 3, TrialState::Failed, Some(0.9)),
        ];
        let card = best_card(&own.input(None));
        assert!(card.contains("title=\"0.75\">0.7500</p>"), "{card}");
        assert!(card.contains("<p>y (&lt;u&gt;) of trial 2: one measurement"), "{card}");
        assert!(card.contains("<li><span>a</span> 2</li><li><span>b</span> 10</li>"), "{card}");
    }

    #[test]
    fn without_a_direction_no_configuration_is_best() {
        let own = SmallStudy::with("", "");
        let found = analysis(vec![]);
        assert!(best_card(&own.input(Some(&found))).contains("asks for no direction"));
    }
}
