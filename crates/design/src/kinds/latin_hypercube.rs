//! Points of which every factor sees each of its strata once.
//!
//! McKay, Beckman and Conover, "A comparison of three methods for selecting values of input
//! variables in the analysis of output from a computer code", Technometrics 21, 1979. How well
//! points fill the cube is measured in `space_filling.rs`.

use trainwright_study::{Seed, Spread};

use crate::error::DesignError;
use crate::size::{check_cells, check_runs};
use crate::two_level::word::LETTERS;

/// Runs up to which a swap is quick to judge.
const MOST_RUNS_TO_SPREAD: usize = 4096;

/// Swaps tried; the gain has levelled off long before for the sizes that people run.
const SWAPS: u64 = 20_000;

/// Parts of the seed; the numbers never change, so a seed gives the same points for ever.
const STRATA: u64 = 1;
const OFFSETS: u64 = 2;
const SWAP_CHOICES: u64 = 3;

/// Points of the unit cube: as many runs as strata, one point in every stratum of every factor.
///
/// # Errors
/// No factors or more than have a letter; no runs or too many.
///
/// ```
/// use trainwright_design::{Spread, latin_hypercube};
/// use trainwright_study::Seed;
///
/// let points = latin_hypercube(2, 8, Seed::new(7), Spread::Maximin)?;
/// let mut strata: Vec<u32> = points.iter().map(|point| (point[0] * 8.0) as u32).collect();
/// strata.sort();
/// assert_eq!(strata, [0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), trainwright_design::DesignError>(())
/// ```
pub fn latin_hypercube(
    factors: usize,
    runs: usize,
    seed: Seed,
    spread: Spread,
) -> Result<Vec<Vec<f64>>, DesignError> {
    check_size(factors, runs, spread)?;
    let mut points = vec![Vec::with_capacity(factors); runs];
    for column in 0..factors as u64 {
        let strata = seed.derive(STRATA).derive(column).shuffled((0..runs).collect());
        let offsets = seed.derive(OFFSETS).derive(column);
        for (stratum, (row, point)) in strata.into_iter().zip((0..).zip(&mut points)) {
            point.push((stratum as f64 + offset(offsets.derive(row))) / runs as f64);
        }
    }
    match spread {
        Spread::Plain => {}
        Spread::Maximin => spread_out(&mut points, seed.derive(SWAP_CHOICES)),
    }
    Ok(points)
}

fn check_size(factors: usize, runs: usize, spread: Spread) -> Result<(), DesignError> {
    let design = "Latin hypercube";
    let most = LETTERS.len();
    if !(1..=most).contains(&factors) {
        return Err(DesignError::FactorsOutOfRange { design, factors, least: 1, most });
    }
    if runs == 0 {
        return Err(DesignError::NoRuns { design });
    }
    check_runs(runs as u64)?;
    check_cells(runs, factors)?;
    if spread == Spread::Maximin && runs > MOST_RUNS_TO_SPREAD {
        return Err(DesignError::TooManyRunsToSpread { runs, most: MOST_RUNS_TO_SPREAD });
    }
    Ok(())
}

/// A place strictly inside a stratum of width 1.
///
/// With 24 bits it stays off the borders by more than rounding can move it, whatever the runs.
fn offset(seed: Seed) -> f64 {
    ((seed.value() >> 40) as f64 + 0.5) / (1u64 << 24) as f64
}

/// A point's nearest other point.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    row: usize,
    squared_distance: f64,
}

/// Makes the smallest distance larger by exchanging single coordinates between two points.
///
/// Each try moves one point of the closest pair and is kept where both changed points are then
/// further from all others than that pair was, so the smallest distance never falls. The search
/// by exchange is that of Morris and Mitchell, "Exploratory designs for computational
/// experiments", Journal of Statistical Planning and Inference 43, 1995, without annealing.
fn spread_out(points: &mut [Vec<f64>], seed: Seed) {
    // With fewer points or factors no exchange changes a distance.
    if points.len() < 3 || points[0].len() < 2 {
        return;
    }
    let mut nearest: Vec<Neighbour> = (0..points.len()).map(|row| neighbour(points, row)).collect();
    for step in 0..SWAPS {
        let (row, closest) = closest_pair(&nearest);
        let choices = seed.derive(step);
        let moved = [row, closest.row][below(choices.derive(0), 2)];
        let column = below(choices.derive(1), points[0].len());
        let partner = (moved + 1 + below(choices.derive(2), points.len() - 1)) % points.len();
        exchange(points, moved, partner, column);
        let changed = [moved, partner].map(|row| (row, neighbour(points, row)));
        let gains = |own: &(usize, Neighbour)| own.1.squared_distance > closest.squared_distance;
        if changed.iter().all(gains) {
            update(&mut nearest, points, changed);
        } else {
            exchange(points, moved, partner, column);
        }
    }
}

fn closest_pair(nearest: &[Neighbour]) -> (usize, Neighbour) {
    let pairs = nearest.iter().copied().enumerate();
    pairs
        .min_by(|a, b| a.1.squared_distance.total_cmp(&b.1.squared_distance))
        .expect("there are at least three points")
}

