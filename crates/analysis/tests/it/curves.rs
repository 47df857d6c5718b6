//! Effects that bend: seen by the equation of a study, named where the equation misses them.

use std::collections::BTreeMap;

use trainwright_analysis::{
    Analysis, AnovaType, Formula, StudyOptions, Table, TableOptions, TermOrder, TurnKind,
    analyze_study, analyze_table,
};
use trainwright_design::{Design, plan};
use trainwright_random::Random;
use trainwright_stats::Normal;
use trainwright_study::{Configuration, Observation, Study, TrialState};

use crate::study_answers::number;
use crate::support::{finding, rows};

const LR: &str = "[factors.lr]\nlevels = [1e-4, 1e-3, 1e-2]\nscale = \"log\"\n";

fn study(factors: &str, design: &str, terms: &str) -> Study {
    let text = format!(
        "schema = 1\n[study]\nname = \"curved\"\n{factors}[design]\n{design}\n[metrics.accuracy]\n\
         from = \"jsonl\"\nobjective = \"maximize\"\n[analysis]\n{terms}\n"
    );
    Study::from_text(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Every planned trial with normal noise of a seed.
fn analyzed(
    study: &Study,
    seed: u64,
    sigma: f64,
    truth: impl Fn(&Configuration) -> f64,
) -> Analysis {
    let design = Design::of(study).unwrap();
    let mut random = Random::new(seed);
    let observe = |trial: trainwright_study::PlannedTrial| {
        let noise = sigma * Normal.quantile(random.positive_unit().min(1.0 - 1e-12)).unwrap();
        let values = BTreeMap::from([("accuracy".to_owned(), truth(&trial.configuration) + noise)]);
        Observation::of(trial, TrialState::Finished, values)
    };
    let seen: Vec<Observation> = plan(study, &design).into_iter().map(observe).collect();
    analyze_study(study, &design, &seen, &StudyOptions::default()).unwrap()
}

/// 0.90 at a rate of 1e-3 and 0.15 less for every factor of ten away from it, squared.
fn peak(c: &Configuration) -> f64 {
    0.90 - 0.15 * (number(c, "lr").log10() + 3.0).powi(2)
}

#[test]
fn a_curved_effect_is_not_called_noise() {
    for more in ["", "[factors.batch]\nlevels = [16, 64]\n"] {
        let study = study(&format!("{LR}{more}"), "type = \"full\"\nreplications = 4", "");
        let found = analyzed(&study, 7, 0.01, peak);
        let lr = rows(&found, AnovaType::Two).iter().find(|row| row.term == "lr").unwrap();
        assert_eq!(lr.df, 2);
        assert!(lr.p.unwrap() < 1e-8 && lr.percent.unwrap() > 90.0, "{lr:?}");
        let text = finding(&found, "effect-ranking").unwrap();
        assert!(text.contains("lr matters most"), "{text}");
        assert!(text.contains("accuracy is highest at lr 0.001"), "{text}");
        let effect = found.effects.iter().find(|own| own.term == "lr").unwrap();
        let turn = effect.turn.as_ref().unwrap();
        assert_eq!((turn.kind, turn.level.to_string().as_str()), (TurnKind::Highest, "0.001"));
        assert!((turn.mean - 0.9).abs() < 0.01 && (turn.beyond_both_ends - 0.15).abs() < 0.02);
        assert!(effect.effect.unwrap().abs() < 0.02, "both ends are alike");
        assert_eq!(finding(&found, "lack-of-fit"), None);
        assert!(finding(&found, "curves-allowed").unwrap().contains("lr (degree 2"));
    }
}

#[test]
fn a_space_filling_design_sees_the_curve() {
    let factors =
        "[factors.lr]\nrange = [1e-4, 1e-2]\nscale = \"log\"\n[factors.wd]\nrange = [0.0, 1.0]\n";
    let study = study(factors, "type = \"latin-hypercube\"\nruns = 24", "");
    let found = analyzed(&study, 3, 0.01, peak);
    let lr = rows(&found, AnovaType::Two).iter().find(|row| row.term == "lr").unwrap();
    assert!(lr.p.unwrap() < 1e-8, "{lr:?}");
    let effect = found.effects.iter().find(|own| own.term == "lr").unwrap();
    let at = effect.turn.as_ref().unwrap().level.number().unwrap();
    assert!((at.log10() + 3.0).abs() < 0.2, "{at}");
    let check = found.checks.iter().find(|own| own.name == "lack-of-fit").unwrap();
    assert_eq!(check.holds, Some(true), "{check:?}");
    // A wave is beyond squares, and the neighbours of each point tell.
    let wave = |c: &Configuration| 0.2 * (3.0 * number(c, "lr").log10()).sin();
    let found = analyzed(&study, 3, 0.01, wave);
    let check = found.checks.iter().find(|own| own.name == "lack-of-fit").unwrap();
    assert_eq!(check.holds, Some(false), "{check:?}");
    assert!(finding(&found, "nothing-matters").is_none());
}

#[test]
fn lack_of_fit_of_straight_lines_names_the_square() {
    let straight = study(
        &format!("{LR}[factors.batch]\nlevels = [16, 64]\n"),
        "type = \"full\"\nreplications = 4",
        "terms = \"lr*batch\"",
    );
    let found = analyzed(&straight, 7, 0.01, peak);
    let text = finding(&found, "lack-of-fit").unwrap();
    assert!(text.contains("I(lr^2) would take up"), "{text}");
    assert!(finding(&found, "nothing-matters").is_none());
    let missing = &found.lack_of_fit.as_ref().unwrap().missing_terms;
    assert!(missing[0].term == "I(lr^2)" && missing[0].percent > 95.0, "{missing:?}");
    if let Some(text) = finding(&found, "effect-ranking") {
        assert!(!text.contains("no evidence"), "{text}");
    }
}

#[test]
fn squares_stand_beside_categories() {
    let factors = format!("{LR}[factors.opt]\nlevels = [\"sgd\", \"adam\", \"lion\"]\n");
    for terms in ["terms = \"quadratic\"", "terms = \"opt + lr + lr^2\""] {
        let study = study(&factors, "type = \"full\"\nreplications = 3", terms);
        let found = analyzed(&study, 5, 0.01, peak);
        let square = rows(&found, AnovaType::Two).iter().find(|row| row.term == "I(lr^2)").unwrap();
        assert!(square.p.unwrap() < 1e-10, "{terms}: {square:?}");
        let text = finding(&found, "effect-ranking").unwrap();
        assert!(!text.contains("I(opt^2)"), "{text}");
    }
}

#[test]
fn margins_of_a_strong_product_are_not_called_noise() {
    let factors = "[factors.a]\nlevels = [0, 1]\n[factors.c]\nlevels = [0, 1]\n";
    let study = study(factors, "type = \"full\"\nreplications = 4", "");
    let cross = |c: &Configuration| {
        if number(c, "a") == number(c, "c") { 1.0 } else { 0.0 }
    };
    let found = analyzed(&study, 2, 0.05, cross);
    let text = finding(&found, "effect-ranking").unwrap();
    assert!(text.contains("a:c matters most"), "{text}");
    assert!(text.contains("a and c act through the products above"), "{text}");
    assert!(!text.contains("no evidence"), "{text}");
}

fn of_table(csv: &str, formula: &str) -> Analysis {
    let table = Table::from_csv(csv.as_bytes(), &[]).unwrap();
    let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
    analyze_table(&table, &formula, &TableOptions::default()).unwrap()
}

#[test]
fn an_effect_is_that_of_all_terms_of_its_variable() {
    let mut csv = "y,x,g\n".to_owned();
    let mut random = Random::new(4);
    for x in 1..=5 {
        for g in ["u", "v", "w"] {
            for _ in 0..3 {
                let bowl = (f64::from(x) - 3.0).powi(2);
                csv += &format!("{},{x},{g}\n", bowl + 0.1 * (random.unit() - 0.5));
            }
        }
    }
    for formula in ["y ~ x + I(x^2) + g", "y ~ x + x^2 + g", "y ~ poly(x, 2) + g"] {
        let found = of_table(&csv, formula);
        let effect = &found.effects[0];
        // Both ends are 4; R: emmeans(fit, "x", at = list(x = c(1, 5))) differ by less than 0.03.
        assert!(effect.effect.unwrap().abs() < 0.05, "{effect:?}");
        let (low, high) = (effect.ci_low.unwrap(), effect.ci_high.unwrap());
        assert!(low < 0.0 && high > 0.0 && high - low < 0.1, "{effect:?}");
        let turn = effect.turn.as_ref().unwrap();
        assert_eq!((turn.kind, turn.level.number()), (TurnKind::Lowest, Some(3.0)));
        for id in ["collinearity", "unbalanced", "type-one-order"] {
            assert_eq!(finding(&found, id), None, "{formula}");
        }
    }
}
