//! Finds wrong signs in a two-level table typed by hand.
//!
//! In a regular fraction every word of the defining relation is constant over the rows and every
//! column is balanced. One wrong sign breaks all words that hold its column, in its row alone. A
//! table is reported when one sign flip makes it regular, or when a product of columns is
//! constant in all rows but one or two and chance hardly explains it.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::error::DesignError;
use crate::two_level::word::{LETTERS, Word};

/// Columns of the widest table that is checked: all 2^20 products are looked at.
pub const MOST_COLUMNS: usize = 20;

/// Rows below which a broken word proves nothing.
const LEAST_ROWS: usize = 8;

/// Rows that may break a word.
const MOST_BREAKS: usize = 2;

/// Words that may be nearly constant by chance before they stop being evidence.
const CHANCE: f64 = 1e-3;

/// Signs of a table that look wrong. Rows and columns count from 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Misprint {
    /// Products of columns that all rows but one or two keep constant.
    pub words: Vec<BrokenWord>,
    /// Columns whose signs do not sum to zero.
    pub unbalanced: Vec<UnbalancedColumn>,
    /// Single flips that each make the table a regular fraction.
    pub repairs: Vec<SignFlip>,
}

/// A product of columns that one or two rows break.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BrokenWord {
    /// The product in letters, `-` where it is -1 in the other rows.
    pub word: String,
    /// The rows that break it.
    pub rows: Vec<usize>,
}

/// A column whose signs do not sum to zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnbalancedColumn {
    /// The column.
    pub column: usize,
    /// The sum of its signs.
    pub sum: i64,
}

/// A sign and what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignFlip {
    /// The row.
    pub row: usize,
    /// The column.
    pub column: usize,
    /// The right sign.
    pub sign: i8,
}

/// Looks for wrong signs in a table of -1 and +1, one entry a run.
///
/// Nothing is returned for a regular fraction, for all combinations, and for a table that is
/// no fraction at all. Replicates count as rows of their own and do no harm.
///
/// # Errors
/// Rows of different lengths, entries other than -1 and +1, more than [`MOST_COLUMNS`] columns.
pub fn check_table(rows: &[Vec<i8>]) -> Result<Option<Misprint>, DesignError> {
    let columns = check_shape(rows)?;
    if rows.len() < LEAST_ROWS || columns < 2 {
        return Ok(None);
    }
    let masks: Vec<u32> = rows.iter().map(|row| mask_of(row)).collect();
    if regular(&masks, columns) {
        return Ok(None);
    }
    let words = broken_words(&masks, columns);
    let unbalanced = unbalanced_columns(rows, columns);
    let repairs = find_repairs(&masks, columns, &words, &unbalanced);
    let telling = !words.is_empty() && words_by_chance(rows.len(), columns) < CHANCE;
    Ok((telling || !repairs.is_empty()).then_some(Misprint { words, unbalanced, repairs }))
}

fn check_shape(rows: &[Vec<i8>]) -> Result<usize, DesignError> {
    let expected = rows.first().map_or(0, Vec::len);
    if expected > MOST_COLUMNS {
        return Err(DesignError::TooManyColumns { columns: expected, most: MOST_COLUMNS });
    }
    for (index, row) in rows.iter().enumerate() {
        if row.len() != expected {
            return Err(DesignError::Ragged { row: index + 1, columns: row.len(), expected });
        }
        if let Some(place) = row.iter().position(|sign| sign.abs() != 1) {
            let (column, value) = (place + 1, row[place]);
            return Err(DesignError::NotASign { row: index + 1, column, value });
        }
    }
    Ok(expected)
}

/// Bit i is set where column i is -1, so that products become parities.
fn mask_of(row: &[i8]) -> u32 {
    row.iter().enumerate().fold(0, |mask, (column, &sign)| mask | u32::from(sign < 0) << column)
}

/// Whether the rows are a fraction, or all, of the combinations: a shifted subspace over the
/// field of two elements, each point equally often, no column constant, no two columns alike.
fn regular(masks: &[u32], columns: usize) -> bool {
    let dimension = span_dimension(masks);
    let points = 1usize << dimension;
    if !masks.len().is_multiple_of(points) || !columns_differ(masks, columns) {
        return false;
    }
    let counts = multiplicities(masks);
    counts.len() == points && counts.values().all(|&count| count == masks.len() / points)
}

/// Dimension of the span of differences to the first row, by elimination.
fn span_dimension(masks: &[u32]) -> usize {
    let mut basis: Vec<u32> = Vec::new();
    for mask in masks {
        let rest = basis.iter().fold(mask ^ masks[0], |rest, own| rest.min(rest ^ own));
        if rest != 0 {
            basis.push(rest);
        }
    }
    basis.len()
}

fn columns_differ(masks: &[u32], columns: usize) -> bool {
    let all = (1u32 << columns) - 1;
    // For each column, the columns that have so far been equal, and opposite, in every row.
    let mut same = vec![all; columns];
    let mut opposite = vec![all; columns];
    let (mut ever, mut always) = (0, all);
    for &mask in masks {
        for column in 0..columns {
            let equal = if mask >> column & 1 == 1 { mask } else { !mask };
            same[column] &= equal;
            opposite[column] &= !equal;
        }
        ever |= mask;
        always &= mask;
    }
    let alone = (0..columns).all(|column| same[column] == 1 << column && opposite[column] == 0);
    alone && ever == all && always == 0
}

