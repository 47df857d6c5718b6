//! Which cells the data cover, and which of an evident pattern they lack.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use trainwright_random::Random;
use trainwright_stats::ChiSquared;

use crate::model::variable::Variable;

/// Largest number of cells that is enumerated to find the missing ones.
const MOST_CELLS: usize = 4096;

/// A pattern that nearly all cells fit, and the cells that are missing from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MissingCells {
    /// Products of factors that are constant over all cells seen, for a two-level fraction.
    pub(crate) words: Vec<String>,
    /// Number of cells of the whole pattern.
    pub(crate) expected: usize,
    /// Levels of the missing cells, by code.
    pub(crate) cells: Vec<Vec<usize>>,
}

/// Whether all cells seen are equally frequent and all pairs of factors orthogonal.
///
/// `None` if a variable holds readings rather than factor levels, or if the rows look chosen freely,
/// as those of a table of training runs are: nobody planned them to be even.
pub(crate) fn is_balanced<V: Borrow<Variable>>(variables: &[V]) -> Option<bool> {
    if variables.is_empty() || !variables.iter().all(|own| own.borrow().is_factor()) {
        return None;
    }
    let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    for row in 0..variables[0].borrow().codes.len() {
        *counts.entry(cell_of(variables, row)).or_default() += 1;
    }
    let sizes: Vec<usize> = counts.into_values().collect();
    if sizes.iter().all(|n| *n == sizes[0]) && pairs_are_even(variables) {
        return Some(true);
    }
    let levels = variables.iter().map(|own| own.borrow().levels.len());
    let cells = levels.fold(1usize, usize::saturating_mul);
    looks_planned(&sizes, cells).then_some(false)
}

/// Chance with which freely chosen rows may be as even as those of a plan.
const BY_CHANCE: f64 = 0.025;

/// Random choices of rows that a table is compared with.
const CHOICES: usize = 999;

/// Rows drawn at most for that; of longer tables the distribution in the limit is taken.
const MOST_DRAWN: usize = 2_000_000;

/// Whether cells are filled more evenly than rows drawn at random would fill them.
///
/// `sizes` are the rows of each cell seen, `cells` is the number of all combinations of levels. A
/// plan fills each equally often but for what was lost; chance leaves some far fuller than others.
fn looks_planned(sizes: &[usize], cells: usize) -> bool {
    let rows: usize = sizes.iter().sum();
    let found = unevenness(sizes, rows);
    if rows.saturating_mul(CHOICES) > MOST_DRAWN || cells > MOST_CELLS {
        let df = sizes.len().saturating_sub(1) as f64;
        return ChiSquared::new(df).is_ok_and(|own| 1.0 - own.upper_tail(found) < BY_CHANCE);
    }
    let mut random = Random::new(SEED);
    let as_even = (0..CHOICES).filter(|_| {
        let mut drawn = vec![0; cells];
        (0..rows).for_each(|_| drawn[random.index(cells)] += 1);
        drawn.retain(|n| *n > 0);
        // As many cells must be filled, or one that took all would count as even.
        drawn.len() >= sizes.len() && unevenness(&drawn, rows) <= found
    });
    ((as_even.count() + 1) as f64) < BY_CHANCE * (CHOICES + 1) as f64
}

/// The draws are the same in every analysis, so that the same table is judged alike.
const SEED: u64 = 0xba1a_4ced;

/// Pearson's statistic of cells that should be equally full.
fn unevenness(sizes: &[usize], rows: usize) -> f64 {
    let mean = rows as f64 / sizes.len() as f64;
    sizes.iter().map(|&n| (n as f64 - mean).powi(2) / mean).sum()
}

/// The variables without those that are computed from the same column as an earlier one.
pub(crate) fn one_a_source(variables: &[Variable]) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    for own in variables {
        if found.iter().all(|other| other.source() != own.source()) {
            found.push(own.clone());
        }
    }
    found
}

fn pairs_are_even<V: Borrow<Variable>>(variables: &[V]) -> bool {
    let rows = variables[0].borrow().codes.len();
    variables.iter().enumerate().all(|(i, a)| {
        variables[..=i].iter().enumerate().all(|(j, b)| {
            let (a, b) = (a.borrow(), b.borrow());
            let wide = if i == j { 1 } else { b.levels.len() };
            let mut table = vec![0usize; a.levels.len() * wide];
            for row in 0..rows {
                let second = if i == j { 0 } else { b.codes[row] };
                table[a.codes[row] * wide + second] += 1;
            }
            table.iter().all(|&n| n == table[0])
        })
    })
}

fn cell_of<V: Borrow<Variable>>(variables: &[V], row: usize) -> Vec<usize> {
    variables.iter().map(|v| v.borrow().codes[row]).collect()
}

