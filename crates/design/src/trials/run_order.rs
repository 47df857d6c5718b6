//! The order in which trials run, and the groups they run in.
//!
//! Without groups all trials are shuffled together. Runs of a block stay together; so do runs of
//! the same setting of the hard-to-change factors, which form a whole plot (Box and Jones, "Split
//! plots for robust product and process experimentation", Quality Engineering 13, 2001). The
//! order of the groups and the order within each are shuffled apart.

use std::collections::BTreeMap;

use trainwright_study::{Change, Configuration, Level, RunOrder, Seed, Study};

use crate::design::Design;

/// Parts of the study's randomness; the numbers never change, so planned trials stay planned.
pub(crate) const RUN_ORDER: u64 = 1;
const BLOCKS: u64 = 11;
const WITHIN_BLOCK: u64 = 12;
const WHOLE_PLOTS: u64 = 13;
const WITHIN_WHOLE_PLOT: u64 = 14;

/// A row and its replicate, both from 1.
pub(crate) type Cell = (u32, u32);

/// A cell with the groups that it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) cell: Cell,
    pub(crate) block: Option<u32>,
    pub(crate) whole_plot: Option<u32>,
}

/// Puts cells, given replicate by replicate, into the study's run order.
pub(crate) fn ordered(
    study: &Study,
    design: &Design,
    cells: Vec<Cell>,
    seed: Seed,
    first_whole_plot: u32,
) -> Vec<Placed> {
    let mut ordering = Ordering { study, design, whole_plot: first_whole_plot, placed: Vec::new() };
    match study.design.order {
        RunOrder::Standard | RunOrder::Randomized => ordering.stretch(cells, seed),
        // A replicate's order depends on its number alone, so that it is the same whether the
        // replicate was planned from the start or added later.
        RunOrder::Blocked => {
            for replicate in cells.chunk_by(|a, b| a.1 == b.1) {
                let seed = study.seed.derive(RUN_ORDER).derive(u64::from(replicate[0].1));
                ordering.stretch(replicate.to_vec(), seed);
            }
        }
    }
    ordering.placed
}

/// The block of a cell: blocks of the design are other ones in every replicate.
pub(crate) fn block_of(study: &Study, design: &Design, (row, replicate): Cell) -> Option<u32> {
    match (design.blocks(), study.design.order) {
        (Some(blocks), _) => {
            let own = blocks.of_row(row).expect("cells hold rows of the design");
            Some((replicate - 1) * blocks.count() + own)
        }
        (None, RunOrder::Blocked) => Some(replicate),
        (None, RunOrder::Randomized | RunOrder::Standard) => None,
    }
}

struct Ordering<'a> {
    study: &'a Study,
    design: &'a Design,
    whole_plot: u32,
    placed: Vec<Placed>,
}

impl Ordering<'_> {
    /// Orders cells that may all stand in any order.
    fn stretch(&mut self, cells: Vec<Cell>, seed: Seed) {
        if self.design.blocks().is_none() {
            return self.block(cells, seed);
        }
        let (study, design) = (self.study, self.design);
        let groups = grouped(cells, |&cell| block_of(study, design, cell));
        for (block, cells) in self.shuffled(groups, seed.derive(BLOCKS)) {
            let number = u64::from(block.unwrap_or_default());
            self.block(cells, seed.derive(WITHIN_BLOCK).derive(number));
        }
    }

    /// Orders the cells of a block.
    fn block(&mut self, cells: Vec<Cell>, seed: Seed) {
        if self.study.factors.iter().all(|factor| factor.change == Change::Easy) {
            let cells = self.shuffled(cells, seed);
            // The standard order is that of the list, centre points and all.
            let cells = match self.study.design.order {
                RunOrder::Standard => cells,
                _ => spread(cells, |&(row, _)| self.design.is_centre(row)),
            };
            return self.place(&cells, None);
        }
        let groups =
            grouped(cells, |&(row, replicate)| (replicate, setting(self.study, self.design, row)));
        let groups = self.shuffled(groups, seed.derive(WHOLE_PLOTS));
        for (number, (_, cells)) in (0..).zip(groups) {
            let cells = self.shuffled(cells, seed.derive(WITHIN_WHOLE_PLOT).derive(number));
            self.place(&cells, Some(self.whole_plot));
            self.whole_plot += 1;
        }
    }

    fn place(&mut self, cells: &[Cell], whole_plot: Option<u32>) {
        let (study, design) = (self.study, self.design);
        let placed = |&cell| Placed { cell, block: block_of(study, design, cell), whole_plot };
        self.placed.extend(cells.iter().map(placed));
    }

    fn shuffled<T>(&self, items: Vec<T>, seed: Seed) -> Vec<T> {
        match self.study.design.order {
            RunOrder::Standard => items,
            RunOrder::Randomized | RunOrder::Blocked => seed.shuffled(items),
        }
    }
}

fn setting(study: &Study, design: &Design, row: u32) -> Vec<Option<String>> {
    hard_setting(study, design.row(row).expect("cells hold rows of the design"))
}

/// The levels of the hard-to-change factors, as texts; nothing where one is absent.
pub(crate) fn hard_setting(study: &Study, configuration: &Configuration) -> Vec<Option<String>> {
    let hard = study.factors.iter().filter(|factor| factor.change == Change::Hard);
    hard.map(|factor| configuration.get(&factor.name).map(Level::to_string)).collect()
}

/// Items with equal keys together, in the order of their first appearance.
fn grouped<T, K: Ord + Clone>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut places = BTreeMap::new();
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let own = key(&item);
        let place = *places.entry(own.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, items)) => items.push(item),
            None => groups.push((own, vec![item])),
        }
    }
    groups
}

/// The items with the chosen ones spread evenly: at the start, at the end and between.
///
/// Centre points placed so show a drift that a random place might miss.
fn spread<T: Copy>(items: Vec<T>, chosen: impl Fn(&T) -> bool) -> Vec<T> {
    let (centre, others): (Vec<T>, Vec<T>) = items.into_iter().partition(|item| chosen(item));
    if centre.is_empty() {
        return others;
    }
    let gaps = (centre.len() - 1).max(1);
    let mut spread = Vec::with_capacity(centre.len() + others.len());
    let mut taken = 0;
    for (place, item) in centre.iter().enumerate() {
        let before = if centre.len() == 1 {
            others.len() / 2
        } else {
            (place * others.len() + gaps / 2) / gaps
        };
        spread.extend_from_slice(&others[taken..before]);
        taken = before;
        spread.push(*item);
    }
    spread.extend_from_slice(&others[taken..]);
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(items: &str, expected: &str) {
        let spread = spread(items.chars().collect(), |item| *item == '0');
        assert_eq!(spread.into_iter().collect::<String>(), expected);
    }

    #[test]
    fn centre_points_stand_at_the_ends_and_evenly_between() {
        check("abcd", "abcd");
        check("0abcd", "ab0cd");
        check("a00bcd", "0abcd0");
        check("a00bc0d", "0ab0cd0");
        check("abcdefgh0000", "0abc0de0fgh0");
        check("000", "000");
    }

    #[test]
    fn groups_keep_the_order_of_first_appearance() {
        let groups = grouped(vec![3, 1, 4, 1, 5, 9, 2, 6], |item| item % 2);
        assert_eq!(groups, [(1, vec![3, 1, 1, 5, 9]), (0, vec![4, 2, 6])]);
    }
}
