//! One factor at a time leaves a baseline.

use trainwright_study::{Configuration, Level, Study};

use crate::condition::{active, violated};
use crate::error::DesignError;
use crate::note::DesignNote;
use crate::rows::RowList;
use crate::size::check_cells;

/// The baseline, then every other level of each factor in turn.
pub(crate) fn one_factor(
    study: &Study,
    baseline: &Configuration,
) -> Result<(Vec<Configuration>, Vec<DesignNote>), DesignError> {
    let start = baseline_levels(study, baseline)?;
    check_baseline(study, &combination(study, &start))?;
    let others: usize = study.factors.iter().map(|factor| factor.levels.len() - 1).sum();
    check_cells(1 + others, study.factors.len())?;
    let mut rows = RowList::new(study);
    rows.push(&combination(study, &start))?;
    for (index, factor) in study.factors.iter().enumerate() {
        for level in factor.levels.iter().filter(|level| !level.same_as(start[index])) {
            let mut levels = start.clone();
            levels[index] = level;
            rows.push(&combination(study, &levels))?;
        }
    }
    rows.finish()
}

fn baseline_levels<'a>(
    study: &'a Study,
    baseline: &Configuration,
) -> Result<Vec<&'a Level>, DesignError> {
    study
        .factors
        .iter()
        .map(|factor| match baseline.get(&factor.name) {
            None => Ok(&factor.levels[0]),
            Some(level) => factor.level(level).ok_or_else(|| DesignError::UnknownBaselineLevel {
                factor: factor.name.clone(),
                level: level.clone(),
            }),
        })
        .collect()
}

/// All other rows are compared with the baseline, so it must not be dropped.
fn check_baseline(study: &Study, combination: &Configuration) -> Result<(), DesignError> {
    let configuration = active(study, combination)?;
    match violated(study, &configuration)? {
        None => Ok(()),
        Some(index) => {
            let constraint = study.constraints[index].source().to_owned();
            Err(DesignError::BaselineViolates { configuration, constraint })
        }
    }
}

fn combination(study: &Study, levels: &[&Level]) -> Configuration {
    let names = study.factors.iter().map(|factor| factor.name.clone());
    Configuration::new(names.zip(levels.iter().map(|&level| level.clone())).collect())
}