/// Cells that complete the smallest regular pattern around those seen, if no more than a quarter
/// of the pattern is missing and the rows look planned.
pub(crate) fn missing_cells(variables: &[Variable]) -> Option<MissingCells> {
    if variables.is_empty() || !variables.iter().all(Variable::is_factor) {
        return None;
    }
    let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    for row in 0..variables[0].codes.len() {
        *counts.entry(cell_of(variables, row)).or_default() += 1;
    }
    let sizes_seen: Vec<usize> = counts.values().copied().collect();
    let seen: BTreeSet<Vec<usize>> = counts.into_keys().collect();
    let sizes: Vec<usize> = variables.iter().map(|v| v.levels.len()).collect();
    let whole = sizes.iter().try_fold(1usize, |all, n| all.checked_mul(*n))?;
    if whole > MOST_CELLS {
        return None;
    }
    let words =
        if sizes.iter().all(|n| *n == 2) { constant_words(&seen, sizes.len()) } else { vec![] };
    let fits = |cell: &[usize]| words.iter().all(|&(mask, parity)| parity_of(cell, mask) == parity);
    let pattern: Vec<Vec<usize>> = crossing(&sizes).into_iter().filter(|c| fits(c)).collect();
    let cells: Vec<Vec<usize>> = pattern.iter().filter(|c| !seen.contains(*c)).cloned().collect();
    let few = 4 * cells.len() <= pattern.len();
    if cells.is_empty() || !few || !looks_planned(&sizes_seen, pattern.len()) {
        return None;
    }
    let word = |mask: usize| {
        let names = variables.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
        names.map(|(_, v)| v.name.as_str()).collect::<Vec<_>>().join("*")
    };
    let words = words.iter().map(|&(mask, _)| word(mask)).collect();
    Some(MissingCells { words, expected: pattern.len(), cells })
}

/// Sets of two-level factors whose product of signs is the same in every cell.
fn constant_words(seen: &BTreeSet<Vec<usize>>, factors: usize) -> Vec<(usize, usize)> {
    (1..1usize << factors)
        .filter_map(|mask| {
            let mut parities = seen.iter().map(|cell| parity_of(cell, mask));
            let first = parities.next()?;
            parities.all(|p| p == first).then_some((mask, first))
        })
        .collect()
}

fn parity_of(cell: &[usize], mask: usize) -> usize {
    cell.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, c)| c).sum::<usize>() % 2
}

/// All combinations of levels, the first factor varying fastest.
fn crossing(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut cells = vec![vec![]];
    for &size in sizes {
        cells = (0..size)
            .flat_map(|level| {
                cells.iter().map(move |cell: &Vec<usize>| [cell.as_slice(), &[level]].concat())
            })
            .collect();
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_table::Table;

    fn variables(rows: &[[i32; 3]]) -> Vec<Variable> {
        let mut text = "a,b,c\n".to_owned();
        for [a, b, c] in rows {
            text.push_str(&format!("{a},{b},{c}\n"));
        }
        let table = Table::from_csv(text.as_bytes(), &[]).unwrap();
        let all: Vec<usize> = (0..rows.len()).collect();
        ["a", "b", "c"].map(|n| Variable::from_table(&table, n, &all).unwrap()).into()
    }

    fn full(leave_out: &[usize]) -> Vec<[i32; 3]> {
        let row = |i: usize| [0, 1, 2].map(|bit| i32::from(i >> bit & 1 == 1));
        let once = (0..8).filter(|i| !leave_out.contains(i)).map(row);
        let rows: Vec<_> = once.collect();
        [rows.clone(), rows].concat()
    }

    #[test]
    fn a_missing_cell_of_a_full_design_is_found() {
        assert_eq!(missing_cells(&variables(&full(&[]))), None);
        let found = missing_cells(&variables(&full(&[5]))).unwrap();
        assert_eq!((found.cells, found.expected), (vec![vec![1, 0, 1]], 8));
        assert_eq!(is_balanced(&variables(&full(&[]))), Some(true));
        assert_eq!(is_balanced(&variables(&full(&[5]))), Some(false));
    }

    #[test]
    fn a_complete_half_fraction_lacks_nothing() {
        let half = variables(&full(&[1, 2, 4, 7]));
        assert_eq!(missing_cells(&half), None);
        assert_eq!(is_balanced(&half), Some(true));
    }

    #[test]
    fn rows_drawn_at_random_are_seldom_taken_for_a_broken_plan() {
        let mut called = 0;
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let mut counts = vec![0; 18];
            (0..48).for_each(|_| counts[random.index(18)] += 1);
            counts.retain(|n| *n > 0);
            called += usize::from(looks_planned(&counts, 18));
        }
        assert!(called <= 7, "{called} of 100");
        assert!(looks_planned(&[3; 16], 18), "two of eighteen cells lost");
        assert!(looks_planned(&[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2], 18));
        assert!(looks_planned(&[1; 7], 8), "a cell of 2^3 that was not run");
        assert!(!looks_planned(&[1, 1, 1], 4), "three of four rows say nothing");
        assert!(looks_planned(&[3000, 3000, 3001], 3), "a long table");
    }

    #[test]
    fn half_of_the_pattern_is_not_called_missing() {
        assert_eq!(missing_cells(&variables(&full(&[0, 1, 2]))), None);
    }
}
