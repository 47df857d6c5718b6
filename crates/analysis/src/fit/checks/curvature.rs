//! Do the centre points of a two-level design lie where its equation expects them?
//!
//! The sum of squares of an indicator of the centre points, entered after all terms, is that of
//! all pure quadratic effects together; it is compared with the pure error of repeated runs
//! (Montgomery, Design and Analysis of Experiments, 8th edition, section 6.8).

use trainwright_stats::{Columns, FisherF, Orthogonal, sample};

use crate::fit::analysis::Check;
use crate::fit::checks::unchecked;
use crate::model::model_matrix::{Coding, Contrasts, ModelMatrix, Scheme};
use crate::model::problem::Problem;
use crate::wording::{brief, p_value};

/// Name of the check.
const NAME: &str = "curvature";

/// The check, where some but not all observations are `centre` points.
pub(crate) fn curvature(problem: &Problem, centre: &[bool]) -> Option<Check> {
    if !centre.contains(&true) || !centre.contains(&false) {
        return None;
    }
    if !problem.groupings.is_empty() {
        return Some(unchecked(
            NAME,
            "runs of a whole plot share an error, so there is no one noise",
        ));
    }
    let (squares, df) = pure_error(problem);
    if df == 0 || squares == 0.0 {
        let why = "no repeated runs that differ, so there is no pure error to compare with";
        return Some(unchecked(NAME, why));
    }
    let Some((gap, sum_sq)) = quadratic(problem, centre) else {
        return Some(unchecked(NAME, "the equation has terms that bend, so it meets the centre"));
    };
    let f = sum_sq / (squares / df as f64);
    let p = FisherF::new(1.0, df as f64).ok()?.upper_tail(f);
    let holds = p >= problem.check_level();
    let verdict = if holds {
        format!(
            "{} of curvature: none that the centre points lie off the equation of the two levels",
            problem.no_evidence(p)
        )
    } else {
        format!(
            "{} is evidence of curvature: the centre points lie {} {} where the equation of the two \
             levels expects {}, so some effect is no straight line between its levels; runs on the \
             axes (a central composite design) tell which",
            p_value(p),
            brief(gap.abs()),
            if gap > 0.0 { "above" } else { "below" },
            problem.response
        )
    };
    Some(Check { name: NAME, statistic: Some(f), p: Some(p), holds: Some(holds), verdict })
}

/// Squares of repeated runs about their means, and their degrees of freedom.
fn pure_error(problem: &Problem) -> (f64, usize) {
    let cells = problem.cell_values();
    let repeated = cells.iter().filter(|values| values.len() > 1);
    // Squares of a cell of tiny values may vanish beside those of the others, as they should.
    repeated.filter_map(|values| Some((values, sample::mean(values).ok()?))).fold(
        (0.0, 0),
        |(squares, df), (values, mean)| {
            let own: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (squares + own, df + values.len() - 1)
        },
    )
}

/// How far the centre points lie above the equation, and the sum of squares of that gap.
fn quadratic(problem: &Problem, centre: &[bool]) -> Option<(f64, f64)> {
    let scheme = Scheme { coding: Coding::Coded, contrasts: Contrasts::Sum };
    let matrix =
        ModelMatrix::new(&problem.variables, problem.equation(), scheme, problem.y.len()).ok()?;
    let mut columns: Vec<Vec<f64>> = matrix.columns.iter().map(<[f64]>::to_vec).collect();
    let last = columns.len();
    columns.push(centre.iter().map(|&own| f64::from(u8::from(own))).collect());
    let decomposition = Orthogonal::new(&Columns::new(columns).ok()?);
    if decomposition.kept().last() != Some(&last) {
        return None;
    }
    let effects = decomposition.rotate(&problem.y);
    let gap = *decomposition.solve(&effects).last()?;
    Some((gap, effects[decomposition.rank() - 1].powi(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{problem, table};

    /// The yields of Montgomery's example 6.7: four corners, then five runs at the centre.
    const YIELDS: [[f64; 3]; 9] = [
        [-1.0, -1.0, 39.3],
        [1.0, -1.0, 40.9],
        [-1.0, 1.0, 40.0],
        [1.0, 1.0, 41.5],
        [0.0, 0.0, 40.3],
        [0.0, 0.0, 40.5],
        [0.0, 0.0, 40.7],
        [0.0, 0.0, 40.2],
        [0.0, 0.0, 40.6],
    ];

    /// The same with so much more at the centre.
    fn with_centre_raised(by: f64, formula: &str) -> Problem {
        let raised =
            |row: &[f64; 3]| [row[0], row[1], row[2] + if row[0] == 0.0 { by } else { 0.0 }];
        let rows: Vec<[f64; 3]> = YIELDS.iter().map(raised).collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 3]>::as_slice).collect();
        problem(&table("a,b,y", &rows), formula)
    }

    fn centre() -> Vec<bool> {
        YIELDS.iter().map(|row| row[0] == 0.0).collect()
    }

    #[test]
    fn the_published_example_is_straight() {
        let own = with_centre_raised(0.0, "y ~ a * b");
        // Sum of squares 4 * 5 * (40.425 - 40.46)^2 / 9 = 0.00272 against 0.172 / 4.
        let (gap, sum_sq) = quadratic(&own, &centre()).unwrap();
        assert!(
            (gap - 0.035).abs() < 1e-9 && (sum_sq - 20.0 * 0.035f64.powi(2) / 9.0).abs() < 1e-12
        );
        let (squares, df) = pure_error(&own);
        assert!((squares - 0.172).abs() < 1e-9 && df == 4);
        let check = curvature(&own, &centre()).unwrap();
        assert!((check.statistic.unwrap() - 0.063_307_49).abs() < 1e-6, "{check:?}");
        assert_eq!(check.holds, Some(true));
        assert!(check.verdict.contains("gives no evidence of curvature"), "{}", check.verdict);
    }

    #[test]
    fn a_centre_off_the_equation_is_told_with_its_side() {
        for (by, side) in [(5.004, "5.04 above"), (-5.004, "4.97 below")] {
            let check = curvature(&with_centre_raised(by, "y ~ a * b"), &centre()).unwrap();
            assert_eq!(check.holds, Some(false));
            let words = format!("the centre points lie {side} where the equation");
            assert!(check.verdict.contains(&words), "{}", check.verdict);
        }
    }

    #[test]
    fn curvature_cannot_be_checked_without_repeats_or_with_terms_that_bend() {
        let bent = with_centre_raised(0.0, "y ~ a * b + I(a^2)");
        let check = curvature(&bent, &centre()).unwrap();
        assert_eq!(check.holds, None);
        assert!(check.verdict.contains("terms that bend"), "{}", check.verdict);
        let rows: Vec<&[f64]> = YIELDS[..5].iter().map(<[f64; 3]>::as_slice).collect();
        let once = problem(&table("a,b,y", &rows), "y ~ a + b");
        let check = curvature(&once, &centre()[..5]).unwrap();
        assert!(check.verdict.contains("no repeated runs that differ"), "{}", check.verdict);
        let own = with_centre_raised(0.0, "y ~ a * b");
        assert!(curvature(&own, &[false; 9]).is_none(), "there are no centre points");
        assert!(curvature(&own, &[true; 9]).is_none(), "there is nothing else");
    }
}
