//! Two-level designs of a study: fractions and screening designs, folded over, in blocks and with
//! centre points.

use trainwright_study::{Configuration, DesignKind, Foldover, Level, Study};

use crate::coded_levels::Axis;
use crate::design::{Construction, code};
use crate::error::DesignError;
use crate::kinds::Listed;
use crate::kinds::fractional::{Request, fraction};
use crate::kinds::plackett_burman::{PlackettBurman, partial_aliases};
use crate::kinds::table_rows::check_rows;
use crate::note::DesignNote;
use crate::size::check_centre_points;
use crate::two_level::blocks::Blocks;
use crate::two_level::foldover::Reversal;
use crate::two_level::fraction::{Choice, TwoLevelFraction};
use crate::two_level::generator::read_effect;

/// The fraction or screening design that a study asks for.
pub(crate) fn listed(study: &Study) -> Result<Listed, DesignError> {
    let listed = match &study.design.kind {
        DesignKind::PlackettBurman { runs } => screening(study, *runs)?,
        DesignKind::Fractional { runs, generators, resolution } => {
            let request = Request { runs: *runs, generators, resolution: *resolution };
            fractional(study, &request)?
        }
        other => unreachable!("{other:?} is no fraction"),
    };
    with_additions(study, listed)
}

fn fractional(study: &Study, request: &Request<'_>) -> Result<Listed, DesignError> {
    let levels = two_levels(study, "a fractional design")?;
    let mut fraction = fraction(study, request)?;
    let mut notes = fraction_notes(&fraction);
    if let Some(reversal) = reversal(study)? {
        let before = fraction.resolution();
        fraction = fraction.folded(reversal)?;
        notes.push(DesignNote::Folded { before, after: fraction.resolution() });
    }
    let rows = configurations(study, &levels, fraction.rows());
    check_rows(study, &rows)?;
    Ok(Listed { fraction: Some(fraction), ..Listed::new(Construction::Fractional, rows, notes) })
}

fn screening(study: &Study, runs: Option<u32>) -> Result<Listed, DesignError> {
    let levels = two_levels(study, "a Plackett-Burman design")?;
    let factors = study.factors.len();
    let runs = runs.unwrap_or_else(|| PlackettBurman::fewest_runs(factors));
    let mut signs = PlackettBurman::with_runs(factors, runs)?.rows().to_vec();
    if let Some(reversal) = reversal(study)? {
        let mirrored: Vec<_> = signs.iter().map(|row| reversal.of_row(row)).collect();
        signs.extend(mirrored);
    }
    let rows = configurations(study, &levels, &signs);
    check_rows(study, &rows)?;
    let partial_aliases = partial_aliases(&signs)?;
    Ok(Listed { partial_aliases, ..Listed::new(Construction::PlackettBurman, rows, Vec::new()) })
}

/// A two-level design with the blocks and centre points of the study.
pub(crate) fn with_additions(study: &Study, mut listed: Listed) -> Result<Listed, DesignError> {
    let additions = &study.design.additions;
    check_centre_points(listed.rows.len(), u64::from(additions.centre_points))?;
    if let Some(spec) = &additions.blocks {
        two_levels(study, "a design in blocks")?;
        let signs = code(study, &listed.rows).expect("every row has one of two levels");
        let whole;
        let fraction = match &listed.fraction {
            Some(fraction) => fraction,
            None => {
                let factors = study.factors.len();
                let runs = 1u32.checked_shl(factors as u32).unwrap_or(u32::MAX);
                whole = TwoLevelFraction::with_runs(factors, runs)?;
                &whole
            }
        };
        let blocks = Blocks::of_fraction(fraction, &signs, spec, &names(study))?;
        listed.blocks = Some(blocks.with_further_rows(additions.centre_points));
    }
    if additions.centre_points > 0 {
        two_levels(study, "a design with centre points")?;
        let (centre, notes) = centre(study)?;
        let rows = vec![centre; additions.centre_points as usize];
        check_rows(study, &rows[..1])?;
        listed.rows.extend(rows);
        listed.notes.extend(notes);
        listed.centre_points = additions.centre_points;
    }
    Ok(listed)
}

/// Every factor in the middle of its levels.
fn centre(study: &Study) -> Result<(Configuration, Vec<DesignNote>), DesignError> {
    let mut pairs = Vec::new();
    let mut notes = Vec::new();
    for factor in &study.factors {
        let (level, note) = Axis::of(factor, "a design with centre points")?.centre()?;
        pairs.push((factor.name.clone(), level));
        notes.extend(note);
    }
    Ok((Configuration::new(pairs), notes))
}

fn reversal(study: &Study) -> Result<Option<Reversal>, DesignError> {
    match &study.design.additions.foldover {
        None => Ok(None),
        Some(Foldover::Full) => Ok(Some(Reversal::EveryFactor)),
        Some(Foldover::On(factor)) => {
            let unknown = || DesignError::FoldoverFactor { factor: factor.clone() };
            let word = read_effect(&names(study), factor).map_err(|_| unknown())?;
            match word.length() {
                1 => Ok(Some(Reversal::Factor(word.mask.trailing_zeros() as usize))),
                _ => Err(unknown()),
            }
        }
    }
}

pub(crate) fn names(study: &Study) -> Vec<String> {
    study.factors.iter().map(|factor| factor.name.clone()).collect()
}

/// The two levels of a factor.
struct TwoLevels<'a> {
    low: &'a Level,
    high: &'a Level,
}

impl<'a> TwoLevels<'a> {
    fn at(&self, sign: i8) -> &'a Level {
        if sign < 0 { self.low } else { self.high }
    }
}

fn two_levels<'a>(
    study: &'a Study,
    design: &'static str,
) -> Result<Vec<TwoLevels<'a>>, DesignError> {
    study
        .factors
        .iter()
        .map(|factor| {
            if factor.when.is_some() {
                let factor = factor.name.clone();
                return Err(DesignError::ConditionalFactor { factor, design });
            }
            match factor.low_and_high() {
                Some((low, high)) => Ok(TwoLevels { low, high }),
                None => Err(DesignError::NotTwoLevel {
                    factor: factor.name.clone(),
                    levels: factor.levels.len(),
                }),
            }
        })
        .collect()
}

fn configurations(
    study: &Study,
    levels: &[TwoLevels<'_>],
    signs: &[Vec<i8>],
) -> Vec<Configuration> {
    let configuration = |signs: &Vec<i8>| {
        let levels = levels.iter().zip(signs).map(|(own, &sign)| own.at(sign).clone());
        let names = study.factors.iter().map(|factor| factor.name.clone());
        Configuration::new(names.zip(levels).collect())
    };
    signs.iter().map(configuration).collect()
}

fn fraction_notes(fraction: &TwoLevelFraction) -> Vec<DesignNote> {
    if fraction.resolution().is_none() {
        return vec![DesignNote::WholeFactorial];
    }
    match fraction.choice() {
        Choice::BestFound => vec![DesignNote::NotProvenBest],
        Choice::Given | Choice::MinimumAberration => Vec::new(),
    }
}
