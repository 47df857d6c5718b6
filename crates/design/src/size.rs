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
