//! What the reader can do after reading.

use trainwright_analysis::wording::{count, list};
use trainwright_study::TrialState;

use crate::best_words::confirming_runs;
use crate::input::ReportInput;
use crate::spent_budget::spent_budget;
use crate::unmixing::unmixing;

/// Steps as text with commands in backticks, the most useful first; never empty.
pub(crate) fn next_steps(input: &ReportInput<'_>) -> Vec<String> {
    let path = input.study.source.path.display();
    let mut steps = Vec::new();
    let left = [TrialState::Planned, TrialState::Running, TrialState::Stopped]
        .into_iter()
        .map(|state| input.count(state))
        .sum::<usize>();
    if left > 0 && input.study.task.is_some() {
        let usages = input.trials.iter().filter_map(|own| own.usage.as_ref());
        let used_s = usages.map(|usage| usage.wall_s).sum();
        let finish = || format!("Finish {}: `trainwright run {path}`", count(left, "trial"));
        steps.push(spent_budget(input.study, used_s, left).unwrap_or_else(finish));
    }
    let failed = input.count(TrialState::Failed);
    if failed > 0 {
        steps.push(format!(
            "See why {} failed, mend the cause, then `trainwright run {path} --retry-failed`",
            count(failed, "trial")
        ));
    }
    if let Some(analysis) = input.analysis {
        steps.extend(unmixing(input, analysis));
        steps.extend(analysis.best.as_ref().and_then(confirming_runs));
    }
    steps.extend(by_finding(input));
    if steps.is_empty() {
        let step = match input.analysis {
            Some(_) => "Nothing needs doing: use the best configuration above, or study new levels",
            None => "Add trials or change the study until there is something to analyse",
        };
        steps.push(step.to_owned());
    }
    steps
}

/// How to get repeats, which the study may already ask for.
fn repeats(input: &ReportInput<'_>) -> String {
    match input.study.design.replications {
        0 | 1 => "Raise `replications` to at least 2, which keeps the trials already run: only \
                  repeats tell effects from noise"
            .to_owned(),
        asked => format!(
            "Finish the repeats: the study asks for {asked} trials of each row, but no configuration \
             has two finished ones, and only repeats tell effects from noise"
        ),
    }
}

/// What to do about a lack of fit: add the terms that would take it up.
fn more_terms(input: &ReportInput<'_>) -> String {
    let missing = input.analysis.map_or(&[][..], |own| &own.missing_terms);
    let own = &input.study.analysis.terms;
    if let Some(mixed) = missing.iter().find(|own| !own.others.is_empty()) {
        return format!(
            "Run points on the axes (`type = \"central-composite\"` under `[design]`): only they tell \
             {} apart, so no such term can be added yet",
            list(&[vec![mixed.term.clone()], mixed.others.clone()].concat())
        );
    }
    let names: Vec<&str> = missing.iter().map(|own| own.term.as_str()).collect();
    match names.as_slice() {
        [] => "Give the equation more terms, such as `terms = \"main + 2fi\"`, or a factor more levels"
            .to_owned(),
        names if own.contains("fi") || own.contains("main") || own.contains("quadratic") => {
            format!("Give the equation the terms that it misses: {}", names.join(", "))
        }
        names => {
            format!("Give the equation more terms: `terms = \"{own} + {}\"`", names.join(" + "))
        }
    }
}

fn by_finding(input: &ReportInput<'_>) -> Vec<String> {
    let response = &input.study.analysis.response;
    let steps = [
        (
            "sign-table-misprint",
            "Correct the table of the design in the study file, then run the wrong row again"
                .to_owned(),
        ),
        (
            "log-scale",
            format!(
                "Analyse the logarithm too: add a metric with `expr = \"log({response})\"` and \
                 make it the response"
            ),
        ),
        ("no-replication", repeats(input)),
        (
            "overlapping-timing",
            "Measure times one trial at a time, by `parallel = 1` under `[run]`, since trials that overlap slow each other down"
                .to_owned(),
        ),
        ("lack-of-fit", more_terms(input)),
        (
            "outlier",
            "Look at the outlying trials' output before believing or dropping them".to_owned(),
        ),
        (
            "unequal-variances",
            "Some configurations vary more than others: repeat those most, or analyse a \
             transformed response"
                .to_owned(),
        ),
        (
            "nothing-matters",
            "Nothing that was varied shows an effect: choose by cost, or raise `replications` to \
             see smaller effects"
                .to_owned(),
        ),
        (
            "optimum-at-edge",
            "The best levels lie at the edge of what was tried: study levels beyond them"
                .to_owned(),
        ),
    ];
    let found = |id: &str| {
        input.analysis.is_some_and(|own| own.findings.iter().any(|finding| finding.id == id))
    };
    steps.into_iter().filter(|(id, _)| found(id)).map(|(_, step)| step).collect()
}

