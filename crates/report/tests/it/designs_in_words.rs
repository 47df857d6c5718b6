//! Designs and what they cannot tell apart, as text.

use trainwright_design::{
    Blocks, Confounding, Design, PlackettBurman, SpaceFilling, TwoLevelFraction, sobol,
};
use trainwright_report::terminal::{
    confounding_text, decimal_rows_text, fraction_text, rows_text, screening_text,
    space_filling_text,
};
use trainwright_study::{BlockSpec, Study};

fn names(letters: &str) -> Vec<String> {
    letters.chars().map(String::from).collect()
}

#[test]
fn rows_are_numbered_from_one_under_their_factors() {
    let text = rows_text(&names("AB"), &[vec![-1, 1], vec![1, -1]]);
    assert_eq!(text, " row  A   B\n 1    -1  1\n 2    1   -1\n");
    let text = decimal_rows_text(&names("A"), &[vec![0.123_456]]);
    assert_eq!(text, " row  A\n 1    0.1235\n");
}

#[test]
fn a_half_fraction_tells_generator_relation_and_resolution() {
    // 2^(5-1) with E = ABCD: Box, Hunter and Hunter, Statistics for Experimenters, chapter 6.
    let fraction = TwoLevelFraction::with_runs(5, 16).unwrap();
    let text = fraction_text(&fraction, None);
    for line in
        ["generators         E=ABCD", "defining relation  I = ABCDE", "resolution         5"]
    {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    assert!(text.contains("clear interactions 10\n"), "{text}");
    assert!(!text.contains("blocks"), "{text}");
}

#[test]
fn a_whole_factorial_has_nothing_aliased() {
    let text = fraction_text(&TwoLevelFraction::with_runs(3, 8).unwrap(), None);
    assert!(text.contains("every combination runs: nothing is aliased"), "{text}");
    assert!(!text.contains("generators"), "{text}");
}

#[test]
fn blocks_name_what_they_cost_and_the_block_of_each_row() {
    let fraction = TwoLevelFraction::with_runs(3, 8).unwrap();
    let spec = BlockSpec::Generators(vec!["ABC".to_owned()]);
    let blocks = Blocks::of_fraction(&fraction, fraction.rows(), &spec, &names("ABC")).unwrap();
    let text = fraction_text(&fraction, Some(&blocks));
    assert!(text.contains("2 blocks, told apart by ABC; confounded with them: ABC\n"), "{text}");
    let (_, of_rows) = text.split_once("block of each row: ").unwrap();
    let counts = ["1", "2"].map(|own| of_rows.split_whitespace().filter(|row| *row == own).count());
    assert_eq!(counts, [4, 4]);
}

#[test]
fn a_screening_design_says_how_much_of_interactions_an_effect_contains() {
    let design = PlackettBurman::with_runs(5, 12).unwrap();
    let text = screening_text(&design);
    // Every main effect holds a third of each two-factor interaction without it: Hamada and Wu,
    // Journal of Quality Technology 24, 1992.
    let line = "A contains parts of 6 two-factor interactions, each at most 0.333 of it";
    assert!(text.contains(line), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("contains parts")).count(), 5);
}

#[test]
fn points_in_a_cube_have_their_measures() {
    let points = sobol(2, 8).unwrap();
    let text = space_filling_text(&SpaceFilling::of(&points).unwrap());
    for name in ["closest points apart", "centred discrepancy", "star discrepancy"] {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_whitespace().last()?.parse::<f64>().ok());
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {text}");
    }
}

fn study(design: &str, levels: &str) -> (Study, Design) {
    let factors: String = ["lr", "batch", "depth"]
        .map(|name| format!("[factors.{name}]\nlevels = {levels}\n"))
        .concat();
    let text = format!(
        "schema = 1\n[study]\nname = \"d\"\n{factors}[design]\n{design}\n[metrics.y]\n\
         objective = \"minimize\"\n"
    );
    let study = Study::from_text(&text).unwrap();
    let design = Design::of(&study).unwrap();
    (study, design)
}

#[track_caller]
fn confounded(design: &str, levels: &str) -> String {
    let (study, design) = study(design, levels);
    confounding_text(&design, Confounding::of(&study, &design).as_ref())
}

#[test]
fn aliases_are_told_by_the_names_of_factors() {
    let text = confounded("type = \"fractional\"\nruns = 4", "[1, 2]");
    assert!(text.contains("resolution 3; 0 of 3 two-factor interactions are clear"), "{text}");
    assert!(text.contains("\n  lr = batch:depth"), "{text}");
}

#[test]
fn a_design_that_tells_everything_apart_says_so() {
    let text = confounded("type = \"full\"", "[1, 2, 3]");
    assert!(text.contains("no confounding"), "{text}");
}

#[test]
fn one_factor_at_a_time_cannot_fix_interactions() {
    let text = confounded("type = \"one-factor\"", "[1, 2]");
    assert!(text.contains("coefficients of main effects, two-factor interactions"), "{text}");
    assert!(text.contains("lr and lr:batch are mixed: correlation -0.58"), "{text}");
}

#[test]
fn blocks_of_a_study_name_the_effects_they_hide() {
    let text = confounded("type = \"full\"\nblocks = 2", "[1, 2]");
    assert!(text.contains("2 blocks a replicate"), "{text}");
    assert!(text.ends_with("lr:batch:depth"), "{text}");
}
