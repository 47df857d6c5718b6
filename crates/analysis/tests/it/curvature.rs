//! Studies whose designs can see that an effect bends, and runs made in blocks.

use trainwright_analysis::{Analysis, AnovaType, StudyOptions, analyze_study};
use trainwright_design::Design;
use trainwright_study::{Configuration, Observation, Study};

use crate::study_answers::{number, run};
use crate::support::{finding, rows};

const FACTORS: &str = "[factors.lr]\nlevels = [1.0, 3.0]\n[factors.batch]\nlevels = [10.0, 20.0]\n";

fn study(design: &str) -> Study {
    let text = format!(
        "schema = 1\n[study]\nname = \"small\"\n{FACTORS}[design]\n{design}\n[metrics.time]\n\
         from = \"jsonl\"\nunit = \"s\"\nobjective = \"minimize\"\n"
    );
    Study::from_text(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn analyze(study: &Study, design: &Design, seen: &[Observation]) -> Analysis {
    analyze_study(study, design, seen, &StudyOptions::default()).unwrap()
}

/// A plane over the factors.
fn plane(c: &Configuration) -> f64 {
    5.0 + 2.0 * number(c, "lr") - 0.3 * number(c, "batch")
}

#[test]
fn centre_points_off_the_plane_are_told_with_their_gap() {
    let study = study("type = \"full\"\ncenter_points = 4\nreplications = 2");
    let (design, seen) = run(&study, |c| plane(c) + 1.5 * (number(c, "lr") - 2.0).powi(2));
    let found = analyze(&study, &design, &seen);
    let text = finding(&found, "curvature").unwrap();
    assert!(text.contains("the centre points lie 1.5") && text.contains(" below where"), "{text}");
    // The textbook's formula for a design of nf corners and nc centre points.
    let value = |o: &Observation| o.values["time"];
    let is_centre = |o: &&Observation| design.is_centre(o.row.unwrap());
    let centre: Vec<f64> = seen.iter().filter(is_centre).map(value).collect();
    let corners: Vec<f64> = seen.iter().filter(|o| !is_centre(o)).map(value).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (nf, nc) = (corners.len() as f64, centre.len() as f64);
    let quadratic = nf * nc * (mean(&corners) - mean(&centre)).powi(2) / (nf + nc);
    let squares = |values: &[f64]| values.iter().map(|v| (v - mean(values)).powi(2)).sum::<f64>();
    let mut pure = squares(&centre);
    let mut df = centre.len() - 1;
    for row in 1..=4 {
        let own: Vec<f64> = seen.iter().filter(|o| o.row == Some(row)).map(value).collect();
        pure += squares(&own);
        df += own.len() - 1;
    }
    let check = found.checks.iter().find(|check| check.name == "curvature").unwrap();
    let expected = quadratic / (pure / df as f64);
    assert!((check.statistic.unwrap() / expected - 1.0).abs() < 1e-9, "{check:?} {expected}");
    assert_eq!(check.holds, Some(false));
}

#[test]
fn centre_points_on_the_plane_and_designs_without_them_raise_nothing() {
    let flat = study("type = \"full\"\ncenter_points = 4\nreplications = 2");
    let (design, seen) = run(&flat, plane);
    let found = analyze(&flat, &design, &seen);
    assert_eq!(finding(&found, "curvature"), None);
    let check = found.checks.iter().find(|check| check.name == "curvature").unwrap();
    assert!(check.holds == Some(true) && check.verdict.contains("no evidence of curvature"));
    let single = study("type = \"full\"\ncenter_points = 1");
    let (design, seen) = run(&single, plane);
    let found = analyze(&single, &design, &seen);
    let check = found.checks.iter().find(|check| check.name == "curvature").unwrap();
    assert!(check.holds.is_none() && check.verdict.contains("no repeated runs"), "{check:?}");
    let corners = study("type = \"full\"\nreplications = 3");
    let (design, seen) = run(&corners, plane);
    let found = analyze(&corners, &design, &seen);
    assert!(found.checks.iter().all(|check| check.name != "curvature"));
}

#[test]
fn a_design_for_surfaces_is_fitted_with_squares() {
    for more in ["center_points = 5", "face = \"face-centred\""] {
        let text = format!("type = \"central-composite\"\n{more}\nreplications = 2");
        let study = study(&text);
        let bowl = |c: &Configuration| plane(c) + 1.5 * (number(c, "lr") - 2.0).powi(2);
        let (design, seen) = run(&study, bowl);
        let found = analyze(&study, &design, &seen);
        let terms: Vec<&str> =
            rows(&found, AnovaType::Two).iter().map(|row| row.term.as_str()).collect();
        assert_eq!(terms, ["lr", "batch", "lr:batch", "I(lr^2)", "I(batch^2)", "Residuals"]);
        let p = |term: &str| {
            rows(&found, AnovaType::Two).iter().find(|row| row.term == term).unwrap().p.unwrap()
        };
        assert!(p("I(lr^2)") < 1e-6 && p("I(batch^2)") > 0.01, "{}", p("I(batch^2)"));
        assert_eq!(finding(&found, "lack-of-fit"), None);
        let square = found.effects.iter().find(|own| own.term == "I(lr^2)").unwrap();
        assert!(square.effect.is_none() && square.p.is_some());
        let best = found.best.unwrap();
        assert!(best.configuration.get("I(lr^2)").is_none());
        // In coded units the square's coefficient is 1.5 times the half range squared.
        let own = found.fit.coefficients.iter().find(|own| own.name == "I(lr^2)").unwrap();
        assert!((own.estimate.unwrap() - 1.5).abs() < 0.1, "{own:?}");
    }
}

#[test]
fn replicates_run_as_blocks_are_a_term_and_the_words_say_so() {
    let blocked = study("type = \"full\"\nreplications = 3\norder = \"blocked\"");
    let (design, mut seen) = run(&blocked, plane);
    for own in &mut seen {
        *own.values.get_mut("time").unwrap() += 4.0 * f64::from(own.block.unwrap());
    }
    let found = analyze(&blocked, &design, &seen);
    assert_eq!(rows(&found, AnovaType::One)[0].term, "block");
    let text = finding(&found, "blocks").unwrap();
    assert!(text.contains("in 3 blocks, and the block is a term of the equation"), "{text}");
    assert!(found.fit.sigma.unwrap() < 0.2, "differences between blocks are not noise");
    let shuffled = study("type = \"full\"\nreplications = 3");
    let (design, seen) = run(&shuffled, plane);
    let found = analyze(&shuffled, &design, &seen);
    assert!(finding(&found, "blocks").is_none());
    assert_eq!(rows(&found, AnovaType::One)[0].term, "lr");
}
