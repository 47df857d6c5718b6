//! Orthogonal arrays: few rows in which every pair of factors runs all its combinations equally
//! often, for factors with different numbers of levels.
//!
//! Arrays of 2^m, 3^m, 5^m and 7^m rows are linear: columns are independent directions of the
//! space of m digits, and two-level columns a, b and a+b join to one of four levels (Addelman,
//! "Orthogonal main-effect plans for asymmetrical factorial experiments", Technometrics 4, 1962).
//! L18 and L36 come from difference matrices modulo 3 (Bose and Bush, "Orthogonal arrays of
//! strength two and three", Annals of Mathematical Statistics 23, 1952). Every array is small
//! enough that the tests check all pairs of its columns.

use serde::Serialize;

use crate::error::DesignError;
use crate::kinds::plackett_burman::PlackettBurman;

/// Numbers of rows on offer, besides that of all combinations.
const SIZES: [u32; 16] = [4, 8, 9, 12, 16, 18, 20, 24, 25, 27, 32, 36, 49, 64, 81, 125];

/// Rows up to which all combinations of levels are an array too.
const MOST_ROWS: usize = 128;

/// Lines tried before a search for disjoint ones is given up.
const ALLOWANCE: u32 = 200_000;

/// A table of level numbers in which any two columns are balanced against each other.
///
/// ```
/// use trainwright_design::OrthogonalArray;
///
/// let array = OrthogonalArray::smallest(&[2, 3, 3, 3])?;
/// assert_eq!((array.name(), array.rows().len()), ("L18", 18));
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrthogonalArray {
    name: String,
    levels: Vec<usize>,
    rows: Vec<Vec<usize>>,
}

impl OrthogonalArray {
    /// The array of fewest rows with a column for each of these numbers of levels.
    ///
    /// # Errors
    /// No factors, a factor of fewer than two levels, or no such array.
    pub fn smallest(levels: &[usize]) -> Result<Self, DesignError> {
        check(levels)?;
        let whole = combinations(levels).filter(|&runs| runs as usize <= MOST_ROWS);
        let mut sizes: Vec<u32> = SIZES.into_iter().chain(whole).collect();
        sizes.sort_unstable();
        sizes
            .into_iter()
            .find_map(|runs| Self::build(levels, runs))
            .ok_or_else(|| DesignError::NoArray { wanted: describe(levels), most: MOST_ROWS })
    }

    /// The array of this many rows with a column for each of these numbers of levels.
    ///
    /// # Errors
    /// As for [`Self::smallest`], or no such array of this size.
    pub fn with_runs(levels: &[usize], runs: u32) -> Result<Self, DesignError> {
        let smallest = Self::smallest(levels)?;
        Self::build(levels, runs).ok_or_else(|| DesignError::NoArrayOfSize {
            wanted: describe(levels),
            runs,
            enough: smallest.rows.len(),
        })
    }

    fn build(levels: &[usize], runs: u32) -> Option<Self> {
        let rows = match runs {
            4 | 8 | 16 | 32 | 64 => binary(levels, runs.ilog2()),
            9 | 27 | 81 => modular(levels, 3, runs),
            25 | 125 => modular(levels, 5, runs),
            49 => modular(levels, 7, runs),
            12 | 20 | 24 => screening(levels, runs),
            18 => from_differences(levels, &SIX, &[vec![6], vec![2, 3]]),
            36 => from_differences(levels, &TWELVE, &[vec![12], vec![2; 11]]),

            _ => None,
        };
        if let Some(rows) = rows {
            return Some(Self { name: format!("L{runs}"), levels: levels.to_vec(), rows });
        }
        (combinations(levels) == Some(runs)).then(|| Self {
            name: "of all combinations".to_owned(),
            levels: levels.to_vec(),
            rows: whole(levels),
        })
    }

    /// Name of the array, such as `L18`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of levels of each column.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// Rows of level numbers, from 0.
    pub fn rows(&self) -> &[Vec<usize>] {
        &self.rows
    }
}

