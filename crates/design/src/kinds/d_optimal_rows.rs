//! D-optimal designs of a study's factors, and further rows for a finished design.

use trainwright_study::{Configuration, DesignKind, Domain, Factor, Level, Seed, Study};

use crate::coded_levels::Axis;
use crate::design::Construction;
use crate::error::DesignError;
use crate::kinds::Listed;
use crate::kinds::d_optimal::{Exchange, Optimality, d_optimal};
use crate::kinds::full::full_factorial;
use crate::model_terms::read_terms;
use crate::note::DesignNote;
use crate::rows::RowList;
use crate::size::check_runs;
use crate::two_level::effect_columns::{Coding, Effect};

/// Part of the study's randomness; the number never changes, so planned trials stay planned.
const STARTS: u64 = 22;

/// Candidates up to which the exchange is quick.
pub const MOST_CANDIDATES: usize = 100_000;

/// Numbers in the model rows of all candidates.
const MOST_NUMBERS: usize = 50_000_000;

/// What a D-optimal design is to serve.
pub(crate) struct Wanted<'a> {
    pub(crate) runs: u32,
    pub(crate) model: Option<&'a str>,
    pub(crate) candidates: &'a [Configuration],
    pub(crate) starts: u32,
}

/// The D-optimal design that a study asks for.
pub(crate) fn listed(study: &Study, wanted: &Wanted<'_>) -> Result<Listed, DesignError> {
    let model = wanted.model.unwrap_or(&study.analysis.terms);
    check_candidates(study, wanted.candidates)?;
    let effects = read_terms(study, model)?;
    let (candidates, notes) = candidates(study, &effects, wanted.candidates)?;
    let chosen = choose(study, &effects, &candidates, &[], wanted)?;
    let rows = chosen.0.iter().map(|&row| candidates[row].clone()).collect();
    let optimality = DesignNote::Optimal { model: model.to_owned(), optimality: chosen.1 };
    let notes = std::iter::once(optimality).chain(notes).collect();
    Ok(Listed::new(Construction::DOptimal, rows, notes))
}

/// Further rows for those that are there, chosen D-optimally from the candidates of a study whose
/// design is D-optimal; its runs are the rows to add.
///
/// # Errors
/// Another kind of design; as for the design itself.
pub fn augment(
    study: &Study,
    existing: &[Configuration],
) -> Result<(Vec<Configuration>, Optimality), DesignError> {
    let DesignKind::DOptimal { runs, model, candidates: given, starts } = &study.design.kind else {
        return Err(DesignError::NotDOptimal);
    };
    let model = model.as_deref().unwrap_or(&study.analysis.terms);
    check_candidates(study, given)?;
    let effects = read_terms(study, model)?;
    let (candidates, _) = candidates(study, &effects, given)?;
    let wanted = Wanted { runs: *runs, model: Some(model), candidates: given, starts: *starts };
    let (rows, optimality) = choose(study, &effects, &candidates, existing, &wanted)?;
    Ok((rows.iter().map(|&row| candidates[row].clone()).collect(), optimality))
}

/// Fails on more combinations of levels than rows are chosen from, before any is made.
fn check_candidates(study: &Study, given: &[Configuration]) -> Result<(), DesignError> {
    let counts = study.factors.iter().map(|factor| factor.levels.len() as u128);
    let combinations = counts.fold(1, u128::saturating_mul);
    if given.is_empty() && combinations > MOST_CANDIDATES as u128 {
        return Err(DesignError::TooManyCandidates { combinations, most: MOST_CANDIDATES });
    }
    Ok(())
}

fn choose(
    study: &Study,
    effects: &[Effect],
    candidates: &[Configuration],
    fixed: &[Configuration],
    wanted: &Wanted<'_>,
) -> Result<(Vec<usize>, Optimality), DesignError> {
    check_runs(u64::from(wanted.runs))?;
    let coding = Coding::new(study);
    let columns = effects.iter().map(|effect| coding.columns(effect));
    let coefficients = columns.fold(1, usize::saturating_add);
    let cells = candidates.len() as u128 * coefficients as u128;
    if cells > MOST_NUMBERS as u128 {
        let (candidates, most) = (candidates.len(), MOST_NUMBERS);
        return Err(DesignError::ModelTooLarge { candidates, coefficients, cells, most });
    }
    let rows = |own: &[Configuration]| -> Vec<Vec<f64>> {
        own.iter().map(|row| coding.model_row(effects, row)).collect()
    };
    let seed: Seed = study.seed.derive(STARTS);
    let chosen = d_optimal(&Exchange {
        candidates: &rows(candidates),
        fixed: &rows(fixed),
        runs: wanted.runs as usize,
        starts: wanted.starts,
        seed,
    })?;
    Ok((chosen.rows, chosen.optimality))
}

/// The rows to choose from: those given, or all combinations, without forbidden ones.
fn candidates(
    study: &Study,
    effects: &[Effect],
    given: &[Configuration],
) -> Result<(Vec<Configuration>, Vec<DesignNote>), DesignError> {
    if let Some(factor) = study.factors.iter().find(|factor| factor.when.is_some()) {
        let (factor, design) = (factor.name.clone(), "a D-optimal design");
        return Err(DesignError::ConditionalFactor { factor, design });
    }
    let mut list = RowList::new(study);
    if given.is_empty() {
        let levels = study
            .factors
            .iter()
            .enumerate()
            .map(|(index, factor)| candidate_levels(factor, curved(effects, index)))
            .collect::<Result<Vec<_>, _>>()?;
        let counts: Vec<usize> = levels.iter().map(Vec::len).collect();
        let combinations = counts.iter().fold(1u128, |all, &own| all.saturating_mul(own as u128));
        if combinations > MOST_CANDIDATES as u128 {
            return Err(DesignError::TooManyCandidates { combinations, most: MOST_CANDIDATES });
        }
        for row in full_factorial(&counts)? {
            let names = study.factors.iter().map(|factor| factor.name.clone());
            let own = row.iter().zip(&levels).map(|(&place, levels)| levels[place].clone());
            list.push(&Configuration::new(names.zip(own).collect()))?;
        }
    } else {
        for row in given {
            list.push(row)?;
        }
    }
    list.finish()
}

/// Whether the equation is curved in a factor.
fn curved(effects: &[Effect], factor: usize) -> bool {
    effects.iter().flatten().any(|&(index, power)| index == factor && power > 1)
}

/// The levels, or the ends of a range, with its middle where the equation is curved.
fn candidate_levels(factor: &Factor, curved: bool) -> Result<Vec<Level>, DesignError> {
    let mut levels = factor.levels.clone();
    if factor.domain == Domain::Range && curved {
        let (middle, _) = Axis::of(factor, "a D-optimal design")?.centre()?;
        levels.insert(1, middle);
    }
    Ok(levels)
}
