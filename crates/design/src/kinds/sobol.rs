//! The Sobol sequence: points that fill the cube more evenly than chance, whatever their number.
//!
//! Points come in the order of the Gray code (Antonov and Saleev, 1979) and are not scrambled, so
//! the first is the origin. Leaving it out would break the balance of the first 2^m points (Owen,
//! "On dropping the first Sobol' point", 2020).

use crate::error::DesignError;
use crate::size::{check_cells, check_runs};

/// Bits of a coordinate.
const BITS: usize = 32;

/// Polynomial and first direction numbers of every dimension after the first.
///
/// From Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM
/// Journal on Scientific Computing 30, 2008, and their table `new-joe-kuo-6.21201`, dimensions 2
/// to 25. The degree of the polynomial is the count of numbers; its inner coefficients are the
/// bits of the first entry.
const DIRECTIONS: [(u32, &[u32]); 24] = [
    (0, &[1]),
    (1, &[1, 3]),
    (1, &[1, 3, 1]),
    (2, &[1, 1, 1]),
    (1, &[1, 1, 3, 3]),
    (4, &[1, 3, 5, 13]),
    (2, &[1, 1, 5, 5, 17]),
    (4, &[1, 1, 5, 5, 5]),
    (7, &[1, 1, 7, 11, 19]),
    (11, &[1, 1, 5, 1, 1]),
    (13, &[1, 1, 1, 3, 11]),
    (14, &[1, 3, 5, 5, 31]),
    (1, &[1, 3, 3, 9, 7, 49]),
    (13, &[1, 1, 1, 15, 21, 21]),
    (16, &[1, 3, 1, 13, 27, 49]),
    (19, &[1, 1, 1, 15, 7, 5]),
    (22, &[1, 3, 1, 15, 13, 25]),
    (25, &[1, 1, 5, 5, 19, 61]),
    (1, &[1, 3, 7, 11, 23, 15, 103]),
    (4, &[1, 3, 7, 13, 13, 15, 69]),
    (7, &[1, 1, 3, 13, 7, 35, 63]),
    (8, &[1, 3, 5, 9, 1, 25, 53]),
    (14, &[1, 3, 1, 13, 9, 35, 107]),
    (19, &[1, 3, 1, 5, 27, 61, 31]),
];

/// The first points of the Sobol sequence, of 1 to 25 factors between 0 and 1.
///
/// A power of two is the best number of runs: only then every factor's values are evenly spread.
///
/// # Errors
/// No factors or more than 25; no runs or too many.
///
/// ```
/// use trainwright_design::sobol;
///
/// assert_eq!(sobol(2, 4)?, [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]);
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
pub fn sobol(factors: usize, runs: usize) -> Result<Vec<Vec<f64>>, DesignError> {
    let design = "Sobol";
    let most = DIRECTIONS.len() + 1;
    if !(1..=most).contains(&factors) {
        return Err(DesignError::FactorsOutOfRange { design, factors, least: 1, most });
    }
    if runs == 0 {
        return Err(DesignError::NoRuns { design });
    }
    check_runs(runs as u64)?;
    check_cells(runs, factors)?;
    let directions: Vec<_> = (0..factors).map(directions).collect();
    let mut state = vec![0u32; factors];
    let mut points = Vec::with_capacity(runs);
    for run in 0..runs {
        points.push(state.iter().map(|&bits| f64::from(bits) / 2f64.powi(BITS as i32)).collect());
        let changed_bit = (!run).trailing_zeros() as usize;
        for (bits, own) in state.iter_mut().zip(&directions) {
            *bits ^= own[changed_bit];
        }
    }
    Ok(points)
}