fn check(levels: &[usize]) -> Result<(), DesignError> {
    match levels.iter().position(|&own| own < 2) {
        _ if levels.is_empty() => Err(DesignError::NoFactors),
        Some(place) => {
            let (factor, levels) = ((place + 1).to_string(), levels[place]);
            Err(DesignError::NotTwoLevel { factor, levels })
        }
        None => Ok(()),
    }
}

fn combinations(levels: &[usize]) -> Option<u32> {
    levels.iter().try_fold(1u32, |all, &own| all.checked_mul(u32::try_from(own).ok()?))
}

/// Such as `2 factors of 2 levels and 1 of 3`.
fn describe(levels: &[usize]) -> String {
    let mut counts: Vec<usize> = levels.to_vec();
    counts.sort_unstable();
    let parts: Vec<String> = counts
        .chunk_by(|a, b| a == b)
        .map(|same| format!("{} of {} levels", same.len(), same[0]))
        .collect();
    format!("factors: {}", parts.join(", "))
}

fn whole(levels: &[usize]) -> Vec<Vec<usize>> {
    levels.iter().fold(vec![Vec::new()], |rows, &count| {
        (0..count)
            .flat_map(|level| rows.iter().map(move |row| [row.as_slice(), &[level]].concat()))
            .collect()
    })
}

/// Deals columns to factors: each takes the next one of its number of levels.
fn deal(levels: &[usize], columns: &[(usize, Vec<usize>)]) -> Option<Vec<Vec<usize>>> {
    let mut free: Vec<Option<&(usize, Vec<usize>)>> = columns.iter().map(Some).collect();
    let mut dealt: Vec<&Vec<usize>> = Vec::new();
    for &count in levels {
        let fits = |own: &&mut Option<&(usize, Vec<usize>)>| own.is_some_and(|own| own.0 == count);
        dealt.push(&free.iter_mut().find(fits)?.take()?.1);
    }
    let runs = columns.first()?.1.len();
    Some((0..runs).map(|run| dealt.iter().map(|column| column[run]).collect()).collect())
}

/// Two and four levels in 2^digits rows.
fn binary(levels: &[usize], digits: u32) -> Option<Vec<Vec<usize>>> {
    if levels.iter().any(|own| ![2, 4].contains(own)) {
        return None;
    }
    let four = levels.iter().filter(|&&own| own == 4).count();
    let points = 1usize << digits;
    if 3 * four + (levels.len() - four) > points - 1 {
        return None;
    }
    let mut allowance = ALLOWANCE;
    let lines = disjoint_lines(four, points, &mut vec![false; points], &mut allowance)?;
    let digit = |run: usize, direction: usize| ((run & direction).count_ones() % 2) as usize;
    let column = |of: &dyn Fn(usize) -> usize| (0..points).map(of).collect::<Vec<usize>>();
    let mut columns: Vec<(usize, Vec<usize>)> =
        lines.iter().map(|&(a, b)| (4, column(&|run| 2 * digit(run, a) + digit(run, b)))).collect();
    let used = |own: usize| lines.iter().any(|&(a, b)| [a, b, a ^ b].contains(&own));
    // Single digits first, as in standard order, then products.
    let mut single: Vec<usize> = (1..points).filter(|&own| !used(own)).collect();
    single.sort_by_key(|own| own.count_ones());
    columns.extend(single.into_iter().map(|own| (2, column(&|run| digit(run, own)))));
    deal(levels, &columns)
}

/// Pairs a, b whose triples a, b, a+b have no point in common.
fn disjoint_lines(
    wanted: usize,
    points: usize,
    used: &mut Vec<bool>,
    allowance: &mut u32,
) -> Option<Vec<(usize, usize)>> {
    if wanted == 0 {
        return Some(Vec::new());
    }
    let first: Vec<usize> = (1..points).filter(|&own| !used[own]).collect();
    for &a in &first {
        for &b in first.iter().filter(|&&b| b > a && a ^ b > b) {
            if used[a ^ b] {
                continue;
            }
            *allowance = allowance.checked_sub(1)?;
            let line = [a, b, a ^ b];
            line.iter().for_each(|&own| used[own] = true);
            if let Some(mut lines) = disjoint_lines(wanted - 1, points, used, allowance) {
                lines.insert(0, (a, b));
                return Some(lines);
            }
            line.iter().for_each(|&own| used[own] = false);
        }
    }
    None
}

