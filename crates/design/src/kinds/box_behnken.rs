//! Three-level designs that fit a curved surface without visiting a corner of the cube.
//!
//! Box and Behnken, "Some new three level designs for the study of quantitative variables",
//! Technometrics 2, 1960, table 4: in each block a few factors run through their two-level cube
//! while the others rest in the middle. Up to five factors the blocks are all pairs; six and
//! seven factors use the published blocks of three, which take fewer runs than pairs would.

use serde::Serialize;

use crate::error::DesignError;
use crate::size::check_centre_points;
use crate::two_level::word::LETTERS;

/// Blocks of three for six factors, counted from 0.
const SIX: [[usize; 3]; 6] = [[0, 1, 3], [1, 2, 4], [2, 3, 5], [0, 3, 4], [1, 4, 5], [0, 2, 5]];

/// Blocks of three for seven factors, counted from 0; every pair of factors meets once.
const SEVEN: [[usize; 3]; 7] =
    [[3, 4, 5], [0, 5, 6], [1, 4, 6], [0, 1, 3], [2, 3, 6], [0, 2, 4], [1, 2, 5]];

/// A Box-Behnken design in coded units.
///
/// ```
/// use trainwright_design::BoxBehnken;
///
/// let design = BoxBehnken::new(3, 3)?;
/// assert_eq!(design.rows().len(), 15);
/// assert_eq!(design.rows()[0], [-1, -1, 0]);
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoxBehnken {
    factors: Vec<char>,
    rows: Vec<Vec<i8>>,
}

impl BoxBehnken {
    /// The design of 3 to 7 factors with this many centre points.
    ///
    /// # Errors
    /// Another number of factors; more centre points than the limit of rows leaves.
    pub fn new(factors: usize, centre: usize) -> Result<Self, DesignError> {
        let blocks = blocks(factors)?;
        let mut rows: Vec<Vec<i8>> =
            blocks.iter().flat_map(|block| block_rows(factors, block)).collect();
        check_centre_points(rows.len(), centre as u64)?;
        rows.extend(std::iter::repeat_n(vec![0; factors], centre));
        Ok(Self { factors: LETTERS[..factors].to_vec(), rows })
    }

    /// Centre points of the published design with this many factors, if there is one.
    pub fn published_centre(factors: usize) -> Option<usize> {
        match factors {
            3 | 4 => Some(3),
            5..=7 => Some(6),
            _ => None,
        }
    }

    /// Factor letters in order.
    pub fn factors(&self) -> &[char] {
        &self.factors
    }

    /// Rows of -1, 0 and +1, block by block, the centre points last.
    pub fn rows(&self) -> &[Vec<i8>] {
        &self.rows
    }
}

fn blocks(factors: usize) -> Result<Vec<Vec<usize>>, DesignError> {
    match factors {
        3..=5 => Ok((0..factors)
            .flat_map(|first| (first + 1..factors).map(move |second| vec![first, second]))
            .collect()),
        6 => Ok(SIX.iter().map(|block| block.to_vec()).collect()),
        7 => Ok(SEVEN.iter().map(|block| block.to_vec()).collect()),
        _ => {
            let design = "Box-Behnken";
            Err(DesignError::FactorsOutOfRange { design, factors, least: 3, most: 7 })
        }
    }
}

fn block_rows(factors: usize, block: &[usize]) -> impl Iterator<Item = Vec<i8>> {
    (0..1u32 << block.len()).map(move |run| {
        let mut row = vec![0; factors];
        for (bit, &factor) in block.iter().enumerate() {
            row[factor] = if run >> bit & 1 == 1 { 1 } else { -1 };
        }
        row
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(design: &BoxBehnken, product: impl Fn(&[i8]) -> i8) -> i32 {
        design.rows().iter().map(|row| i32::from(product(row))).sum()
    }

    /// Runs of table 4 of the paper, with its centre points.
    #[test]
    fn sizes_are_the_published_ones() {
        for (factors, runs) in [(3, 15), (4, 27), (5, 46), (6, 54), (7, 62)] {
            let centre = BoxBehnken::published_centre(factors).unwrap();
            let design = BoxBehnken::new(factors, centre).unwrap();
            assert_eq!(design.rows().len(), runs, "{factors} factors");
        }
    }

    #[test]
    fn main_effects_are_orthogonal_and_every_interaction_can_be_estimated() {
        for factors in 3..=7 {
            let design = BoxBehnken::new(factors, 3).unwrap();
            for a in 0..factors {
                assert_eq!(sum(&design, |row| row[a]), 0);
                for b in (0..factors).filter(|&b| b != a) {
                    assert_eq!(sum(&design, |row| row[a] * row[b]), 0);
                    assert_eq!(sum(&design, |row| row[a] * row[a] * row[b]), 0);
                    assert!(sum(&design, |row| row[a] * row[a] * row[b] * row[b]) > 0);
                }
            }
        }
    }

    /// Rows in which both factors leave the middle: eight for every block that holds the pair.
    fn together(design: &BoxBehnken, a: usize, b: usize) -> i32 {
        sum(design, |row| (row[a] * row[b]).abs())
    }

    /// Seven factors are a balanced incomplete block design, in which every pair meets once. Six
    /// are a partially balanced one: the three opposite pairs meet twice, the others once. Some
    /// programs use all pairs instead, which takes 60 and 84 runs.
    #[test]
    fn blocks_of_six_and_seven_factors_are_balanced_as_published() {
        let six = BoxBehnken::new(6, 0).unwrap();
        let seven = BoxBehnken::new(7, 0).unwrap();
        assert_eq!((six.rows().len(), seven.rows().len()), (48, 56));
        for (design, factors) in [(&six, 6), (&seven, 7)] {
            for a in 0..factors {
                assert_eq!(sum(design, |row| row[a].abs()), 24, "each is in three blocks");
                for b in 0..a {
                    let twice = factors == 6 && a - b == 3;
                    assert_eq!(together(design, a, b), if twice { 16 } else { 8 }, "{b} {a}");
                }
            }
        }
    }

    /// The fourth moments of the published designs of 4 and 7 factors make them rotatable.
    #[test]
    fn four_and_seven_factors_are_rotatable() {
        for factors in [4, 7] {
            let design = BoxBehnken::new(factors, 0).unwrap();
            for a in 0..factors {
                for b in (0..factors).filter(|&b| b != a) {
                    let pure = sum(&design, |row| row[a].pow(4));
                    assert_eq!(pure, 3 * sum(&design, |row| row[a].pow(2) * row[b].pow(2)));
                }
            }
        }
    }

    #[test]
    fn rows_differ_except_at_the_centre() {
        for factors in 3..=7 {
            let design = BoxBehnken::new(factors, 1).unwrap();
            let mut rows = design.rows().to_vec();
            rows.sort_unstable();
            rows.dedup();
            assert_eq!(rows.len(), design.rows().len(), "{factors} factors");
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for factors in [0, 2, 8] {
            assert_eq!(
                BoxBehnken::new(factors, 3).unwrap_err().to_string(),
                format!("a Box-Behnken design has 3 to 7 factors, not {factors}")
            );
        }
        assert!(matches!(
            BoxBehnken::new(3, usize::MAX),
            Err(DesignError::TooManyCentrePoints { .. })
        ));
    }
}
