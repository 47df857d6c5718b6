//! Every combination of levels.

use trainwright_study::{Configuration, Study};

use crate::error::DesignError;
use crate::note::DesignNote;
use crate::rows::RowList;
use crate::size::MOST_ROWS;

/// All combinations in standard order: the first factor changes fastest.
pub(crate) fn full(study: &Study) -> Result<(Vec<Configuration>, Vec<DesignNote>), DesignError> {
    let counts: Vec<usize> = study.factors.iter().map(|factor| factor.levels.len()).collect();
    let mut rows = RowList::new(study);
    for number in 0..combinations(&counts)? {
        let chosen = study.factors.iter().zip(combination(&counts, number));
        let pairs =
            chosen.map(|(factor, level)| (factor.name.clone(), factor.levels[level].clone()));
        rows.push(&Configuration::new(pairs.collect()))?;
    }
    rows.finish()
}

/// All combinations of level numbers, counted from 0, the first factor changing fastest.
///
/// # Errors
/// More combinations than any design may have, or a factor without levels.
///
/// ```
/// use trainwright_design::full_factorial;
///
/// assert_eq!(full_factorial(&[2, 2])?, [[0, 0], [1, 0], [0, 1], [1, 1]]);
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
pub fn full_factorial(levels: &[usize]) -> Result<Vec<Vec<usize>>, DesignError> {
    if levels.is_empty() || levels.contains(&0) {
        return Err(DesignError::NoFactors);
    }
    Ok((0..combinations(levels)?).map(|number| combination(levels, number)).collect())
}

/// All combinations of this many two-level factors, as [`full_factorial`] lists them.
///
/// # Errors
/// No factors, or more combinations than any design may have.
pub fn two_level_factorial(factors: usize) -> Result<Vec<Vec<usize>>, DesignError> {
    let exponent = u32::try_from(factors).unwrap_or(u32::MAX);
    let combinations = 2u128.saturating_pow(exponent);
    if combinations > MOST_ROWS as u128 {
        return Err(DesignError::TooManyCombinations { combinations, most: MOST_ROWS });
    }
    full_factorial(&vec![2; factors])
}

fn combinations(levels: &[usize]) -> Result<usize, DesignError> {
    // Saturating: a count beyond 2^128 is beyond the limit as well.
    let combinations =
        levels.iter().fold(1u128, |product, &count| product.saturating_mul(count as u128));
    match usize::try_from(combinations) {
        Ok(count) if count <= MOST_ROWS => Ok(count),
        _ => Err(DesignError::TooManyCombinations { combinations, most: MOST_ROWS }),
    }
}

fn combination(levels: &[usize], mut number: usize) -> Vec<usize> {
    let digit = |&count: &usize| {
        let level = number % count;
        number /= count;
        level
    };
    levels.iter().map(digit).collect()
}