/// A prime number of levels in a power of it.
fn modular(levels: &[usize], prime: usize, runs: u32) -> Option<Vec<Vec<usize>>> {
    if levels.iter().any(|&own| own != prime) {
        return None;
    }
    let (prime, runs) = (prime as u32, runs);
    let digits = (0..).find(|&digits| prime.pow(digits) >= runs)?;
    let digit = |number: u32, place: u32| number / prime.pow(place) % prime;
    // One direction of each line through the origin: its last digit that is not 0 is 1.
    let leads = |own: u32| (0..digits).rev().map(|p| digit(own, p)).find(|&d| d > 0) == Some(1);
    let mut directions: Vec<u32> = (1..runs).filter(|&own| leads(own)).collect();
    directions.sort_by_key(|&own| (0..digits).filter(|&p| digit(own, p) > 0).count());
    let value = |run: u32, direction: u32| {
        let sum: u32 = (0..digits).map(|p| digit(run, p) * digit(direction, p)).sum();
        (sum % prime) as usize
    };
    let columns: Vec<(usize, Vec<usize>)> = directions
        .iter()
        .map(|&own| (prime as usize, (0..runs).map(|run| value(run, own)).collect()))
        .collect();
    deal(levels, &columns)
}

/// Two levels in a multiple of four rows.
fn screening(levels: &[usize], runs: u32) -> Option<Vec<Vec<usize>>> {
    if levels.iter().any(|&own| own != 2) {
        return None;
    }
    let signs = PlackettBurman::with_runs(levels.len(), runs).ok()?;
    let level = |sign: &i8| usize::from(*sign > 0);
    Some(signs.rows().iter().map(|row| row.iter().map(level).collect()).collect())
}

/// A difference matrix modulo 3: between any two columns every difference is equally frequent.
type Differences = &'static [&'static [usize]];

/// 6 x 6, found by trying columns one after the other.
const SIX: [&[usize]; 6] = [
    &[0, 0, 0, 0, 0, 0],
    &[0, 0, 1, 1, 2, 2],
    &[0, 1, 0, 2, 1, 2],
    &[0, 1, 2, 0, 2, 1],
    &[0, 2, 1, 2, 0, 1],
    &[0, 2, 2, 1, 1, 0],
];