/// Direction numbers of a dimension counted from 0, as binary fractions from the highest bit on.
///
/// The recurrence is that of Joe and Kuo, "Notes on generating Sobol sequences", 2008.
fn directions(dimension: usize) -> [u32; BITS] {
    let mut numbers = std::array::from_fn(|place| 1 << (BITS - 1 - place));
    let Some((coefficients, first)) = dimension.checked_sub(1).map(|row| DIRECTIONS[row]) else {
        return numbers;
    };
    let degree = first.len();
    for place in 0..BITS {
        numbers[place] = match first.get(place) {
            Some(&number) => number << (BITS - 1 - place),
            None => {
                let oldest = numbers[place - degree];
                (1..degree)
                    .filter(|&back| coefficients >> (degree - 1 - back) & 1 == 1)
                    .fold(oldest ^ (oldest >> degree), |sum, back| sum ^ numbers[place - back])
            }
        };
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::MOST_ROWS;

    /// Numbers of points in the boxes of sides 2^-cuts.
    fn counts(points: &[Vec<f64>], cuts: &[u32]) -> Vec<usize> {
        let mut counts = vec![0; 1 << cuts.iter().sum::<u32>()];
        for point in points {
            let cell = point
                .iter()
                .zip(cuts)
                .fold(0, |cell, (x, &cut)| (cell << cut) + (x * f64::from(1u32 << cut)) as usize);
            counts[cell] += 1;
        }
        counts
    }

    /// All ways to share `sum` cuts among dimensions.
    fn shares(sum: u32, dimensions: usize) -> Vec<Vec<u32>> {
        if dimensions == 1 {
            return vec![vec![sum]];
        }
        let with_first = |first: u32| {
            let rest = shares(sum - first, dimensions - 1).into_iter();
            rest.map(move |rest| [vec![first], rest].concat())
        };
        (0..=sum).flat_map(with_first).collect()
    }

    /// The first 2^m points put 2^t into every box of volume 2^(t-m); t is the sum of the
    /// polynomials' degrees less one each (Niederreiter, "Random Number Generation and
    /// Quasi-Monte Carlo Methods", 1992, section 4.5).
    #[test]
    fn every_elementary_box_holds_its_share() {
        for (dimensions, t) in [(1, 0), (2, 0), (3, 1), (4, 3), (5, 5)] {
            for m in t..=8 {
                let points = sobol(dimensions, 1 << m).unwrap();
                for cuts in shares(m - t, dimensions) {
                    let expected = 1 << t;
                    let even = counts(&points, &cuts).into_iter().all(|count| count == expected);
                    assert!(even, "2^{m} points, cuts {cuts:?}");
                }
            }
        }
    }

    #[test]
    fn every_dimension_alone_is_evenly_spread() {
        let points = sobol(25, 1024).unwrap();
        for dimension in 0..25 {
            let column: Vec<_> = points.iter().map(|point| vec![point[dimension]]).collect();
            assert!(counts(&column, &[10]).iter().all(|&count| count == 1), "{dimension}");
        }
    }

    /// The polynomial of every dimension must be primitive: the powers of x modulo it run through
    /// all 2^degree - 1 remainders before they come back to 1.
    #[test]
    fn polynomials_are_primitive_and_numbers_odd_and_small() {
        for (coefficients, first) in DIRECTIONS {
            let degree = first.len() as u32;
            let polynomial = 1 << degree | coefficients << 1 | 1;
            let times_x = |power: u32| {
                let next = power << 1;
                if next >> degree == 1 { next ^ polynomial } else { next }
            };
            let order = 1 + std::iter::successors(Some(times_x(1)), |&power| Some(times_x(power)))
                .take_while(|&power| power != 1)
                .count();
            assert_eq!(order, (1usize << degree) - 1, "{polynomial:b}");
            for (place, &number) in first.iter().enumerate() {
                assert!(number % 2 == 1 && number < 2 << place, "{first:?}");
            }
        }
    }

    /// Points 5 and 119 of Joe and Kuo's own generator with their table.
    #[test]
    fn points_are_those_of_joe_and_kuo() {
        let points = sobol(25, 119).unwrap();
        let fifth = [3, 3, 5, 7, 3, 1, 3, 7, 7, 5, 7, 3, 3, 5, 3, 7, 3, 7, 7, 1, 1, 1, 3, 7, 7];
        assert_eq!(points[4], fifth.map(|eighths| f64::from(eighths) / 8.0));
        let last = [
            0.6953125, 0.4765625, 0.9921875, 0.3203125, 0.4140625, 0.5234375, 0.8046875, 0.3828125,
            0.1015625, 0.3515625, 0.6796875, 0.0234375, 0.5703125, 0.1953125, 0.7890625, 0.2109375,
            0.6484375, 0.3984375, 0.8671875, 0.1171875, 0.2265625, 0.3046875, 0.8515625, 0.6484375,
            0.8046875,
        ];
        assert_eq!(points[118], last);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert_eq!(
            sobol(26, 8).unwrap_err().to_string(),
            "a Sobol design has 1 to 25 factors, not 26"
        );
        assert!(sobol(0, 8).is_err());
        assert_eq!(sobol(2, 0).unwrap_err(), DesignError::NoRuns { design: "Sobol" });
        assert!(matches!(sobol(2, MOST_ROWS + 1), Err(DesignError::TooManyRows { .. })));
    }
}
