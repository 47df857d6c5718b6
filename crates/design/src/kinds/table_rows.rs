//! The rows the user lists.

use std::collections::HashMap;

use trainwright_study::{Configuration, Study};

use crate::condition::{active, violated};
use crate::error::DesignError;
use crate::note::DesignNote;
use crate::size::MOST_ROWS;

/// The rows without absent factors, and a note for each that repeats another.
pub(crate) fn table(
    study: &Study,
    listed: &[Configuration],
) -> Result<(Vec<Configuration>, Vec<DesignNote>), DesignError> {
    match listed.len() {
        0 => return Err(DesignError::EmptyTable),
        rows if rows > MOST_ROWS => {
            return Err(DesignError::TableTooLong { rows, most: MOST_ROWS });
        }
        _ => {}
    }
    let rows: Vec<_> = listed.iter().map(|row| active(study, row)).collect::<Result<_, _>>()?;
    check_rows(study, &rows)?;
    let mut first = HashMap::new();
    let mut notes = Vec::new();
    for (index, configuration) in rows.iter().enumerate() {
        let row = index + 1;
        let of = *first.entry(configuration.identity()).or_insert(row);
        if of != row {
            notes.push(DesignNote::Repeated { row, of });
        }
    }
    Ok((rows, notes))
}

/// Fails on the first row that a constraint forbids.
pub(crate) fn check_rows(study: &Study, rows: &[Configuration]) -> Result<(), DesignError> {
    for (index, configuration) in rows.iter().enumerate() {
        if let Some(broken) = violated(study, configuration)? {
            return Err(DesignError::RowViolates {
                row: index + 1,
                configuration: configuration.clone(),
                constraint: study.constraints[broken].source().to_owned(),
                index: broken,
            });
        }
    }
    Ok(())
}