/// 12 x 12, found by a search for balanced rows that agree in pairs.
const TWELVE: [&[usize]; 12] = [
    &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    &[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
    &[0, 0, 1, 2, 1, 0, 2, 2, 1, 1, 0, 2],
    &[0, 0, 1, 2, 2, 2, 0, 1, 2, 0, 1, 1],
    &[0, 2, 1, 1, 0, 1, 0, 2, 2, 1, 2, 0],
    &[0, 2, 1, 1, 2, 0, 1, 0, 0, 2, 1, 2],
    &[0, 2, 2, 0, 1, 2, 2, 1, 0, 1, 1, 0],
    &[0, 2, 2, 0, 2, 1, 1, 2, 1, 0, 0, 1],
    &[0, 1, 2, 1, 0, 0, 2, 1, 2, 2, 0, 1],
    &[0, 1, 2, 1, 1, 2, 0, 0, 1, 0, 2, 2],
    &[0, 1, 0, 2, 2, 1, 2, 0, 0, 1, 2, 1],
    &[0, 1, 0, 2, 0, 2, 1, 2, 1, 2, 1, 0],
];

/// Every row of the matrix with 0, 1 and 2 added, and the number of the row as further columns:
/// as one column, or as the columns of an array of its own.
fn from_differences(
    levels: &[usize],
    matrix: Differences,
    splits: &[Vec<usize>],
) -> Option<Vec<Vec<usize>>> {
    let shifted = |place: usize| -> Vec<usize> {
        let row = |own: &&[usize]| (0..3).map(|shift| (own[place] + shift) % 3).collect::<Vec<_>>();
        matrix.iter().flat_map(row).collect()
    };
    let threes: Vec<(usize, Vec<usize>)> =
        (0..matrix.len()).map(|place| (3, shifted(place))).collect();
    splits.iter().find_map(|split| {
        let numbers = numbers(split, matrix.len())?;
        let further = (0..split.len()).map(|place| {
            let column = numbers.iter().flat_map(|row| [row[place]; 3]).collect();
            (split[place], column)
        });
        deal(levels, &threes.iter().cloned().chain(further).collect::<Vec<_>>())
    })
}

/// The numbers of the rows of a difference matrix, as rows of an array.
fn numbers(split: &[usize], rows: usize) -> Option<Vec<Vec<usize>>> {
    if *split == [rows] {
        return Some((0..rows).map(|number| vec![number]).collect());
    }
    match rows {
        12 => screening(split, 12),
        _ => Some(whole(split)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every pair of columns holds all its combinations equally often.
    #[track_caller]
    fn check_orthogonal(array: &OrthogonalArray) {
        let rows = array.rows();
        for a in 0..array.levels().len() {
            for b in 0..a {
                let (wide, high) = (array.levels()[a], array.levels()[b]);
                let mut counts = vec![0; wide * high];
                rows.iter().for_each(|row| counts[row[a] * high + row[b]] += 1);
                let expected = rows.len() / (wide * high);
                assert_eq!(counts, vec![expected; wide * high], "{} {a} {b}", array.name());
            }
        }
    }

    #[track_caller]
    fn check_array(levels: &[usize], name: &str) {
        let array = OrthogonalArray::smallest(levels).unwrap();
        assert_eq!(array.name(), name, "{levels:?}");
        assert_eq!(array.levels(), levels);
        check_orthogonal(&array);
    }

    #[test]
    fn the_fullest_arrays_are_orthogonal() {
        check_array(&[2; 3], "L4");
        check_array(&[2; 7], "L8");
        check_array(&[4, 2, 2, 2, 2], "L8");
        check_array(&[3; 4], "L9");
        check_array(&[2; 11], "L12");
        check_array(&[4; 5], "L16");
        check_array(&[4, 4, 4, 2, 2, 2, 2, 2, 2], "L16");
        check_array(&[2, 3, 3, 3, 3, 3, 3, 3], "L18");
        check_array(&[6, 3, 3, 3, 3, 3, 3], "L18");
        check_array(&[5; 6], "L25");
        check_array(&[3; 13], "L27");
        check_array(&[4, 4, 4, 4, 4, 4, 4, 2], "L32");
        check_array(&[[2; 11].as_slice(), &[3; 12]].concat(), "L36");
        check_array(&[7; 8], "L49");
        check_array(&[2; 31], "L32");
        check_array(&[5, 2], "of all combinations");
    }

    #[test]
    fn what_has_no_array_is_told() {
        let fault = OrthogonalArray::smallest(&[11, 13]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "no orthogonal array of at most 128 runs has columns for factors: 1 of 11 levels, 1 of \
             13 levels"
        );
        let fault = OrthogonalArray::with_runs(&[2, 3, 3], 9).unwrap_err();
        assert_eq!(fault.help().unwrap(), "use 18 runs");
        assert!(OrthogonalArray::smallest(&[2, 1]).is_err());
        assert!(OrthogonalArray::smallest(&[]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_array_is_orthogonal(
            two in 0usize..9, three in 0usize..6, four in 0usize..5, five in 0usize..2,
        ) {
            let levels =
                [vec![2; two], vec![3; three], vec![4; four], vec![5; five]].concat();
            if let Ok(array) = OrthogonalArray::smallest(&levels) {
                check_orthogonal(&array);
                prop_assert_eq!(array.levels(), levels);
            }
        }
    }
}
