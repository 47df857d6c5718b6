//! Numbered trials: every row as often as asked, in the order the study wants.

use std::collections::HashSet;

use trainwright_study::{PlannedTrial, Seed, Study};

use crate::design::Design;
use crate::run_order::{Cell, Placed, RUN_ORDER, ordered};

/// Parts of the study's randomness; the numbers never change, so planned trials stay planned.
const ADDED_ORDER: u64 = 2;
const TRIAL_SEEDS: u64 = 3;

/// All trials of a design in run order, numbered from 1.
pub fn plan(study: &Study, design: &Design) -> Vec<PlannedTrial> {
    let cells = cells(study, design).collect();
    let order = ordered(study, design, cells, study.seed.derive(RUN_ORDER), 1);
    trials(study, design, order, 1).collect()
}

/// An existing plan with the trials it lacks, such as further replications, appended.
///
/// Existing trials keep their numbers; the new ones are ordered among themselves.
pub fn extend(existing: &[PlannedTrial], study: &Study, design: &Design) -> Vec<PlannedTrial> {
    let known: HashSet<Cell> =
        existing.iter().filter_map(|trial| Some((trial.row?, trial.replicate))).collect();
    let missing = cells(study, design).filter(|cell| !known.contains(cell)).collect();
    // A further extension must not repeat this one's order, hence the count of known trials.
    let seed = study.seed.derive(ADDED_ORDER).derive(existing.len() as u64);
    let whole_plot = existing.iter().filter_map(|trial| trial.whole_plot).max().unwrap_or(0) + 1;
    let order = ordered(study, design, missing, seed, whole_plot);
    let next = existing.iter().map(|trial| trial.number).max().unwrap_or(0) + 1;
    existing.iter().cloned().chain(trials(study, design, order, next)).collect()
}

/// All cells, replicate by replicate.
fn cells<'a>(study: &'a Study, design: &'a Design) -> impl Iterator<Item = Cell> + 'a {
    let rows = u32::try_from(design.rows().len()).expect("designs have at most a million rows");
    (1..=study.design.replications)
        .flat_map(move |replicate| (1..=rows).map(move |row| (row, replicate)))
}

fn trials<'a>(
    study: &'a Study,
    design: &'a Design,
    order: Vec<Placed>,
    first: u32,
) -> impl Iterator<Item = PlannedTrial> + 'a {
    (first..).zip(order).map(|(number, Placed { cell: (row, replicate), block, whole_plot })| {
        PlannedTrial {
            number,
            row: Some(row),
            replicate,
            configuration: design.row(row).expect("cells hold rows of the design").clone(),
            seed: trial_seed(study.seed, row, replicate),
            block,
            whole_plot,
        }
    })
}

/// Depends on row and replicate alone, not on the run order.
fn trial_seed(seed: Seed, row: u32, replicate: u32) -> u32 {
    let own = seed.derive(TRIAL_SEEDS).derive(u64::from(row)).derive(u64::from(replicate));
    u32::try_from(own.value() >> 33).expect("31 bits fit 32")
}
