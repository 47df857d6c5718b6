//! Two-level screening designs in a multiple of four runs, and what hides in their main effects.
//!
//! Plackett and Burman, "The design of optimum multifactorial experiments", Biometrika 33, 1946,
//! pages 305 to 325: one row of signs, shifted around, and a last row of -1. All main effects are
//! independent of each other, but each is mixed with the interactions of the other factors.

use serde::Serialize;

use crate::error::DesignError;
use crate::two_level::word::{LETTERS, Word};

/// Numbers of runs on offer.
const RUNS: [u32; 5] = [8, 12, 16, 20, 24];

/// A Plackett-Burman design with the interactions that its main effects contain.
///
/// ```
/// use trainwright_design::PlackettBurman;
///
/// let design = PlackettBurman::with_runs(11, 12)?;
/// assert_eq!(design.rows().len(), 12);
/// // Each main effect carries a third of every interaction of the ten others.
/// assert_eq!(design.aliases().iter().filter(|alias| alias.effect == 'A').count(), 45);
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlackettBurman {
    factors: Vec<char>,
    rows: Vec<Vec<i8>>,
    aliases: Vec<PartialAlias>,
}

/// A two-factor interaction that an estimated main effect contains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartialAlias {
    /// The factor of the main effect.
    pub effect: char,
    /// The interaction, such as `BC`.
    pub interaction: String,
    /// What is added to the main effect for every unit of the interaction, between -1 and 1.
    pub share: f64,
}

impl PlackettBurman {
    /// The design of this many factors in 8, 12, 16, 20 or 24 runs.
    ///
    /// # Errors
    /// Another number of runs, or too few for the factors.
    pub fn with_runs(factors: usize, runs: u32) -> Result<Self, DesignError> {
        let design = "Plackett-Burman";
        let most = RUNS[RUNS.len() - 1] as usize - 1;
        if !(1..=most).contains(&factors) {
            return Err(DesignError::FactorsOutOfRange { design, factors, least: 1, most });
        }
        if !RUNS.contains(&runs) {
            return Err(DesignError::RunsNotOffered { design, runs, offered: &RUNS });
        }
        if factors >= runs as usize {
            let enough = RUNS.into_iter().find(|&runs| factors < runs as usize);
            let least = enough.expect("the largest size holds every allowed number of factors");
            return Err(DesignError::TooFewRuns { runs, factors, least });
        }
        let rows = shifted_rows(factors, runs);
        let aliases = partial_aliases(&rows)?;
        Ok(Self { factors: LETTERS[..factors].to_vec(), rows, aliases })
    }

    /// The fewest runs on offer for this many factors; the most on offer where none is enough.
    pub fn fewest_runs(factors: usize) -> u32 {
        RUNS.into_iter().find(|&runs| factors < runs as usize).unwrap_or(RUNS[RUNS.len() - 1])
    }

    /// Factor letters in order.
    pub fn factors(&self) -> &[char] {
        &self.factors
    }

    /// Rows of -1 and +1; the last is all -1.
    pub fn rows(&self) -> &[Vec<i8>] {
        &self.rows
    }

    /// The interactions contained in each main effect, where the share is not zero.
    pub fn aliases(&self) -> &[PartialAlias] {
        &self.aliases
    }
}

/// The share of every two-factor interaction in the mean and in each main effect.
///
/// The first row of the answer belongs to the mean, the next to the main effects in order; its
/// columns are the pairs (0, 1), (0, 2), ... (1, 2), ... of the sign table's columns. This is
/// the alias matrix (X'X)^-1 X'Z of Box and Wilson, "On the experimental attainment of optimum
/// conditions", Journal of the Royal Statistical Society B 13, 1951, for main effects X and
/// interactions Z; for balanced orthogonal columns and n rows it is X'Z / n.
///
/// # Errors
/// Rows of different lengths, entries other than -1 and +1, columns that are not balanced or not
/// orthogonal.
pub fn two_factor_aliases(rows: &[Vec<i8>]) -> Result<Vec<Vec<f64>>, DesignError> {
    let columns = checked_columns(rows)?;
    let mean = vec![1i8; rows.len()];
    let share = |own: &[i8], (first, second): (usize, usize)| {
        let products = own.iter().zip(&columns[first]).zip(&columns[second]);
        let sum: i64 = products.map(|((a, b), c)| i64::from(a * b * c)).sum();
        sum as f64 / rows.len() as f64
    };
    let effects = std::iter::once(&mean).chain(&columns);
    Ok(effects.map(|own| pairs(columns.len()).map(|pair| share(own, pair)).collect()).collect())
}

/// The interactions contained in each main effect of a sign table.
pub(crate) fn partial_aliases(rows: &[Vec<i8>]) -> Result<Vec<PartialAlias>, DesignError> {
    let matrix = two_factor_aliases(rows)?;
    let factors = matrix.len() - 1;
    let mut aliases = Vec::new();
    for (factor, shares) in matrix.iter().skip(1).enumerate() {
        for ((first, second), &share) in pairs(factors).zip(shares) {
            if share != 0.0 {
                let interaction = Word::of_factor(first).times(Word::of_factor(second)).to_string();
                aliases.push(PartialAlias { effect: LETTERS[factor], interaction, share });
            }
        }
    }
    Ok(aliases)
}

fn pairs(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).flat_map(move |first| (first + 1..columns).map(move |second| (first, second)))
}

