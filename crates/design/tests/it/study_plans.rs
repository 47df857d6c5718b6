//! Plans: every cell once, the order asked for, numbers that stay.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use trainwright_design::{Confounding, Construction, Design, extend, plan};
use trainwright_study::{DesignSpec, PlannedTrial, RunOrder, Seed, Study};

use crate::studies::{SIX, study};

fn with(order: RunOrder, replications: u32, seed: u64) -> (Study, Design) {
    let mut study = study(SIX, "type = \"fractional\"\nruns = 16", "");
    study.design.order = order;
    study.design.replications = replications;
    study.seed = Seed::new(seed);
    let design = Design::of(&study).unwrap();
    (study, design)
}

fn cells(trials: &[PlannedTrial]) -> Vec<(u32, u32)> {
    trials.iter().map(|trial| (trial.replicate, trial.row.unwrap())).collect()
}

fn any_order() -> impl Strategy<Value = RunOrder> {
    prop::sample::select(vec![RunOrder::Randomized, RunOrder::Blocked, RunOrder::Standard])
}

#[test]
fn standard_order_follows_the_rows() {
    let (study, design) = with(RunOrder::Standard, 2, 7);
    let expected: Vec<_> = (1..=2).flat_map(|rep| (1..=16).map(move |row| (rep, row))).collect();
    assert_eq!(cells(&plan(&study, &design)), expected);
}

