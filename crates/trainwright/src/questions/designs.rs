//! The verb `design`: the rows of a design by themselves, without a study.

use std::path::PathBuf;

use serde::Serialize;
pub use trainwright_design::{Alpha, CentrePoints, Spread, Star};
use trainwright_design::{
    Blocks, BoxBehnken, CentralComposite, DesignError, MOST_CANDIDATES, OrthogonalArray,
    PlackettBurman, Reversal, SpaceFilling, TwoLevelFraction, full_factorial, latin_hypercube,
    sobol, two_level_factorial,
};
use trainwright_study::{BlockSpec, Level, Seed};

use crate::Error;
use crate::questions::optimal_rows::{OptimalRequest, OptimalRows, augmented_rows, optimal_rows};

/// Which design is asked for.
#[derive(Debug, Clone)]
pub enum DesignRequest {
    /// Every combination of two levels, written as signs.
    TwoLevelFull {
        /// Number of factors.
        factors: usize,
    },
    /// Every combination, levels numbered from 0.
    Full {
        /// Number of levels of each factor.
        levels: Vec<usize>,
    },
    /// A fraction of the two-level combinations, perhaps in blocks.
    Fraction {
        /// The fraction.
        fraction: FractionRequest,
        /// How it is divided.
        blocks: Option<BlockSpec>,
    },
    /// A fraction and itself with signs reversed.
    Foldover {
        /// The fraction.
        fraction: FractionRequest,
        /// The factor whose signs are reversed; all of them where `None`.
        on: Option<char>,
    },
    /// Main effects of many two-level factors in few runs.
    PlackettBurman {
        /// Number of factors.
        factors: usize,
        /// Number of rows.
        runs: u32,
    },
    /// A cube with points on its axes.
    CentralComposite {
        /// Number of factors.
        factors: usize,
        /// Where the axial points lie.
        star: Star,
        /// Rows in the middle.
        centre: CentrePoints,
    },
    /// Three levels without the corners of the cube.
    BoxBehnken {
        /// Number of factors.
        factors: usize,
        /// Rows in the middle; as published where `None`.
        centre: Option<usize>,
    },
    /// Points between 0 and 1, one in every stratum of every factor.
    LatinHypercube {
        /// Number of factors.
        factors: usize,
        /// Number of points.
        runs: u32,
        /// Decides the points.
        seed: u64,
        /// Whether the closest points are moved apart.
        spread: Spread,
    },
    /// Points between 0 and 1 of the Sobol sequence.
    Sobol {
        /// Number of factors.
        factors: usize,
        /// Number of points.
        runs: u32,
    },
    /// An orthogonal array for factors with different numbers of levels.
    OrthogonalArray {
        /// Number of levels of each factor.
        levels: Vec<usize>,
        /// Number of rows; the fewest where `None`.
        runs: Option<u32>,
    },
    /// The rows that fix the coefficients of a model best.
    DOptimal {
        /// Number of levels of each factor.
        levels: Vec<usize>,
        /// What rows are chosen for.
        request: OptimalRequest,
    },
    /// Further rows for a table, chosen as for a D-optimal design.
    Augment {
        /// CSV file with the rows that are there.
        data: PathBuf,
        /// Columns of it that are factors; all where there are none.
        columns: Vec<String>,
        /// What rows are chosen for.
        request: OptimalRequest,
    },
}

/// A regular fraction of the two-level combinations.
#[derive(Debug, Clone)]
pub struct FractionRequest {
    /// Number of factors.
    pub factors: usize,
    /// How it is found.
    pub by: FractionBy,
}

/// How a fraction is found.
#[derive(Debug, Clone)]
pub enum FractionBy {
    /// The best one of so many rows.
    Runs(u32),
    /// Every combination.
    Whole,
    /// By words such as `F=ABCDE`.
    Generators(Vec<String>),
}