/// The table turned on its side, once it is known to be balanced and orthogonal.
fn checked_columns(rows: &[Vec<i8>]) -> Result<Vec<Vec<i8>>, DesignError> {
    let expected = rows.first().ok_or(DesignError::EmptyTable)?.len();
    for (row, own) in (1..).zip(rows) {
        if own.len() != expected {
            return Err(DesignError::Ragged { row, columns: own.len(), expected });
        }
        if let Some(column) = own.iter().position(|sign| sign.abs() != 1) {
            return Err(DesignError::NotASign { row, column: column + 1, value: own[column] });
        }
    }
    let columns: Vec<Vec<i8>> =
        (0..expected).map(|column| rows.iter().map(|row| row[column]).collect()).collect();
    for (number, column) in (1..).zip(&columns) {
        let sum = column.iter().map(|&sign| i64::from(sign)).sum();
        if sum != 0 {
            return Err(DesignError::Unbalanced { column: number, sum });
        }
    }
    let crossing = pairs(expected).find(|&(first, second)| {
        let products = columns[first].iter().zip(&columns[second]);
        products.map(|(a, b)| i64::from(a * b)).sum::<i64>() != 0
    });
    match crossing {
        Some((first, second)) => {
            Err(DesignError::NotOrthogonal { first: first + 1, second: second + 1 })
        }
        None => Ok(columns),
    }
}

fn shifted_rows(factors: usize, runs: u32) -> Vec<Vec<i8>> {
    let first = first_row(runs);
    let length = first.len();
    let row =
        |run: usize| (0..factors).map(|factor| first[(length + factor - run) % length]).collect();
    let mut rows: Vec<Vec<i8>> = (0..length).map(row).collect();
    rows.push(vec![-1; factors]);
    rows
}

/// The published first row.
///
/// Where the number of runs less one is a prime, its plus signs are at 0 and at the squares modulo
/// that prime; 15 is no prime, so the row of 16 runs is Plackett and Burman's own.
fn first_row(runs: u32) -> Vec<i8> {
    let length = runs - 1;
    let squares: Vec<u32> = (0..length).map(|number| number * number % length).collect();
    let high = |place: u32| match runs {
        16 => [0, 1, 2, 3, 5, 7, 8, 11].contains(&place),
        _ => squares.contains(&place),
    };
    (0..length).map(|place| if high(place) { 1 } else { -1 }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_first_row(runs: u32, expected: &str) {
        let signs = first_row(runs).into_iter().map(|sign| if sign > 0 { '+' } else { '-' });
        assert_eq!(signs.collect::<String>(), expected, "{runs} runs");
    }

    /// Plackett and Burman, 1946.
    #[test]
    fn first_rows_are_the_published_ones() {
        check_first_row(8, "+++-+--");
        check_first_row(12, "++-+++---+-");
        check_first_row(16, "++++-+-++--+---");
        check_first_row(20, "++--++++-+-+----++-");
        check_first_row(24, "+++++-+-++--++--+-+----");
    }

    proptest! {
        #[test]
        fn columns_are_balanced_and_orthogonal(
            (runs, factors) in proptest::sample::select(RUNS.to_vec())
                .prop_flat_map(|runs| (Just(runs), 1..runs as usize)),
        ) {
            let design = PlackettBurman::with_runs(factors, runs).unwrap();
            prop_assert_eq!(design.rows().len(), runs as usize);
            let product = |a: usize, b: usize| -> i32 {
                design.rows().iter().map(|row| i32::from(row[a]) * i32::from(row[b])).sum()
            };
            for a in 0..factors {
                prop_assert_eq!(design.rows().iter().map(|row| i32::from(row[a])).sum::<i32>(), 0);
                for b in 0..a {
                    prop_assert_eq!(product(a, b), 0, "columns {} and {}", a, b);
                }
            }
        }
    }

    #[test]
    fn eight_and_sixteen_runs_alias_fully_or_not_at_all() {
        for runs in [8, 16] {
            let design = PlackettBurman::with_runs(runs as usize - 1, runs).unwrap();
            assert!(design.aliases().iter().all(|alias| alias.share.abs() == 1.0), "{runs} runs");
        }
        let design = PlackettBurman::with_runs(19, 20).unwrap();
        assert!(design.aliases().iter().all(|alias| alias.share.abs() < 1.0));
    }

    #[test]
    fn what_is_not_on_offer_is_named() {
        let said = |factors, runs| PlackettBurman::with_runs(factors, runs).unwrap_err();
        assert_eq!(
            said(5, 10).to_string(),
            "a Plackett-Burman design has 8, 12, 16, 20 or 24 runs, not 10"
        );
        assert_eq!(said(12, 12), DesignError::TooFewRuns { runs: 12, factors: 12, least: 16 });
        assert_eq!(
            said(24, 24).to_string(),
            "a Plackett-Burman design has 1 to 23 factors, not 24"
        );
        assert!(PlackettBurman::with_runs(0, 12).is_err());
    }

    #[test]
    fn tables_without_independent_main_effects_are_refused() {
        let aliases = |rows: &[[i8; 2]]| {
            two_factor_aliases(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>())
        };
        let unbalanced = aliases(&[[1, 1], [1, -1]]).unwrap_err();
        assert_eq!(unbalanced, DesignError::Unbalanced { column: 1, sum: 2 });
        let copied = aliases(&[[1, 1], [-1, -1]]).unwrap_err();
        assert_eq!(copied, DesignError::NotOrthogonal { first: 1, second: 2 });
        let zero = aliases(&[[1, 0]]).unwrap_err();
        assert_eq!(zero, DesignError::NotASign { row: 1, column: 2, value: 0 });
        assert_eq!(two_factor_aliases(&[]).unwrap_err(), DesignError::EmptyTable);
    }
}
