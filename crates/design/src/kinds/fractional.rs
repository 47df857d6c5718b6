//! The regular two-level fraction that a study asks for.

use trainwright_study::Study;

use crate::error::DesignError;
use crate::size::MOST_ROWS;
use crate::two_level::fraction::TwoLevelFraction;

/// What the study asks of the fraction.
pub(crate) struct Request<'a> {
    pub(crate) runs: Option<u32>,
    pub(crate) generators: &'a [String],
    pub(crate) resolution: Option<u32>,
}

/// The fraction of a study's factors, with the resolution that is asked for.
pub(crate) fn fraction(
    study: &Study,
    request: &Request<'_>,
) -> Result<TwoLevelFraction, DesignError> {
    let fraction = build(study, request)?;
    check_resolution(&fraction, request)?;
    Ok(fraction)
}

fn build(study: &Study, request: &Request<'_>) -> Result<TwoLevelFraction, DesignError> {
    if request.generators.is_empty() {
        let runs = request.runs.ok_or(DesignError::SizeMissing)?;
        return TwoLevelFraction::with_runs(study.factors.len(), runs);
    }
    let names: Vec<_> = study.factors.iter().map(|factor| factor.name.clone()).collect();
    let fraction = TwoLevelFraction::from_named_generators(&names, request.generators)?;
    let given = fraction.rows().len() as u64;
    match request.runs {
        Some(runs) if u64::from(runs) != given => Err(DesignError::RunsDisagree { runs, given }),
        _ => Ok(fraction),
    }
}

fn check_resolution(fraction: &TwoLevelFraction, request: &Request<'_>) -> Result<(), DesignError> {
    let (Some(asked), Some(reached)) = (request.resolution, fraction.resolution()) else {
        return Ok(());
    };
    if reached >= asked {
        return Ok(());
    }
    let runs = fraction.rows().len() as u64;
    let needed = runs_for(fraction.factors().len(), runs, asked);
    Err(DesignError::ResolutionNotReached { asked, reached, runs, needed })
}

/// The smallest number of runs from `runs` on whose best fraction has this resolution.
fn runs_for(factors: usize, runs: u64, resolution: u32) -> Option<u64> {
    (runs.ilog2() as usize..=factors).map(|base| 1 << base).find(|&runs: &u64| {
        let fraction = u32::try_from(runs)
            .ok()
            .filter(|&runs| runs as usize <= MOST_ROWS)
            .and_then(|runs| TwoLevelFraction::with_runs(factors, runs).ok());
        fraction.is_some_and(|own| own.resolution().is_none_or(|reached| reached >= resolution))
    })
}
