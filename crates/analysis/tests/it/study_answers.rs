//! What a study is told beside its equation: baselines, a surface, cores that do not exist.

use std::collections::BTreeMap;

use trainwright_analysis::{
    Analysis, StudyOptions, SurfaceKind, analyze_study, compare_study, surface_of_study,
};
use trainwright_design::Design;
use trainwright_study::{Configuration, Observation, Study, TrialState};

use crate::support::finding;

fn study(factors: &str, design: &str) -> Study {
    let text = format!(
        "schema = 1\n[study]\nname = \"small\"\n{factors}\n[design]\n{design}\nreplications = 4\n\
         [metrics.time]\nfrom = \"jsonl\"\nunit = \"s\"\nobjective = \"minimize\"\n[analysis]\n\
         response = \"time\"\nterms = \"main\"\n"
    );
    Study::from_text(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Every planned trial, its time made from the configuration with a small wobble.
pub(crate) fn run(
    study: &Study,
    time: impl Fn(&Configuration) -> f64,
) -> (Design, Vec<Observation>) {
    let design = Design::of(study).unwrap();
    let trials = trainwright_design::plan(study, &design);
    let count = trials.len();
    let observe = |trial: trainwright_study::PlannedTrial| {
        let place = (trial.number as usize * 17 + 5) % count;
        let wobble =
            trainwright_stats::Normal.quantile((place as f64 + 0.5) / count as f64).unwrap();
        let value = time(&trial.configuration) + 0.05 * wobble;
        Observation::of(trial, TrialState::Finished, BTreeMap::from([("time".to_owned(), value)]))
    };
    (design, trials.into_iter().map(observe).collect())
}

pub(crate) fn number(configuration: &Configuration, factor: &str) -> f64 {
    configuration.get(factor).unwrap().number().unwrap()
}

fn analyze(study: &Study, design: &Design, seen: &[Observation], cores: Option<u32>) -> Analysis {
    let options = StudyOptions { machine_cores: cores, ..StudyOptions::default() };
    analyze_study(study, design, seen, &options).unwrap()
}

const LEVELS: &str =
    "[factors.threads]\nlevels = [1, 2, 4]\n[factors.strategy]\nlevels = [\"ring\", \"tree\"]";

#[test]
fn a_one_factor_study_is_compared_with_its_baseline() {
    let study =
        study(LEVELS, "type = \"one-factor\"\nbaseline = { threads = 2, strategy = \"ring\" }");
    let time = |c: &Configuration| {
        let slow = if c.get("strategy").unwrap().to_string() == "tree" { 4.0 } else { 0.0 };
        12.0 / number(c, "threads") + slow
    };
    let (design, seen) = run(&study, time);
    let found = analyze(&study, &design, &seen, Some(4));
    let texts: Vec<&str> =
        found.comparisons.iter().flat_map(|own| &own.levels).map(|own| own.text.as_str()).collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].starts_with("1 thread: 20"), "{texts:?}");
    assert!(texts[0].contains("% of 2 threads, 95 % interval") && texts[0].contains("higher"));
    assert!(
        texts[1].starts_with("4 threads: ") && texts[1].contains(": lower, which is better ("),
        "{texts:?}"
    );
    assert!(texts[2].starts_with("strategy tree: 16") && texts[2].contains("of strategy ring"));
    assert_eq!(finding(&found, "oversubscribed"), None);
    let two = analyze(&study, &design, &seen, Some(2));
    let text = finding(&two, "oversubscribed").unwrap();
    assert!(text.contains("has 2 cores, and threads = 4 asks for more"), "{text}");
    assert_eq!(finding(&analyze(&study, &design, &seen, None), "oversubscribed"), None);
}

#[test]
fn a_study_begun_is_compared_as_far_as_it_goes() {
    let study =
        study(LEVELS, "type = \"one-factor\"\nbaseline = { threads = 1, strategy = \"ring\" }");
    let (design, seen) = run(&study, |c| 12.0 / number(c, "threads"));
    for count in 2..seen.len() {
        let found = analyze(&study, &design, &seen[..count], None);
        assert!(
            found.comparisons.len() <= 2 && !format!("{:?}", found.comparisons).contains("NaN")
        );
    }
}

