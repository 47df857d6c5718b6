use proptest::prelude::*;

use super::*;

/// Model rows of a constant, main effects and, if asked for, pairs and squares.
fn model(points: &[Vec<f64>], pairs: bool, squares: bool) -> Vec<Vec<f64>> {
    let row = |point: &Vec<f64>| {
        let mut row = vec![1.0];
        row.extend(point);
        for a in 0..point.len() {
            row.extend((a + 1..point.len()).filter(|_| pairs).map(|b| point[a] * point[b]));
            row.extend(squares.then_some(point[a] * point[a]));
        }
        row
    };
    points.iter().map(row).collect()
}

/// The D-efficiency of model rows, in percent; nothing where they leave a coefficient open.
fn d_efficiency(rows: &[Vec<f64>]) -> Option<f64> {
    let all: Vec<usize> = (0..rows.len()).collect();
    let (runs, starts, seed) = (rows.len(), 1, Seed::new(0));
    let exchange = Exchange { candidates: rows, fixed: &[], runs, starts, seed };
    let log = log_determinant(&exchange, &all)?;
    Some(efficiency(log, rows[0].len(), rows.len()))
}

fn grid(levels: &[f64], factors: usize) -> Vec<Vec<f64>> {
    (0..factors).fold(vec![Vec::new()], |points, _| {
        let longer = |point: &Vec<f64>| -> Vec<Vec<f64>> {
            levels.iter().map(|level| [point.as_slice(), &[*level]].concat()).collect()
        };
        points.iter().flat_map(longer).collect()
    })
}

fn search(candidates: &[Vec<f64>], runs: usize) -> Chosen {
    let (starts, seed) = (10, Seed::new(1));
    d_optimal(&Exchange { candidates, fixed: &[], runs, starts, seed }).unwrap()
}

/// The slow obvious version: every choice of rows, with repeats.
fn best_of_all(candidates: &[Vec<f64>], runs: usize) -> f64 {
    fn choose(
        from: usize,
        left: usize,
        chosen: &mut Vec<usize>,
        visit: &mut impl FnMut(&[usize]),
        of: usize,
    ) {
        if left == 0 {
            return visit(chosen);
        }
        for next in from..of {
            chosen.push(next);
            choose(next, left - 1, chosen, visit, of);
            chosen.pop();
        }
    }
    let mut best = f64::MIN;
    let mut visit = |rows: &[usize]| {
        let chosen: Vec<Vec<f64>> = rows.iter().map(|&row| candidates[row].clone()).collect();
        best = best.max(d_efficiency(&chosen).unwrap_or(0.0));
    };
    choose(0, runs, &mut Vec::new(), &mut visit, candidates.len());
    best
}

#[test]
fn small_designs_are_the_best_of_all() {
    let cases = [
        (model(&grid(&[-1.0, 0.0, 1.0], 2), false, false), 5),
        (model(&grid(&[-1.0, 1.0], 3), true, false), 7),
        (model(&grid(&[-1.0, 0.0, 1.0], 2), true, true), 6),
        (model(&grid(&[-1.0, 0.0, 1.0], 2), true, true), 7),
        (model(&grid(&[-1.0, 1.0], 4), false, false), 5),
    ];
    for (candidates, runs) in cases {
        let found = search(&candidates, runs).optimality.d_efficiency;
        let best = best_of_all(&candidates, runs);
        assert!((found - best).abs() < 1e-6 * best, "{found} against {best} in {runs} runs");
    }
}

#[test]
fn a_whole_factorial_is_recovered() {
    let candidates = model(&grid(&[-1.0, 0.0, 1.0], 3), true, false);
    let chosen = search(&candidates, 8);
    assert!((chosen.optimality.d_efficiency - 100.0).abs() < 1e-9);
    let corners: Vec<usize> =
        (0..27).filter(|&row| candidates[row][1..4].iter().all(|x| x.abs() == 1.0)).collect();
    assert_eq!(chosen.rows, corners);
}

/// In 11 runs of 11 two-level factors no choice is orthogonal, in 12 the Plackett-Burman design
/// is; the search comes to it from a random start.
#[test]
fn twelve_runs_of_eleven_factors_are_orthogonal() {
    let candidates = model(&grid(&[-1.0, 1.0], 11), false, false);
    assert!((search(&candidates, 12).optimality.d_efficiency - 100.0).abs() < 1e-9);
}

/// Box and Draper, "Factorial designs, the |X'X| criterion, and some related matters",
/// Technometrics 13, 1971: the determinant of the best six-point second-order design in two
/// factors over the square is 5.74e-3 when divided by 6^6; on the three-level grid it is 2^8/6^6.
#[test]
fn the_saturated_quadratic_has_the_known_determinant() {
    let candidates = model(&grid(&[-1.0, 0.0, 1.0], 2), true, true);
    let efficiency = search(&candidates, 6).optimality.d_efficiency / 100.0;
    let determinant = (efficiency * 6.0).powi(6);
    assert!((determinant - 256.0).abs() < 1e-6, "{determinant}");
}

#[test]
fn fixed_rows_stay_and_are_completed() {
    let all = model(&grid(&[-1.0, 1.0], 3), true, false);
    let fixed: Vec<Vec<f64>> =
        all.iter().filter(|row| row[1] * row[2] * row[3] > 0.0).cloned().collect();
    let (starts, seed) = (5, Seed::new(3));
    let request = Exchange { candidates: &all, fixed: &fixed, runs: 8 - fixed.len(), starts, seed };
    let chosen = d_optimal(&request).unwrap();
    assert!((chosen.optimality.d_efficiency - 100.0).abs() < 1e-9, "{chosen:?}");
    assert!(chosen.rows.iter().all(|&row| all[row][1] * all[row][2] * all[row][3] < 0.0));
}

#[test]
fn what_cannot_be_fixed_is_told() {
    let candidates = model(&grid(&[-1.0, 1.0], 2), false, true);
    let request = |runs| Exchange {
        candidates: &candidates,
        fixed: &[],
        runs,
        starts: 2,
        seed: Seed::new(1),
    };
    let fault = d_optimal(&request(8)).unwrap_err();
    assert_eq!(fault, DesignError::CandidatesTooPoor { coefficients: 5 });
    let fault = d_optimal(&request(4)).unwrap_err();
    assert_eq!(fault, DesignError::TooFewRunsForModel { runs: 4, coefficients: 5 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_search_beats_random_choices(factors in 2usize..5, extra in 0usize..6, seed: u64) {
        let candidates = model(&grid(&[-1.0, 0.0, 1.0], factors), true, true);
        let runs = candidates[0].len() + extra;
        let exchange = Exchange { candidates: &candidates, fixed: &[], runs, starts: 3, seed: Seed::new(seed) };
        let best = d_optimal(&exchange).unwrap().optimality.d_efficiency;
        for other in 0..50u64 {
            let pick = |place: u64| Seed::new(seed).derive(77).derive(other).derive(place).value();
            let rows: Vec<Vec<f64>> = (0..runs as u64)
                .map(|place| candidates[(pick(place) % candidates.len() as u64) as usize].clone())
                .collect();
            prop_assert!(d_efficiency(&rows).unwrap_or(0.0) <= best + 1e-9);
        }
    }
}
