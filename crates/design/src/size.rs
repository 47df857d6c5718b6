//! How large a design may be: estimated before anything is allocated, and refused with the limit.

use crate::error::DesignError;

/// Rows, and trials, that a design may have.
pub const MOST_ROWS: usize = 1_000_000;

/// Cells, rows times factors, that a design may have.
const MOST_CELLS: usize = 50_000_000;

/// Fails on more centre points than the other rows leave room for.
pub(crate) fn check_centre_points(rows: usize, centre: u64) -> Result<(), DesignError> {
    match (rows as u64).saturating_add(centre) {
        all if all <= MOST_ROWS as u64 => Ok(()),
        _ => Err(DesignError::TooManyCentrePoints { centre, rows, most: MOST_ROWS }),
    }
}

/// Fails on more rows than a design may have.
pub(crate) fn check_runs(runs: u64) -> Result<(), DesignError> {
    match runs {
        runs if runs <= MOST_ROWS as u64 => Ok(()),
        runs => Err(DesignError::TooManyRows { runs, most: MOST_ROWS }),
    }
}

/// Fails on more cells than a design may have.
pub(crate) fn check_cells(rows: usize, factors: usize) -> Result<(), DesignError> {
    match rows as u128 * factors as u128 {
        cells if cells <= MOST_CELLS as u128 => Ok(()),
        cells => Err(DesignError::TooManyCells { rows, factors, cells, most: MOST_CELLS }),
    }
}

/// Fails on more trials than a study may have.
pub(crate) fn check_trials(rows: usize, replications: u32) -> Result<(), DesignError> {
    match rows as u64 * u64::from(replications) {
        trials if trials <= MOST_ROWS as u64 => Ok(()),
        trials => Err(DesignError::TooManyTrials { rows, replications, trials, most: MOST_ROWS }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed_and_one_more_is_not() {
        assert_eq!(check_runs(1_000_000), Ok(()));
        assert_eq!(
            check_runs(1_000_001),
            Err(DesignError::TooManyRows { runs: 1_000_001, most: MOST_ROWS })
        );
        assert_eq!(check_centre_points(MOST_ROWS - 3, 3), Ok(()));
        assert!(check_centre_points(MOST_ROWS - 3, 4).is_err());
        assert_eq!(check_cells(1_000_000, 50), Ok(()));
        assert!(check_cells(1_000_000, 51).is_err());
        assert_eq!(check_trials(250_000, 4), Ok(()));
        assert!(check_trials(250_000, 5).is_err());
    }

    #[test]
    fn sizes_beyond_all_counting_are_refused_without_overflow() {
        assert!(check_centre_points(1, u64::MAX).is_err());
        assert!(check_runs(u64::MAX).is_err());
        assert!(check_cells(usize::MAX, usize::MAX).is_err());
        assert!(check_trials(MOST_ROWS, u32::MAX).is_err());
    }
}
