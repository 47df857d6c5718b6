//! What every report has, and what none may have.

use trainwright_report::{ReportTrial, html};
use trainwright_study::{Level, TrialState};

use crate::page::{check_closed, data_block, own_part};
use crate::simulated::Simulated;

#[track_caller]
fn check_sound(page: &str) {
    check_closed(page);
    let own = own_part(page);
    for id in ["verdict", "design", "effects", "fit", "trials", "curves", "environment"] {
        assert_eq!(own.matches(&format!("<section id=\"{id}\"")).count(), 1, "{id}");
    }
    let data = data_block(page);
    let charts = data["charts"].as_object().expect("charts are listed by id");
    for (id, option) in charts {
        // JSON has no NaN: it would turn into null, which only separates strokes of the pen.
        let strokes = ["main-effect", "level-differences", "alias-graph", "contour"];
        let has_strokes = strokes.iter().any(|own| id.starts_with(own));
        assert!(has_strokes || !option.to_string().contains("null"), "{id}");
    }
    assert!(!data["resources"].to_string().contains("null"));
}

#[test]
fn a_finished_study_shows_every_section_and_chart() {
    let simulated = Simulated::new(3, 60);
    let page = html(&simulated.input());
    check_sound(&page);
    let data = data_block(&page);
    for id in [
        "pareto",
        "half-normal",
        "main-effect-5",
        "interaction-10",
        "residuals-fitted",
        "residuals-order",
        "residuals-quantiles",
        "residuals-histogram",
        "power-profile",
        "power-curve",
        "curve-1",
        "curve-2",
        "resource-cpu",
        "resource-memory",
        "resource-disk",
        "resource-network",
    ] {
        assert!(data["charts"][id].is_object(), "{id}");
    }
    assert_eq!(data["resources"].as_array().unwrap().len(), 48);
    for text in ["Best configuration measured", "E=ABCD", "I = ABCDE", "Type III", "cpu.core0"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_hundred_trials_with_long_series_stay_small_and_say_what_was_thinned() {
    let mut simulated = Simulated::new(6, 2_000);
    assert_eq!(simulated.trials.len(), 96);
    simulated.trials[3].series[0].values[777] = -3.25;
    let page = html(&simulated.input());
    check_sound(&page);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    assert!(page.contains("96 of 96 curves are thinned to at most 104 points each"));
    assert!(page.contains("(the longest has 2000)"));
    assert!(page.contains(",-3.25],\"step\""), "a lone dip survives");
}

#[test]
fn ten_thousand_trials_make_a_page_of_sane_size() {
    let simulated = Simulated::new(625, 40);
    assert_eq!(simulated.trials.len(), 10_000);
    let page = html(&simulated.input());
    check_sound(&page);
    assert!(page.len() < 2_500_000, "{} bytes", page.len());
    assert!(page.contains("The first 500 of 10000 trials; `trainwright export` writes them all."));
    assert!(page.contains("Each chart shows 1500 of 10000 residuals"));
    assert!(page.contains("The first 200 of 10000 trials in run order."));
}

#[test]
fn an_unfinished_study_says_why_there_is_no_analysis() {
    let mut simulated = Simulated::new(2, 10);
    for trial in &mut simulated.trials {
        *trial = ReportTrial {
            state: TrialState::Planned,
            attempts: 0,
            started_ms: None,
            measurements: Vec::new(),
            usage: None,
            excluded: None,
            output_end: None,
            command: Vec::new(),
            series: Vec::new(),
            ..trial.clone()
        };
    }
    simulated.analysis = None;
    simulated.machines.clear();
    let page = html(&simulated.input());
    check_sound(&page);
    assert!(page.contains("Nothing to show yet: no trial has finished."));
    assert!(page.contains("Finish 32 trials: <code>trainwright run study.toml</code>."));
    assert!(page.contains("No trial has finished yet."));
}

#[test]
fn a_study_without_trials_renders() {
    let mut simulated = Simulated::new(1, 10);
    simulated.trials.clear();
    simulated.analysis = None;
    let page = html(&simulated.input());
    check_sound(&page);
    assert!(page.contains("No trial is planned yet."));
}

#[test]
fn a_study_without_replication_renders() {
    let simulated = Simulated::new(1, 10);
    assert!(simulated.analysis.is_some());
    check_sound(&html(&simulated.input()));
}

#[test]
fn other_designs_render() {
    for (design, word) in [
        ("type = \"full\"", "full factorial"),
        ("type = \"one-factor\"", "one factor at a time"),
        ("type = \"fractional\"\nruns = 8", "main effects are aliased with two-factor"),
    ] {
        let simulated = Simulated::designed(design, 2, 10);
        assert!(simulated.analysis.is_some(), "{design}");
        let page = html(&simulated.input());
        check_sound(&page);
        assert!(page.contains(word), "{word}");
    }
}

#[test]
fn an_interaction_in_words_is_the_difference_of_cell_means() {
    let simulated = Simulated::new(6, 10);
    let page = html(&simulated.input());
    let (_, rest) = page.split_once("lr changes cost by ").expect("the interaction stands out");
    let (sentence, _) = rest.split_once(',').unwrap();
    let (shown, _) = sentence.split_once(" at batch = 32").expect("its low level comes first");
    let mean = |lr: f64| {
        let here = |trial: &&ReportTrial| {
            let level = |name| trial.configuration.get(name).and_then(Level::number);
            level("lr") == Some(lr) && level("batch") == Some(32.0)
        };
        let costs: Vec<f64> = simulated
            .trials
            .iter()
            .filter(here)
            .flat_map(|trial| trial.measurements.iter().find(|own| own.metric == "cost"))
            .map(|own| own.value)
            .collect();
        costs.iter().sum::<f64>() / costs.len() as f64
    };
    // Half a unit of the last of the digits shown.
    let expected = mean(0.01) - mean(0.001);
    assert!((shown.parse::<f64>().unwrap() - expected).abs() < 6e-7, "{shown} for {expected}");
}

#[test]
fn failed_trials_show_their_reason_and_last_lines() {
    let simulated = Simulated::new(2, 10).broken(5, TrialState::Failed, "exit code 1").broken(
        6,
        TrialState::Diverged,
        "metric `accuracy` was infinite",
    );
    let page = html(&simulated.input());
    check_sound(&page);
    assert!(page.contains("<details id=\"trial-5\">"));
    assert!(page.contains("metric `accuracy` was infinite"));
    assert!(page.contains("Traceback (most recent call last):\n  &lt;module&gt;"));
    assert!(page.contains("See why 1 trial failed"));
}

#[test]
fn hostile_names_are_only_text() {
    const HOSTILE: &str = "</script><b onload=\"x\">&'<!--";
    let mut simulated = Simulated::new(2, 10).broken(5, TrialState::Failed, HOSTILE);
    simulated.study.name = HOSTILE.to_owned();
    simulated.study.description = Some(HOSTILE.to_owned());
    simulated.study.source.text = HOSTILE.to_owned();
    simulated.machines[0].host = HOSTILE.to_owned();
    let trial = &mut simulated.trials[4];
    trial.output_end = Some(HOSTILE.to_owned());
    trial.command = vec![HOSTILE.to_owned()];
    trial.configuration = trainwright_study::Configuration::new(
        trial
            .configuration
            .iter()
            .map(|(name, _)| (name.to_owned(), Level::Text(HOSTILE.to_owned())))
            .collect(),
    );
    trial.series[0].name = format!("metric.{HOSTILE}");
    let page = html(&simulated.input());
    let own = own_part(&page);
    assert!(!own.contains("<b onload") && !own.contains("<!--"));
    let harmless = html(&Simulated::new(2, 10).broken(5, TrialState::Failed, "x").input());
    assert_eq!(own.matches("</script>").count(), own_part(&harmless).matches("</script>").count());
    data_block(&page);
}