fn multiplicities(masks: &[u32]) -> HashMap<u32, usize> {
    let mut counts = HashMap::new();
    for &mask in masks {
        *counts.entry(mask).or_default() += 1;
    }
    counts
}

/// Products of three or more columns that one or two rows break.
fn broken_words(masks: &[u32], columns: usize) -> Vec<BrokenWord> {
    let total = masks.len() as i64;
    let mut words: Vec<Word> = product_sums(masks, columns)
        .into_iter()
        .enumerate()
        .map(|(mask, sum)| (Word { mask: mask as u32, sign: sum.signum() as i8 }, sum.abs()))
        .filter(|(word, size)| {
            let breaks = (total - size) as usize / 2;
            word.length() >= 3 && (1..=MOST_BREAKS).contains(&breaks)
        })
        .map(|(word, _)| word)
        .collect();
    words.sort_by_key(|word| word.rank());
    words
        .into_iter()
        .map(|word| BrokenWord { word: word.to_string(), rows: rows_breaking(masks, word) })
        .collect()
}

/// For every product of columns the sum of its signs, by a Walsh-Hadamard transform of how often
/// each row occurs.
fn product_sums(masks: &[u32], columns: usize) -> Vec<i64> {
    let mut sums = vec![0i64; 1 << columns];
    for &mask in masks {
        sums[mask as usize] += 1;
    }
    for column in 0..columns {
        for block in sums.chunks_exact_mut(2 << column) {
            let (low, high) = block.split_at_mut(1 << column);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
    }
    sums
}

fn rows_breaking(masks: &[u32], word: Word) -> Vec<usize> {
    let breaks = |mask: u32| (mask & word.mask).count_ones() % 2 != u32::from(word.sign < 0);
    (1..).zip(masks).filter(|&(_, &mask)| breaks(mask)).map(|(row, _)| row).collect()
}

fn unbalanced_columns(rows: &[Vec<i8>], columns: usize) -> Vec<UnbalancedColumn> {
    (0..columns)
        .map(|column| UnbalancedColumn {
            column: column + 1,
            sum: rows.iter().map(|row| i64::from(row[column])).sum(),
        })
        .filter(|column| column.sum != 0)
        .collect()
}

/// One flip unbalances one column by two; its row breaks a word or occurs once too often.
fn find_repairs(
    masks: &[u32],
    columns: usize,
    words: &[BrokenWord],
    unbalanced: &[UnbalancedColumn],
) -> Vec<SignFlip> {
    let &[UnbalancedColumn { column, sum: sum @ (-2 | 2) }] = unbalanced else {
        return Vec::new();
    };
    let bit = 1u32 << (column - 1);
    let counts = multiplicities(masks);
    let least = counts.values().copied().min().unwrap_or(0);
    let mut trial = masks.to_vec();
    let mut repairs = Vec::new();
    for (index, &mask) in masks.iter().enumerate() {
        let suspect = counts[&mask] > least
            || words.iter().any(|word| word.rows.len() == 1 && word.rows[0] == index + 1);
        if !suspect || (mask & bit != 0) != (sum < 0) {
            continue;
        }
        trial[index] ^= bit;
        // All combinations would be regular too, but say nothing about single signs.
        if regular(&trial, columns) && span_dimension(&trial) < columns {
            repairs.push(SignFlip { row: index + 1, column, sign: -(sum.signum() as i8) });
        }
        trial[index] = mask;
    }
    repairs
}

/// Number of products of columns that a table of random signs would show as broken words.
fn words_by_chance(rows: usize, columns: usize) -> f64 {
    let rows = rows as f64;
    // Both signs, and all ways to choose up to two rows that break the word.
    let ways = 2.0 * (1.0 + rows + rows * (rows - 1.0) / 2.0);
    (columns as f64 - rows).exp2() * ways
}

impl fmt::Display for Misprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = |column: usize| LETTERS[column - 1];
        f.write_str("the table looks like a regular fraction with a wrong sign:")?;
        let shown = self.words.iter().take(3);
        for BrokenWord { word, rows } in shown {
            let rows: Vec<_> = rows.iter().map(usize::to_string).collect();
            let (noun, verb) = if rows.len() == 1 { ("row", "breaks") } else { ("rows", "break") };
            write!(f, " {noun} {} {verb} I = {word};", rows.join(" and "))?;
        }
        for own in &self.unbalanced {
            write!(f, " column {} sums to {:+};", column(own.column), own.sum)?;
        }
        match self.repairs.as_slice() {
            [] => f.write_str(" no single flip repairs it"),
            repairs => {
                let flips: Vec<_> = repairs
                    .iter()
                    .map(|flip| {
                        format!("{} = {:+} in row {}", column(flip.column), flip.sign, flip.row)
                    })
                    .collect();
                write!(f, " it is regular with {}", flips.join(", or with "))
            }
        }
    }
}

#[cfg(test)]
mod tests;