fn neighbour(points: &[Vec<f64>], row: usize) -> Neighbour {
    let others = (0..points.len()).filter(|&other| other != row);
    others
        .map(|other| Neighbour {
            row: other,
            squared_distance: squared_distance(&points[row], &points[other]),
        })
        .min_by(|a, b| a.squared_distance.total_cmp(&b.squared_distance))
        .expect("there are at least three points")
}

fn update(nearest: &mut [Neighbour], points: &[Vec<f64>], changed: [(usize, Neighbour); 2]) {
    for row in 0..points.len() {
        if changed.iter().any(|&(moved, _)| moved == nearest[row].row) {
            nearest[row] = neighbour(points, row);
            continue;
        }
        for (moved, _) in changed {
            let squared_distance = squared_distance(&points[row], &points[moved]);
            if moved != row && squared_distance < nearest[row].squared_distance {
                nearest[row] = Neighbour { row: moved, squared_distance };
            }
        }
    }
    for (moved, own) in changed {
        nearest[moved] = own;
    }
}

fn exchange(points: &mut [Vec<f64>], first: usize, second: usize, column: usize) {
    let kept = points[first][column];
    points[first][column] = points[second][column];
    points[second][column] = kept;
}

/// A number from 0 to `limit` - 1; the bias is below 2^-32 for any list that fits in memory.
fn below(seed: Seed, limit: usize) -> usize {
    ((u128::from(seed.value()) * limit as u128) >> 64) as usize
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kinds::space_filling::SpaceFilling;
    use crate::size::MOST_ROWS;

    fn strata(points: &[Vec<f64>], column: usize) -> Vec<usize> {
        let runs = points.len() as f64;
        let mut strata: Vec<usize> =
            points.iter().map(|point| (point[column] * runs) as usize).collect();
        strata.sort_unstable();
        strata
    }

    fn smallest(points: &[Vec<f64>]) -> Option<f64> {
        SpaceFilling::of(points).unwrap().minimum_distance
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn every_stratum_holds_one_point(
            factors in 1usize..6, runs in 1usize..60, seed: u64, maximin: bool,
        ) {
            let spread = if maximin { Spread::Maximin } else { Spread::Plain };
            let points = latin_hypercube(factors, runs, Seed::new(seed), spread).unwrap();
            prop_assert_eq!(points.len(), runs);
            for column in 0..factors {
                prop_assert_eq!(strata(&points, column), (0..runs).collect::<Vec<_>>());
            }
        }

        #[test]
        fn swaps_never_bring_points_closer(
            factors in 1usize..6, runs in 1usize..40, seed: u64,
        ) {
            let points = |spread| latin_hypercube(factors, runs, Seed::new(seed), spread).unwrap();
            let (plain, maximin) = (points(Spread::Plain), points(Spread::Maximin));
            prop_assert!(smallest(&maximin) >= smallest(&plain));
        }

        #[test]
        fn remembered_neighbours_stay_true(seed: u64) {
            let points = || latin_hypercube(3, 12, Seed::new(seed), Spread::Plain).unwrap();
            let mut points = points();
            let mut nearest: Vec<_> = (0..12).map(|row| neighbour(&points, row)).collect();
            for step in 0..50 {
                let choices = Seed::new(seed).derive(step);
                let first = below(choices.derive(0), 12);
                let second = (first + 1 + below(choices.derive(1), 11)) % 12;
                exchange(&mut points, first, second, below(choices.derive(2), 3));
                let changed = [first, second].map(|row| (row, neighbour(&points, row)));
                update(&mut nearest, &points, changed);
                for (row, own) in nearest.iter().enumerate() {
                    prop_assert_eq!(own.squared_distance, neighbour(&points, row).squared_distance);
                }
            }
        }
    }

    #[test]
    fn strata_hold_at_the_largest_size() {
        let points = latin_hypercube(1, MOST_ROWS, Seed::new(3), Spread::Plain).unwrap();
        assert!(strata(&points, 0).into_iter().eq(0..MOST_ROWS));
    }

    #[test]
    fn a_seed_decides_everything() {
        let points = |seed| latin_hypercube(3, 10, Seed::new(seed), Spread::Maximin).unwrap();
        assert_eq!(points(1), points(1));
        assert_ne!(points(1), points(2));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let refused = |factors, runs, spread| {
            latin_hypercube(factors, runs, Seed::new(0), spread).unwrap_err()
        };
        assert_eq!(
            refused(0, 8, Spread::Plain).to_string(),
            "a Latin hypercube design has 1 to 25 factors, not 0"
        );
        assert_eq!(refused(2, 0, Spread::Plain), DesignError::NoRuns { design: "Latin hypercube" });
        assert!(matches!(
            refused(2, MOST_ROWS + 1, Spread::Plain),
            DesignError::TooManyRows { .. }
        ));
        assert_eq!(
            refused(2, 5000, Spread::Maximin),
            DesignError::TooManyRunsToSpread { runs: 5000, most: 4096 }
        );
    }
}