#[cfg(test)]
mod tests {
    use trainwright_analysis::{Finding, MissingTerm, Severity};

    use super::*;
    use crate::tests::{SmallStudy, analysis, trial};

    fn lacking(terms: &[&str]) -> Vec<MissingTerm> {
        let missing =
            |term: &&str| MissingTerm { term: (*term).to_owned(), percent: 50.0, others: vec![] };
        terms.iter().map(missing).collect()
    }

    #[test]
    fn there_is_always_something_to_do() {
        let own = SmallStudy::with("", "");
        assert_eq!(
            next_steps(&own.input(None)),
            ["Add trials or change the study until there is something to analyse"]
        );
        let found = analysis(vec![]);
        assert_eq!(
            next_steps(&own.input(Some(&found))),
            ["Nothing needs doing: use the best configuration above, or study new levels"]
        );
    }

    #[test]
    fn where_nothing_shows_an_effect_the_best_is_not_recommended() {
        let own = SmallStudy::with("", "");
        let mut found = analysis(vec![]);
        found.findings = vec![Finding::new("nothing-matters", Severity::Info, String::new())];
        let steps = next_steps(&own.input(Some(&found)));
        assert_eq!(steps.len(), 1);
        assert!(steps[0].starts_with("Nothing that was varied shows an effect"), "{steps:?}");
    }

    #[test]
    fn what_is_left_and_what_failed_come_first() {
        let mut own = SmallStudy::with("", "");
        own.trials = vec![
            trial(1, 1, TrialState::Finished, Some(1.0)),
            trial(2, 2, TrialState::Planned, None),
            trial(3, 3, TrialState::Stopped, None),
            trial(4, 4, TrialState::Failed, None),
        ];
        assert_eq!(
            next_steps(&own.input(None)),
            [
                "Finish 2 trials: `trainwright run study.toml`",
                "See why 1 trial failed, mend the cause, then `trainwright run study.toml \
                 --retry-failed`",
            ]
        );
    }

    #[test]
    fn a_study_without_a_command_cannot_be_told_to_run() {
        let mut own = SmallStudy::with("[run]\ncommand = [\"run\", \"{a}\", \"{b}\"]\n", "");
        own.trials = vec![trial(1, 1, TrialState::Planned, None)];
        let steps = next_steps(&own.input(None));
        assert!(steps.iter().all(|own| !own.contains("trainwright run")), "{steps:?}");
    }

    #[test]
    fn repeats_are_asked_for_by_what_the_study_plans() {
        let of = |number: &str| {
            let own = SmallStudy::with("replications = 2", &format!("replications = {number}"));
            repeats(&own.input(None))
        };
        assert!(of("1").starts_with("Raise `replications` to at least 2"));
        assert!(of("3").starts_with("Finish the repeats: the study asks for 3 trials of each row"));
    }

    #[test]
    fn missing_terms_are_added_to_those_that_the_study_writes_out() {
        let of = |terms: &str, missing: &[&str]| {
            let own = SmallStudy::with(
                "[metrics.y]",
                &format!("[analysis]\nterms = \"{terms}\"\n[metrics.y]"),
            );
            let mut found = analysis(vec![]);
            found.missing_terms = lacking(missing);
            found.findings = vec![Finding::new("lack-of-fit", Severity::Warning, String::new())];
            next_steps(&own.input(Some(&found))).last().unwrap().clone()
        };
        assert_eq!(
            of("a + b", &["a:b"]),
            "Give the equation more terms: `terms = \"a + b + a:b\"`"
        );
        // A shorthand cannot be continued with single terms.
        assert_eq!(of("main", &["a:b"]), "Give the equation the terms that it misses: a:b");
        assert!(of("main", &[]).starts_with("Give the equation more terms, such as"));
    }

    #[test]
    fn squares_that_cannot_be_told_apart_need_runs_on_the_axes() {
        let own = SmallStudy::with("", "");
        let mut found = analysis(vec![]);
        found.missing_terms = lacking(&["I(a^2)"]);
        found.missing_terms[0].others = vec!["I(b^2)".to_owned()];
        found.findings = vec![Finding::new("lack-of-fit", Severity::Warning, String::new())];
        let step = next_steps(&own.input(Some(&found))).last().unwrap().clone();
        assert!(step.starts_with("Run points on the axes"), "{step}");
        assert!(step.contains("only they tell I(a^2) and I(b^2) apart"), "{step}");
    }
}
