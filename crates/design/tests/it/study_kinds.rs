//! Every kind of design over a study's own levels and ranges.

use std::collections::BTreeSet;

use proptest::prelude::*;
use trainwright_design::{Confounding, Construction, Design, DesignError, augment, plan};
use trainwright_study::Study;

use crate::studies::{SIX, study};

const RANGES: &str = "[factors.lr]\nrange = { from = 0.001, to = 0.1 }\nscale = \"log\"\n\
    [factors.batch]\nrange = { from = 16, to = 256 }\nscale = \"log2\"\n\
    [factors.momentum]\nlevels = [0.5, 0.9]\n";

fn of(factors: &str, asked: &str) -> (Study, Design) {
    let study = study(factors, asked, "");
    let design = Design::of(&study).unwrap();
    (study, design)
}

fn notes(design: &Design) -> String {
    design.notes().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn value(design: &Design, row: usize, factor: &str) -> f64 {
    design.rows()[row].get(factor).unwrap().number().unwrap()
}

#[test]
fn surfaces_run_between_the_ends_of_every_factor() {
    let (_, design) = of(RANGES, "type = \"box-behnken\"");
    assert_eq!((design.kind(), design.rows().len()), (Construction::BoxBehnken, 15));
    assert_eq!(design.rows()[14].to_string(), "lr=0.01 batch=64 momentum=0.7");
    assert_eq!(notes(&design), "");
    let (_, design) = of(RANGES, "type = \"central-composite\"\ncenter_points = 2");
    assert_eq!(design.rows().len(), 8 + 6 + 2);
    assert!(notes(&design).contains("`lr` also runs beyond its range"));
    let (_, design) = of(RANGES, "type = \"central-composite\"\nface = \"inscribed\"");
    let values: Vec<f64> = (0..design.rows().len()).map(|row| value(&design, row, "lr")).collect();
    assert!(values.iter().all(|value| (0.001..=0.1).contains(value)));
    assert!(!notes(&design).contains("beyond"));
}

#[test]
fn screening_takes_the_fewest_runs_and_folds_clear_of_interactions() {
    let (_, design) = of(SIX, "type = \"plackett-burman\"");
    assert_eq!(design.rows().len(), 8);
    assert!(!design.partial_aliases().is_empty());
    let (study, design) = of(SIX, "type = \"plackett-burman\"\nruns = 12\nfoldover = true");
    assert_eq!(design.rows().len(), 24);
    assert!(design.partial_aliases().is_empty(), "main effects are clear");
    let confounding = Confounding::of(&study, &design).unwrap();
    assert!(confounding.partial.iter().all(|pair| pair.first.contains(':')));
}

#[test]
fn confounding_of_known_designs_is_known() {
    let (study, design) = of(SIX, "type = \"full\"");
    let full = Confounding::of(&study, &design).unwrap();
    assert_eq!((full.coefficients, full.estimable), (21, 21));
    assert!(full.same.is_empty() && full.partial.is_empty());
    let (study, design) = of(SIX, "type = \"plackett-burman\"\nruns = 12");
    let screening = Confounding::of(&study, &design).unwrap();
    // Every main effect shares a third with each interaction of two others.
    let third = |size: f64| (size - 1.0 / 3.0).abs() < 1e-12;
    let mixed = screening.partial.iter().filter(|pair| !pair.first.contains(':'));
    assert!(mixed.clone().all(|pair| third(pair.correlation.abs())));
    assert_eq!(mixed.count(), 6 * 10);
    let (study, design) = of(SIX, "type = \"fractional\"\nruns = 16");
    let fraction = Confounding::of(&study, &design).unwrap();
    let pairs: BTreeSet<(String, String)> =
        fraction.same.iter().map(|pair| (pair.first.clone(), pair.second.clone())).collect();
    for (effect, aliases) in design.fraction().unwrap().aliases() {
        for alias in aliases.iter().filter(|alias| alias.trim_start_matches('-').len() <= 2) {
            let names =
                [effect, alias].map(|own| design.name_effect(own.trim_start_matches('-')).unwrap());
            let [a, b] = names;
            assert!(pairs.contains(&(a.clone(), b.clone())) || pairs.contains(&(b, a)));
        }
    }
    let (study, design) = of(SIX, "type = \"one-factor\"");
    let single = Confounding::of(&study, &design).unwrap();
    assert_eq!(single.estimable, 6, "seven rows fix six effects besides the mean");
}

#[test]
fn a_d_optimal_design_serves_the_terms_of_the_analysis_within_the_constraints() {
    let asked = "type = \"d-optimal\"\nruns = 24\nmodel = \"main + lr*batch\"";
    let constraint = "[[constraint]]\nexpr = \"nodes * executors < 16\"";
    let design = Design::of(&study(SIX, asked, constraint)).unwrap();
    // Three of four combinations cannot fix an interaction.
    let asked = asked.replace("lr*batch", "nodes*executors");
    let fault = Design::of(&study(SIX, &asked, constraint)).unwrap_err();
    assert_eq!(fault, DesignError::CandidatesTooPoor { coefficients: 8 });
    assert_eq!(design.rows().len(), 24);
    for row in 0..24 {
        assert!(value(&design, row, "nodes") * value(&design, row, "executors") < 16.0);
    }
    // Where all rows are allowed, the half fraction of 32 is orthogonal and so is the best.
    let (_, whole) = of(SIX, "type = \"d-optimal\"\nruns = 32\nstarts = 20");
    assert!(notes(&whole).starts_with("D-efficiency 100.0 %"), "{}", notes(&whole));
}

#[test]
fn added_rows_complete_what_is_there() {
    let (finished, half) = of(SIX, "type = \"fractional\"\nruns = 16");
    let asked = "type = \"d-optimal\"\nruns = 16\nmodel = \"main + 2fi\"";
    let optimal = Study { design: study(SIX, asked, "").design, ..finished };
    let (rows, optimality) = augment(&optimal, half.rows()).unwrap();
    assert_eq!(rows.len(), 16);
    assert_eq!(optimality.coefficients, 22);
    assert!(optimality.d_efficiency > 88.0, "{optimality:?}");
}

#[test]
fn a_mixed_design_balances_texts_and_numbers() {
    let factors = "[factors.opt]\nlevels = [\"sgd\", \"adam\"]\n[factors.batch]\nlevels = [32, 64, 128]\n\
        [factors.act]\nlevels = [\"relu\", \"tanh\", \"gelu\"]\n";
    let (_, design) = of(factors, "type = \"mixed\"");
    assert_eq!(design.rows().len(), 18);
    assert!(notes(&design).contains("orthogonal array L18"));
    let count = |text: &str| design.rows().iter().filter(|r| r.to_string().contains(text)).count();
    assert_eq!((count("sgd"), count("batch=64"), count("gelu")), (9, 6, 6));
}

#[test]
fn centre_points_stand_at_the_ends_and_in_the_middle_of_the_run_order() {
    let (study, design) = of(SIX, "type = \"fractional\"\nruns = 16\ncenter_points = 3");
    assert_eq!((design.centre_points(), design.rows().len()), (3, 19));
    let centre: Vec<u32> = plan(&study, &design)
        .iter()
        .filter(|trial| design.is_centre(trial.row.unwrap()))
        .map(|trial| trial.number)
        .collect();
    assert_eq!(centre, [1, 10, 19]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_hypercube_has_one_value_in_every_stratum_of_a_range(runs in 2usize..40, seed: u64) {
        let mut asked = study(RANGES, &format!("type = \"latin-hypercube\"\nruns = {runs}"), "");
        asked.seed = trainwright_study::Seed::new(seed);
        let design = Design::of(&asked).unwrap();
        // On the logarithmic scale, 0.001 to 0.1 is -3 to -1.
        let mut strata: Vec<usize> = (0..runs)
            .map(|row| ((value(&design, row, "lr").log10() + 3.0) / 2.0 * runs as f64) as usize)
            .collect();
        strata.sort_unstable();
        prop_assert!(strata.into_iter().eq(0..runs));
        let low = (0..runs).filter(|&row| value(&design, row, "momentum") == 0.5).count();
        prop_assert!(low == runs / 2 || low == runs.div_ceil(2));
    }

    #[test]
    fn blocks_run_one_after_the_other_and_shuffled_within(seed: u64, replications in 1u32..3) {
        let mut asked = study(SIX, "type = \"full\"\nblocks = 8", "");
        asked.seed = trainwright_study::Seed::new(seed);
        asked.design.replications = replications;
        let design = Design::of(&asked).unwrap();
        let trials = plan(&asked, &design);
        let blocks: Vec<&[_]> = trials.chunk_by(|a, b| a.block == b.block).collect();
        prop_assert_eq!(blocks.len(), 8 * replications as usize);
        let seen: BTreeSet<_> = blocks.iter().map(|block| block[0].block).collect();
        prop_assert_eq!(seen.len(), blocks.len());
        for block in blocks {
            prop_assert_eq!(block.len(), 8);
            let own = design.blocks().unwrap().of_row(block[0].row.unwrap());
            prop_assert!(block.iter().all(|t| design.blocks().unwrap().of_row(t.row.unwrap()) == own));
        }
    }

    #[test]
    fn sobol_points_fill_every_quarter_of_a_range(exponent in 2u32..7) {
        let runs = 1 << exponent;
        let (_, design) = of(RANGES, &format!("type = \"sobol\"\nruns = {runs}"));
        let mut counts = [0; 4];
        for row in 0..runs {
            let place = (value(&design, row, "lr").log10() + 3.0) / 2.0;
            // A tidied value may fall short of its border by its last digit.
            counts[((place + 1e-9) * 4.0) as usize] += 1;
        }
        prop_assert_eq!(counts, [runs / 4; 4]);
    }
}
