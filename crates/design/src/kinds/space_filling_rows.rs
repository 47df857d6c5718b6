//! Latin hypercubes and Sobol points of a study's factors.
//!
//! A range is filled on its scale. A factor with levels takes each of them equally often, as far
//! as the number of rows allows.

use trainwright_study::{Configuration, Domain, Factor, Level, Spread, Study};

use crate::coded_levels::{Repeats, configurations};
use crate::error::DesignError;
use crate::kinds::latin_hypercube::latin_hypercube;
use crate::kinds::response_surface::RowsAndNotes;
use crate::kinds::sobol::sobol;
use crate::note::DesignNote;
use crate::rows::RowList;

/// Part of the study's randomness; the number never changes, so planned trials stay planned.
const POINTS: u64 = 21;

pub(crate) fn latin_hypercube_rows(
    study: &Study,
    runs: u32,
    spread: Spread,
) -> Result<RowsAndNotes, DesignError> {
    let seed = study.seed.derive(POINTS);
    let points = latin_hypercube(study.factors.len(), runs as usize, seed, spread)?;
    rows(study, "a Latin hypercube", &points)
}

pub(crate) fn sobol_rows(study: &Study, runs: u32) -> Result<RowsAndNotes, DesignError> {
    let points = sobol(study.factors.len(), runs as usize)?;
    let (rows, mut notes) = rows(study, "a Sobol design", &points)?;
    if !runs.is_power_of_two() {
        notes.push(DesignNote::SobolUnbalanced { runs });
    }
    Ok((rows, notes))
}

/// Points of the unit cube as configurations, without those that a constraint forbids.
fn rows(
    study: &Study,
    design: &'static str,
    points: &[Vec<f64>],
) -> Result<RowsAndNotes, DesignError> {
    if let Some(factor) = study.factors.iter().find(|factor| factor.when.is_some()) {
        let factor = factor.name.clone();
        return Err(DesignError::ConditionalFactor { factor, design });
    }
    let ranges = Study {
        factors: study.factors.iter().filter(|own| own.domain == Domain::Range).cloned().collect(),
        ..study.clone()
    };
    let in_range = |point: &Vec<f64>| -> Vec<f64> {
        let own = study.factors.iter().zip(point).filter(|(f, _)| f.domain == Domain::Range);
        own.map(|(_, place)| 2.0 * place - 1.0).collect()
    };
    let coded: Vec<Vec<f64>> = points.iter().map(in_range).collect();
    let (placed, mut notes) = configurations(&ranges, design, &coded, Repeats::Allowed)?;
    let mut list = RowList::new(study);
    for (point, placed) in points.iter().zip(&placed) {
        let pairs = study.factors.iter().zip(point).map(|(factor, &place)| {
            let level = placed.get(&factor.name).cloned();
            (factor.name.clone(), level.unwrap_or_else(|| listed_level(factor, place)))
        });
        list.push(&Configuration::new(pairs.collect()))?;
    }
    let (rows, dropped) = list.finish()?;
    notes.extend(dropped);
    let few = |factor: &&Factor| factor.domain == Domain::Levels && factor.is_numeric();
    notes.extend(
        study
            .factors
            .iter()
            .filter(few)
            .map(|own| DesignNote::LevelsOnly { factor: own.name.clone() }),
    );
    Ok((rows, notes))
}

/// The level whose part of the unit interval holds the place.
fn listed_level(factor: &Factor, place: f64) -> Level {
    let index = (place * factor.levels.len() as f64) as usize;
    factor.levels[index.min(factor.levels.len() - 1)].clone()
}
