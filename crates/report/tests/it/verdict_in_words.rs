//! The verdict at the end of a run, and an analysis, as text.

use trainwright_report::{Colour, analysis_text, verdict};
use trainwright_study::TrialState;

use crate::simulated::Simulated;

fn words(simulated: &Simulated) -> String {
    verdict(&simulated.input(), Colour::Never)
}

/// The lines under a heading.
fn under<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect()
}

#[test]
fn the_answer_comes_first_and_what_to_do_last() {
    let text = words(&Simulated::new(3, 10));
    let headings = [
        "fashion-2-5-1: 48 trials, 48 finished",
        "Best configuration measured",
        "What matters, by share of the variation",
        "Findings",
        "Can the figures be trusted?",
        "Next",
    ];
    let places: Vec<usize> = headings
        .iter()
        .map(|own| text.find(own).unwrap_or_else(|| panic!("{own}: {text}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(!text.contains('\x1b'), "plain text has no colours");
}

#[test]
fn effects_are_ranked_and_noise_is_named_at_the_end() {
    let simulated = Simulated::new(3, 10);
    let text = words(&simulated);
    let lines = under(&text, "What matters, by share of the variation");
    let shares: Vec<f64> = lines
        .iter()
        .filter_map(|line| line.split(" %").next()?.split_whitespace().last()?.parse().ok())
        .collect();
    assert!(shares.len() > 2 && shares.is_sorted_by(|a, b| a >= b), "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("could be noise: "), "{lines:#?}");
    let analysis = simulated.analysis.unwrap();
    for effect in &analysis.effects {
        let told = lines.iter().any(|line| line.contains(&effect.term));
        assert!(told, "{} is not told of", effect.term);
    }
}

#[test]
fn every_check_is_answered_by_yes_no_or_a_question_mark() {
    let simulated = Simulated::new(3, 10);
    let text = words(&simulated);
    let lines = under(&text, "Can the figures be trusted?");
    let checks = &simulated.analysis.as_ref().unwrap().checks;
    assert_eq!(lines.len(), checks.len());
    for (line, check) in lines.iter().zip(checks) {
        let expected = match check.holds {
            Some(true) => "yes ",
            Some(false) => "no ",
            None => "? ",
        };
        assert!(line.starts_with(expected) && line.contains(&check.verdict), "{line}");
    }
}

#[test]
fn failed_trials_tell_why_with_their_escapes_made_visible() {
    let mut simulated = Simulated::new(2, 10);
    for number in 1..=5 {
        simulated =
            simulated.broken(number, TrialState::Failed, "exit code 1\n\x1b]0;owned\x07last line");
    }
    let text = words(&simulated);
    assert!(text.contains("32 trials, 27 finished, 5 failed"), "{text}");
    assert!(text.contains("    exit code 1\n    \\e]0;owned\\x07last line\n"), "{text}");
    assert!(text.contains("  and 2 more\n"), "three are told at length: {text}");
    assert!(!text.contains('\x1b'));
}

#[test]
fn a_study_that_cannot_be_analysed_says_why() {
    let mut simulated = Simulated::new(1, 10);
    simulated.trials.truncate(3);
    simulated.analysis = None;
    let text = words(&simulated);
    assert!(text.contains("No analysis yet: no trial has finished"), "{text}");
    assert!(!text.contains("Best configuration") && text.contains("\nNext\n"), "{text}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let simulated = Simulated::new(3, 10).broken(2, TrialState::Failed, "exit code 1");
    let coloured = verdict(&simulated.input(), Colour::Ansi);
    assert!(coloured.contains("\x1b[1mFindings\x1b[0m"));
    let mut plain = String::new();
    let mut parts = coloured.split("\x1b[");
    plain.push_str(parts.next().unwrap());
    for part in parts {
        plain.push_str(part.split_once('m').expect("a colour ends with m").1);
    }
    assert_eq!(plain, verdict(&simulated.input(), Colour::Never));
}

#[test]
fn an_analysis_lists_coefficients_and_every_type_of_table() {
    let simulated = Simulated::new(3, 10);
    let analysis = simulated.analysis.as_ref().unwrap();
    let text = analysis_text(analysis, Some("min"), Colour::Never);
    assert!(text.starts_with("Best configuration measured\n"), "the verdict stands first: {text}");
    assert!(text.lines().nth(2).unwrap().contains(" min, mean of "), "{text}");
    assert!(text.contains(&format!("\nEquation\n  {}\n  n = 48, ", analysis.formula)), "{text}");
    for heading in ["Coefficients", "Analysis of variance, type 1", "type 2", "type 3"] {
        assert!(text.contains(heading), "{heading}");
    }
    for coefficient in &analysis.fit.coefficients {
        let line =
            text.lines().find(|line| line.split_whitespace().next() == Some(&coefficient.name));
        assert!(line.is_some(), "{} is missing", coefficient.name);
    }
    assert!(text.contains("F(15, 32)"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "no spaces at the ends of lines");
}

#[test]
fn aliased_terms_are_marked() {
    let simulated = Simulated::designed("type = \"fractional\"\nruns = 8", 2, 10);
    let text = analysis_text(simulated.analysis.as_ref().unwrap(), None, Colour::Never);
    let aliased = text.lines().filter(|line| line.ends_with("aliased with other terms")).count();
    assert!(aliased > 0, "{text}");
}