/// The rows of a design and what is known about them.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the fields are the contract of `design --json`")]
pub enum DesignReply {
    Levels {
        factors: Vec<String>,
        rows: Vec<Vec<i64>>,
    },
    Fraction {
        #[serde(flatten)]
        fraction: TwoLevelFraction,
        #[serde(skip_serializing_if = "Option::is_none")]
        blocks: Option<Blocks>,
    },
    Screening(PlackettBurman),
    CentralComposite(CentralComposite),
    BoxBehnken(BoxBehnken),
    Points {
        factors: Vec<String>,
        rows: Vec<Vec<f64>>,
        space_filling: Option<SpaceFilling>,
    },
    Array {
        factors: Vec<String>,
        array: String,
        levels: Vec<usize>,
        rows: Vec<Vec<usize>>,
    },
    Chosen(OptimalRows),
}

/// Points up to which the measures are quick to compute; the time grows with the square.
const MOST_MEASURED: usize = 4096;

/// Makes a design.
///
/// # Errors
/// There is no such design, or a table of rows does not read.
pub fn design(request: &DesignRequest) -> Result<DesignReply, Error> {
    let refused = |error: DesignError| refused(&error);
    Ok(match request {
        DesignRequest::TwoLevelFull { factors } => two_level_full(*factors)?,
        DesignRequest::Full { levels } => full(levels)?,
        DesignRequest::Fraction { fraction, blocks } => in_blocks(fraction, blocks.as_ref())?,
        DesignRequest::Foldover { fraction, on } => folded(fraction, *on)?,
        DesignRequest::PlackettBurman { factors, runs } => {
            DesignReply::Screening(PlackettBurman::with_runs(*factors, *runs).map_err(refused)?)
        }
        DesignRequest::CentralComposite { factors, star, centre } => DesignReply::CentralComposite(
            CentralComposite::new(*factors, *star, *centre).map_err(refused)?,
        ),
        DesignRequest::BoxBehnken { factors, centre } => {
            // A number of factors without a published design is refused below.
            let published = || BoxBehnken::published_centre(*factors).unwrap_or_default();
            let centre = centre.unwrap_or_else(published);
            DesignReply::BoxBehnken(BoxBehnken::new(*factors, centre).map_err(refused)?)
        }
        DesignRequest::LatinHypercube { factors, runs, seed, spread } => points(
            latin_hypercube(*factors, *runs as usize, Seed::new(*seed), *spread)
                .map_err(refused)?,
        )?,
        DesignRequest::Sobol { factors, runs } => {
            points(sobol(*factors, *runs as usize).map_err(refused)?)?
        }
        DesignRequest::OrthogonalArray { levels, runs } => array(levels, *runs)?,
        DesignRequest::DOptimal { levels, request } => {
            check_candidates(levels)?;
            let names = letters(levels.len()).into_iter();
            let factors: Vec<_> = names.zip(levels.iter().map(|&own| evenly(own))).collect();
            DesignReply::Chosen(optimal_rows(&factors, request)?)
        }
        DesignRequest::Augment { data, columns, request } => {
            DesignReply::Chosen(augmented_rows(data, columns, request)?)
        }
    })
}

fn refused(error: &DesignError) -> Error {
    let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
    Error::Request(format!("cannot build design: {error}{help}"))
}

fn two_level_full(factors: usize) -> Result<DesignReply, Error> {
    let rows = two_level_factorial(factors).map_err(|error| refused(&error))?;
    let sign = |level: &usize| 2 * *level as i64 - 1;
    let rows = rows.iter().map(|row| row.iter().map(sign).collect()).collect();
    Ok(DesignReply::Levels { factors: letters(factors), rows })
}

fn full(levels: &[usize]) -> Result<DesignReply, Error> {
    if levels.contains(&0) {
        return Err(Error::Request("every factor needs at least one level".into()));
    }
    let rows = full_factorial(levels).map_err(|error| refused(&error))?;
    let rows = rows.iter().map(|row| row.iter().map(|&level| level as i64).collect()).collect();
    Ok(DesignReply::Levels { factors: letters(levels.len()), rows })
}

fn fraction(request: &FractionRequest) -> Result<TwoLevelFraction, Error> {
    let factors = request.factors;
    let fraction = match &request.by {
        FractionBy::Runs(runs) => TwoLevelFraction::with_runs(factors, *runs),
        FractionBy::Whole => {
            let shift = u32::try_from(factors).unwrap_or(u32::MAX);
            TwoLevelFraction::with_runs(factors, 1u32.checked_shl(shift).unwrap_or(u32::MAX))
        }
        FractionBy::Generators(words) => TwoLevelFraction::from_generators(factors, words),
    };
    fraction.map_err(|error| refused(&error))
}

