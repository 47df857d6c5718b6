//! Rows of an orthogonal array for a study whose factors have different numbers of levels.

use trainwright_study::{Configuration, Study};

use crate::error::DesignError;
use crate::kinds::orthogonal_array::OrthogonalArray;
use crate::kinds::response_surface::RowsAndNotes;
use crate::note::DesignNote;
use crate::rows::RowList;

/// The rows of the smallest array with a column for every factor, or of that many runs.
pub(crate) fn mixed(study: &Study, runs: Option<u32>) -> Result<RowsAndNotes, DesignError> {
    if let Some(factor) = study.factors.iter().find(|factor| factor.when.is_some()) {
        let (factor, design) = (factor.name.clone(), "an orthogonal array");
        return Err(DesignError::ConditionalFactor { factor, design });
    }
    let levels: Vec<usize> = study.factors.iter().map(|factor| factor.levels.len()).collect();
    let array = match runs {
        Some(runs) => OrthogonalArray::with_runs(&levels, runs)?,
        None => OrthogonalArray::smallest(&levels)?,
    };
    let mut list = RowList::new(study);
    for row in array.rows() {
        let chosen = study.factors.iter().zip(row);
        let pairs =
            chosen.map(|(factor, &level)| (factor.name.clone(), factor.levels[level].clone()));
        list.push(&Configuration::new(pairs.collect()))?;
    }
    let (rows, mut notes) = list.finish()?;
    notes.insert(0, DesignNote::Array { array: array.name().to_owned() });
    Ok((rows, notes))
}