#[test]
fn centre_points_keep_their_place_in_standard_order() {
    let two = "[factors.a]\nlevels = [1, 3]\n[factors.b]\nlevels = [1, 3]\n";
    let asked = "type = \"full\"\ncenter_points = 3\norder = \"standard\"";
    let study = study(two, asked, "");
    let design = Design::of(&study).unwrap();
    let rows: Vec<u32> = plan(&study, &design).iter().map(|trial| trial.row.unwrap()).collect();
    assert_eq!(rows, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn blocks_are_whole_replicates_in_different_orders() {
    let (study, design) = with(RunOrder::Blocked, 3, 7);
    let cells = cells(&plan(&study, &design));
    let blocks: Vec<Vec<u32>> =
        cells.chunks(16).map(|block| block.iter().map(|cell| cell.1).collect()).collect();
    for (block, replicate) in cells.chunks(16).zip(1..) {
        assert!(block.iter().all(|cell| cell.0 == replicate), "{block:?}");
    }
    assert_ne!(blocks[0], blocks[1]);
    assert_ne!(blocks[1], blocks[2]);
}

#[test]
fn the_plan_of_a_seed_is_frozen() {
    // Recorded once; a change here would reorder and reseed the plans of existing studies.
    let (study, design) = with(RunOrder::Randomized, 1, 7);
    let plan = plan(&study, &design);
    let rows: Vec<u32> = plan.iter().map(|trial| trial.row.unwrap()).collect();
    assert_eq!(rows, FROZEN_ROWS);
    assert_eq!(plan[0].seed, FROZEN_SEED);
}

const FROZEN_ROWS: [u32; 16] = [3, 16, 15, 11, 10, 9, 1, 12, 2, 14, 6, 4, 7, 5, 8, 13];
const FROZEN_SEED: u32 = 2_072_610_796;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_cell_is_planned_once(order in any_order(), replications in 1u32..6, seed: u64) {
        let (study, design) = with(order, replications, seed);
        let plan = plan(&study, &design);
        prop_assert_eq!(plan.len(), 16 * replications as usize);
        prop_assert_eq!(cells(&plan).into_iter().collect::<BTreeSet<_>>().len(), plan.len());
        for (trial, number) in plan.iter().zip(1..) {
            prop_assert_eq!(trial.number, number);
            prop_assert_eq!(&trial.configuration, design.row(trial.row.unwrap()).unwrap());
            prop_assert!(trial.seed < 1 << 31);
        }
    }

    #[test]
    fn the_seed_alone_decides(order in any_order(), seed: u64) {
        let (study, design) = with(order, 3, seed);
        let (other_study, other_design) = with(order, 3, seed.wrapping_add(1));
        let first = plan(&study, &design);
        prop_assert_eq!(&first, &plan(&study, &design));
        let other = plan(&other_study, &other_design);
        prop_assert_eq!(cells(&first) == cells(&other), order == RunOrder::Standard);
        prop_assert_ne!(first, other);
    }

    #[test]
    fn trial_seeds_do_not_depend_on_the_order(seed: u64) {
        let seeds = |order| {
            let (study, design) = with(order, 3, seed);
            let plan = plan(&study, &design);
            plan.iter().map(|t| (t.row, t.replicate, t.seed)).collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(seeds(RunOrder::Randomized), seeds(RunOrder::Standard));
        prop_assert_eq!(seeds(RunOrder::Blocked), seeds(RunOrder::Standard));
    }

    #[test]
    fn further_replications_leave_the_plan_alone(
        order in any_order(), before in 1u32..4, more in 0u32..4, seed: u64,
    ) {
        let (study, design) = with(order, before, seed);
        let existing = plan(&study, &design);
        let (study, design) = with(order, before + more, seed);
        let extended = extend(&existing, &study, &design);
        prop_assert_eq!(&extended[..existing.len()], existing.as_slice());
        let whole = plan(&study, &design);
        let as_set = |trials: &[PlannedTrial]| {
            trials.iter().map(|t| (t.row, t.replicate, t.seed)).collect::<HashSet<_>>()
        };
        prop_assert_eq!(as_set(&extended), as_set(&whole));
        let numbers: Vec<u32> = extended.iter().map(|trial| trial.number).collect();
        prop_assert_eq!(numbers, (1..=whole.len() as u32).collect::<Vec<_>>());
        if order != RunOrder::Randomized {
            prop_assert_eq!(extended, whole);
        }
    }
}

/// Every trial's configuration, in factor order, with its seed.
fn seeds(study: &Study) -> BTreeSet<(String, u32)> {
    let plan = plan(study, &Design::of(study).unwrap());
    plan.iter().map(|trial| (trial.configuration.identity(), trial.seed)).collect()
}

const TWO: &str = "[factors.lr]\nlevels = [0.1, 0.01]\n[factors.batch]\nlevels = [32, 64]\n";

fn listed(factors: &str, rows: &str) -> Study {
    study(factors, &format!("type = \"table\"\nrows = [{rows}]\nreplications = 2"), "")
}

#[test]
fn a_trial_keeps_its_seed_when_the_design_grows_or_its_rows_move() {
    let before = seeds(&listed(TWO, "[0.1, 32], [0.01, 32]"));
    let moved = seeds(&listed(TWO, "[0.01, 32], [0.1, 32]"));
    assert_eq!(before, moved);
    let grown = seeds(&listed(TWO, "[0.01, 64], [0.01, 32], [0.1, 32]"));
    assert!(grown.is_superset(&before), "{before:?} {grown:?}");
    let full = seeds(&study(TWO, "type = \"full\"\nreplications = 3", ""));
    assert!(full.is_superset(&grown), "{grown:?} {full:?}");
}

#[test]
fn a_trial_keeps_its_seed_however_numbers_are_spelled_and_factors_ordered() {
    let other = "[factors.batch]\nlevels = [64.0, 32.0]\n[factors.lr]\nlevels = [1e-2, 1e-1]\n";
    let full = "type = \"full\"\nreplications = 2";
    assert_eq!(seeds(&study(TWO, full, "")), seeds(&study(other, full, "")));
}

#[test]
fn a_row_listed_twice_gets_the_seeds_of_further_replicates() {
    let row = "[0.1, 32]";
    let twice = seeds(&listed(TWO, &format!("{row}, {row}")));
    assert_eq!(twice.len(), 4, "no seed is given twice");
    let mut once = listed(TWO, row);
    once.design.replications = 4;
    assert_eq!(twice, seeds(&once));
}

#[test]
fn a_grown_plan_gives_no_number_and_no_seed_twice() {
    let row = "[0.1, 32]";
    let before = listed(TWO, &format!("{row}, {row}"));
    let mut existing = plan(&before, &Design::of(&before).unwrap());
    // What did not run was forgotten, and a trial that no design asked for has come since.
    existing.remove(1);
    existing[0].row = None;
    let mut after = listed(TWO, &format!("{row}, {row}, {row}"));
    after.design.replications = 3;
    let grown = extend(&existing, &after, &Design::of(&after).unwrap());
    let numbers: BTreeSet<u32> = grown.iter().map(|trial| trial.number).collect();
    let seeds: BTreeSet<u32> = grown.iter().map(|trial| trial.seed).collect();
    assert_eq!((numbers.len(), seeds.len()), (grown.len(), grown.len()));
    assert_eq!(&grown[..existing.len()], existing.as_slice());
}

#[test]
fn a_study_without_a_design_plans_nothing() {
    let mut open = study(TWO, "type = \"full\"\nreplications = 3", "");
    let existing = plan(&open, &Design::of(&open).unwrap());
    open.design = DesignSpec::open();
    let design = Design::of(&open).unwrap();
    assert_eq!(
        (design.kind(), design.rows().len(), design.notes().len()),
        (Construction::Open, 0, 0)
    );
    assert_eq!(Confounding::of(&open, &design), None);
    assert_eq!(plan(&open, &design), []);
    assert_eq!(extend(&existing, &open, &design), existing);
}

const SPLIT: &str = "[factors.nodes]\nlevels = [1, 4]\nhard_to_change = true\n\
    [factors.lr]\nlevels = [0.01, 0.001]\n[factors.batch]\nlevels = [64, 256]\n";

fn split_plot(order: RunOrder, replications: u32, seed: u64) -> (Study, Design) {
    let mut study = study(SPLIT, "type = \"full\"", "");
    study.design.order = order;
    study.design.replications = replications;
    study.seed = Seed::new(seed);
    let design = Design::of(&study).unwrap();
    (study, design)
}

#[test]
fn a_hard_to_change_factor_is_explained() {
    let note = |replications| {
        let (_, design) = split_plot(RunOrder::Randomized, replications, 7);
        design.notes()[0].to_string()
    };
    assert_eq!(
        note(3),
        "runs of the same `nodes` stay together, in 6 whole plots (2 settings, each made 3 times); \
         effects of `nodes` are judged by how whole plots of the same setting differ"
    );
    assert!(note(1).ends_with("which takes replications = 2 or more"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_whole_plot_holds_one_setting_in_consecutive_runs(
        order in any_order(), before in 1u32..4, more in 0u32..3, seed: u64,
    ) {
        let (study, design) = split_plot(order, before, seed);
        let existing = plan(&study, &design);
        let (study, design) = split_plot(order, before + more, seed);
        let trials = extend(&existing, &study, &design);
        let plots: Vec<u32> = trials.iter().map(|trial| trial.whole_plot.unwrap()).collect();
        // Each setting is made once a replicate; the number rises by one where a plot begins.
        prop_assert_eq!(*plots.last().unwrap(), 2 * (before + more));
        prop_assert!(plots.windows(2).all(|two| two[0] == two[1] || two[0] + 1 == two[1]));
        for plot in trials.chunk_by(|a, b| a.whole_plot == b.whole_plot) {
            prop_assert_eq!(plot.len(), 4);
            let one = |trial: &PlannedTrial| (trial.replicate, trial.configuration.get("nodes").cloned());
            prop_assert!(plot.iter().all(|trial| one(trial) == one(&plot[0])));
            prop_assert_eq!(plot.iter().map(|t| t.row).collect::<BTreeSet<_>>().len(), 4);
        }
    }
}

#[test]
fn the_order_of_whole_plots_and_within_them_is_random() {
    let orders: BTreeSet<Vec<u32>> = (0..200)
        .map(|seed| {
            let (study, design) = split_plot(RunOrder::Randomized, 1, seed);
            plan(&study, &design).iter().map(|trial| trial.row.unwrap()).collect()
        })
        .collect();
    // 2 orders of the plots times 24 orders within each make 1152.
    assert!(orders.len() > 150, "{}", orders.len());
}