fn in_blocks(request: &FractionRequest, spec: Option<&BlockSpec>) -> Result<DesignReply, Error> {
    let fraction = fraction(request)?;
    let names = letters(fraction.factors().len());
    let blocks = spec
        .map(|spec| Blocks::of_fraction(&fraction, fraction.rows(), spec, &names))
        .transpose()
        .map_err(|error| refused(&error))?;
    Ok(DesignReply::Fraction { fraction, blocks })
}

fn folded(request: &FractionRequest, on: Option<char>) -> Result<DesignReply, Error> {
    let fraction = fraction(request)?;
    let reversal = match on {
        None => Reversal::EveryFactor,
        Some(letter) => {
            let place = fraction.factors().iter().position(|own| *own == letter);
            let unknown = || DesignError::FoldoverFactor { factor: letter.to_string() };
            Reversal::Factor(place.ok_or_else(unknown).map_err(|error| refused(&error))?)
        }
    };
    let fraction = fraction.folded(reversal).map_err(|error| refused(&error))?;
    Ok(DesignReply::Fraction { fraction, blocks: None })
}

fn points(rows: Vec<Vec<f64>>) -> Result<DesignReply, Error> {
    let measured = (rows.len() <= MOST_MEASURED)
        .then(|| SpaceFilling::of(&rows))
        .transpose()
        .map_err(|error| refused(&error))?;
    let factors = letters(rows.first().map_or(0, Vec::len));
    Ok(DesignReply::Points { factors, rows, space_filling: measured })
}

/// Refuses more combinations than rows are chosen from, before any level is made.
fn check_candidates(levels: &[usize]) -> Result<(), Error> {
    let most = MOST_CANDIDATES;
    let combinations =
        levels.iter().fold(1u128, |product, &count| product.saturating_mul(count as u128));
    if combinations > most as u128 {
        return Err(refused(&DesignError::TooManyCandidates { combinations, most }));
    }
    Ok(())
}

fn array(levels: &[usize], runs: Option<u32>) -> Result<DesignReply, Error> {
    let array = match runs {
        Some(runs) => OrthogonalArray::with_runs(levels, runs),
        None => OrthogonalArray::smallest(levels),
    };
    let array = array.map_err(|error| refused(&error))?;
    Ok(DesignReply::Array {
        factors: letters(levels.len()),
        array: array.name().to_owned(),
        levels: array.levels().to_vec(),
        rows: array.rows().to_vec(),
    })
}

/// Numbers from -1 to 1.
fn evenly(count: usize) -> Vec<Level> {
    let place = |own: usize| 2.0 * own as f64 / (count.max(2) - 1) as f64 - 1.0;
    (0..count).map(|own| Level::parse(&place(own).to_string())).collect()
}

/// A, B, C and so on without I, which stands for the identity.
pub(crate) fn letters(count: usize) -> Vec<String> {
    let single = ('A'..='Z').filter(|letter| *letter != 'I').map(String::from);
    single.chain((1..).map(|number| format!("X{number}"))).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_are_signs_and_more_are_numbers_from_0() {
        let rows = |request| match design(&request).unwrap() {
            DesignReply::Levels { rows, .. } => rows,
            other => panic!("{other:?}"),
        };
        assert_eq!(rows(DesignRequest::TwoLevelFull { factors: 1 }), [[-1], [1]]);
        assert_eq!(rows(DesignRequest::Full { levels: vec![3] }), [[0], [1], [2]]);
    }

    #[test]
    fn letters_leave_out_the_identity_and_never_end() {
        let names = letters(27);
        assert_eq!((names[8].as_str(), names[24].as_str()), ("J", "Z"));
        assert_eq!(&names[25..], ["X1", "X2"]);
    }

    #[test]
    fn a_refused_design_says_what_to_do() {
        let request = DesignRequest::PlackettBurman { factors: 11, runs: 13 };
        let error = design(&request).unwrap_err();
        assert!(error.to_string().starts_with("cannot build design: "), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