#[test]
fn other_designs_are_compared_on_demand() {
    let study = study(LEVELS, "type = \"full\"");
    let (design, seen) = run(&study, |c| 12.0 / number(c, "threads"));
    assert!(analyze(&study, &design, &seen, None).comparisons.is_empty());
    let found = compare_study(&study, &seen, Some("threads"), None, Some("4")).unwrap();
    assert_eq!((found.len(), found[0].levels.len()), (1, 2));
    assert!(
        found[0].levels[0].text.starts_with("1 thread: 397.5 % of 4 threads"),
        "{}",
        found[0].levels[0].text
    );
    let error = compare_study(&study, &seen, Some("nodes"), None, None).unwrap_err().to_string();
    assert_eq!(error, "there is no column `nodes`; the table has `threads`, `strategy`");
    let error = compare_study(&study, &seen, None, Some("cost"), None).unwrap_err().to_string();
    assert_eq!(error, "there is no column `cost`; the table has `time`");
}

const NUMERIC: &str = "[factors.lr]\nlevels = [0.001, 0.01, 0.1]\nscale = \"log\"\n\
    [factors.batch]\nlevels = [32, 64, 128]\nscale = \"log2\"";

#[test]
fn a_three_level_study_gets_its_surface_on_its_own_scales() {
    let study = study(NUMERIC, "type = \"full\"");
    let bowl = |c: &Configuration| {
        let (lr, batch) = (number(c, "lr").log10(), number(c, "batch").log2());
        5.0 + 2.0 * (lr + 2.25).powi(2) + 1.0 * (batch - 6.5).powi(2)
    };
    let (design, seen) = run(&study, bowl);
    let found = analyze(&study, &design, &seen, None);
    let surface = found.surface.as_ref().unwrap();
    assert_eq!(surface.kind, SurfaceKind::Minimum);
    let best = surface.optimum.as_ref().unwrap();
    assert!((best.at[0].log10() + 2.25).abs() < 0.02, "{:?}", best.at);
    assert!((best.at[1].log2() - 6.5).abs() < 0.05, "{:?}", best.at);
    assert!(best.inside && !best.on_border && surface.findings.is_empty());
    let slope =
        |c: &Configuration| 5.0 - number(c, "lr").log10() + 0.1 * number(c, "batch").log2().powi(2);
    let (design, seen) = run(&study, slope);
    let edge = analyze(&study, &design, &seen, None);
    assert!(finding(&edge, "optimum-at-edge").is_some());
    let once = edge.findings.iter().filter(|f| f.id == "optimum-at-edge").count();
    assert_eq!(once, 1);
}

#[test]
fn a_central_composite_study_gets_its_surface_and_every_value_is_compared() {
    let factors = "[factors.x]\nrange = { from = 10.0, to = 50.0 }\n\
        [factors.y]\nrange = { from = 1.0, to = 3.0 }";
    let study = study(factors, "type = \"central-composite\"");
    let bowl = |c: &Configuration| {
        5.0 + (number(c, "x") - 28.0).powi(2) / 50.0 + 3.0 * (number(c, "y") - 2.2).powi(2)
    };
    let (design, seen) = run(&study, bowl);
    let found = analyze(&study, &design, &seen, None);
    let best = found.surface.as_ref().unwrap().optimum.as_ref().unwrap();
    assert!((best.at[0] - 28.0).abs() < 0.5 && (best.at[1] - 2.2).abs() < 0.05, "{:?}", best.at);
    let compared = compare_study(&study, &seen, Some("x"), None, None).unwrap();
    let counted: usize = compared[0].levels.iter().map(|own| own.own.n).sum();
    assert_eq!(counted + compared[0].baseline.n, seen.len());
}

#[test]
fn two_levels_or_texts_support_no_surface() {
    for factors in
        [LEVELS, "[factors.lr]\nlevels = [0.1, 1]\n[factors.batch]\nlevels = [32, 64, 128]"]
    {
        let study = study(factors, "type = \"full\"");
        let (_, seen) = run(&study, |_| 5.0);
        assert!(surface_of_study(&study, &seen).unwrap().is_none());
    }
}
