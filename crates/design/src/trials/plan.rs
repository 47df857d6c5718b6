//! Numbered trials: every row as often as asked, in the order the study wants.

use std::collections::{HashMap, HashSet};

use trainwright_study::{PlannedTrial, Study};

use crate::design::Design;
use crate::trials::run_order::{Cell, Placed, RUN_ORDER, ordered};
use crate::trials::trial_seed::SeedsGiven;

/// Part of the study's randomness; the number never changes, so planned trials stay planned.
const ADDED_ORDER: u64 = 2;

/// All trials of a design in run order, numbered from 1.
pub fn plan(study: &Study, design: &Design) -> Vec<PlannedTrial> {
    let cells: Vec<Cell> = cells(study, design).collect();
    let seeds = seeds(study, design, &[], &cells);
    let order = ordered(study, design, cells, study.seed.derive(RUN_ORDER), 1);
    trials(design, &seeds, order, 1).collect()
}

/// An existing plan with the trials it lacks, such as further replications, appended.
///
/// Existing trials keep their numbers and seeds; the new ones are ordered among themselves.
pub fn extend(existing: &[PlannedTrial], study: &Study, design: &Design) -> Vec<PlannedTrial> {
    let known: HashSet<Cell> =
        existing.iter().filter_map(|trial| Some((trial.row?, trial.replicate))).collect();
    let missing: Vec<Cell> = cells(study, design).filter(|cell| !known.contains(cell)).collect();
    let seeds = seeds(study, design, existing, &missing);
    // A further extension must not repeat this one's order, hence the count of known trials.
    let seed = study.seed.derive(ADDED_ORDER).derive(existing.len() as u64);
    let whole_plot = existing.iter().filter_map(|trial| trial.whole_plot).max().unwrap_or(0) + 1;
    let order = ordered(study, design, missing, seed, whole_plot);
    let next = existing.iter().map(|trial| trial.number).max().unwrap_or(0) + 1;
    existing.iter().cloned().chain(trials(design, &seeds, order, next)).collect()
}

/// All cells, replicate by replicate.
fn cells<'a>(study: &'a Study, design: &'a Design) -> impl Iterator<Item = Cell> + 'a {
    let rows = u32::try_from(design.rows().len()).expect("designs have at most a million rows");
    (1..=study.design.replications)
        .flat_map(move |replicate| (1..=rows).map(move |row| (row, replicate)))
}

/// The seeds of missing cells, which depend on what runs there and not on the run order.
///
/// A row listed twice takes its seeds one after the other, as its replicates do.
fn seeds(
    study: &Study,
    design: &Design,
    existing: &[PlannedTrial],
    missing: &[Cell],
) -> HashMap<Cell, u32> {
    let identities: Vec<String> = design.rows().iter().map(|row| row.identity()).collect();
    let mut given = SeedsGiven::to(existing);
    let mut appearances: HashMap<&str, u32> = HashMap::new();
    let missing: HashSet<&Cell> = missing.iter().collect();
    let mut seeds = HashMap::with_capacity(missing.len());
    for cell in cells(study, design) {
        let identity = identities[cell.0 as usize - 1].as_str();
        let appearance = appearances.entry(identity).or_default();
        *appearance += 1;
        if missing.contains(&cell) {
            seeds.insert(cell, given.next(study.seed, identity, *appearance));
        }
    }
    seeds
}

fn trials<'a>(
    design: &'a Design,
    seeds: &'a HashMap<Cell, u32>,
    order: Vec<Placed>,
    first: u32,
) -> impl Iterator<Item = PlannedTrial> + 'a {
    (first..).zip(order).map(|(number, Placed { cell, block, whole_plot })| PlannedTrial {
        number,
        row: Some(cell.0),
        replicate: cell.1,
        configuration: design.row(cell.0).expect("cells hold rows of the design").clone(),
        seed: seeds[&cell],
        block,
        whole_plot,
    })
}
