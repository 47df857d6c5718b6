//! Screening, response surface and space-filling designs against `tests/data/designs.json`.

use serde_json::Value;
use trainwright_design::{
    Alpha, BoxBehnken, CentralComposite, CentrePoints, PlackettBurman, SpaceFilling, Spread, Star,
    latin_hypercube, two_factor_aliases,
};
use trainwright_study::Seed;

use crate::reference::{size, vectors};

fn cases(kind: &str) -> Vec<Value> {
    vectors("designs.json")[kind].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn signs(value: &Value) -> Vec<Vec<i8>> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Two lists hold the same rows, in whatever order, to the last digits.
#[track_caller]
fn check_same_rows(ours: &[Vec<f64>], theirs: &[Vec<f64>]) {
    assert_eq!(ours.len(), theirs.len());
    let mut left: Vec<_> = theirs.iter().collect();
    for row in ours {
        let same = |other: &&Vec<f64>| row.iter().zip(*other).all(|(a, b)| (a - b).abs() < 1e-14);
        let place = left.iter().position(same).unwrap_or_else(|| panic!("{row:?} is not there"));
        left.swap_remove(place);
    }
}

#[test]
fn plackett_burman_sizes_are_those_of_the_reference() {
    for expected in cases("plackett_burman") {
        let (runs, factors) = (size(&expected, "runs"), size(&expected, "factors"));
        let design = PlackettBurman::with_runs(factors, u32::try_from(runs).unwrap()).unwrap();
        assert_eq!((design.rows().len(), design.factors().len()), (runs, factors));
        // Signs and order are free, so that the shares agree in size alone.
        let sizes = |rows: &[Vec<i8>]| {
            let mut shares: Vec<f64> =
                two_factor_aliases(rows).unwrap().concat().into_iter().map(f64::abs).collect();
            shares.sort_by(f64::total_cmp);
            shares
        };
        assert_eq!(sizes(design.rows()), sizes(&signs(&expected["design"])), "{runs} runs");
    }
}

#[test]
fn partial_aliases_are_those_of_the_reference() {
    let designs = cases("plackett_burman");
    for expected in cases("plackett_burman_alias") {
        let design = designs.iter().find(|design| design["runs"] == expected["runs"]).unwrap();
        let rows = signs(&design["design"]);
        let columns = rows[0].len();
        let pairs: Vec<(usize, usize)> = (0..columns)
            .flat_map(|first| (first + 1..columns).map(move |second| (first, second)))
            .collect();
        let matrix = two_factor_aliases(&rows).unwrap();
        let wanted: Vec<(usize, usize)> =
            serde_json::from_value(expected["two_factor_columns"].clone()).unwrap();
        let reference = numbers(&expected["alias_matrix"]);
        assert_eq!(matrix.len(), reference.len());
        for (ours, theirs) in matrix.iter().zip(reference) {
            for (pair, share) in wanted.iter().zip(theirs) {
                let column = pairs.iter().position(|own| own == pair).unwrap();
                // The reference is printed to twelve decimals.
                assert!((ours[column] - share).abs() < 1e-11, "{pair:?}");
            }
        }
    }
}

#[test]
fn central_composite_rows_are_those_of_the_reference() {
    let designs = cases("central_composite");
    assert_eq!(designs.len(), 5);
    for expected in designs {
        let alpha = match expected["alpha_kind"].as_str().unwrap() {
            "rotatable" => Alpha::Rotatable,
            _ => Alpha::Orthogonal,
        };
        let star = match expected["face"].as_str().unwrap() {
            "ccc" => Star::Circumscribed(alpha),
            "cci" => Star::Inscribed(alpha),
            _ => Star::FaceCentred,
        };
        let [cube, centre]: [usize; 2] =
            serde_json::from_value(expected["center"].clone()).unwrap();
        let centre = CentrePoints { cube, star: centre };
        let design = CentralComposite::new(size(&expected, "factors"), star, centre).unwrap();
        check_same_rows(design.rows(), &numbers(&expected["design"]));
        if let Some(alpha) = expected["alpha"].as_f64() {
            assert!((design.alpha() - alpha).abs() < 1e-14);
        }
    }
}

#[test]
fn box_behnken_rows_are_those_of_the_reference() {
    for expected in cases("box_behnken") {
        let design =
            BoxBehnken::new(size(&expected, "factors"), size(&expected, "center")).unwrap();
        let mut ours = design.rows().to_vec();
        let mut theirs = signs(&expected["design"]);
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs);
    }
}

#[test]
fn space_filling_measures_are_those_of_the_reference() {
    for expected in cases("latin_hypercube") {
        let measured = SpaceFilling::of(&numbers(&expected["sample"])).unwrap();
        let pairs = [
            (measured.minimum_distance.unwrap(), "min_distance"),
            (measured.largest_correlation.unwrap(), "max_abs_corr"),
            (measured.centred_discrepancy, "discrepancy_CD"),
            (measured.wrap_around_discrepancy, "discrepancy_WD"),
            (measured.star_discrepancy, "discrepancy_L2star"),
        ];
        for (ours, key) in pairs {
            let theirs = expected[key].as_f64().unwrap();
            assert!((ours - theirs).abs() < 1e-10 * theirs, "{key}: {ours} and {theirs}");
        }
    }
}

#[test]
fn maximin_beats_the_sample_of_the_reference() {
    let expected = &cases("latin_hypercube")[1];
    assert_eq!(expected["criterion"], "maximin");
    let theirs = expected["min_distance"].as_f64().unwrap();
    for seed in 0..5 {
        let (factors, runs) = (size(expected, "d"), size(expected, "n"));
        let points = latin_hypercube(factors, runs, Seed::new(seed), Spread::Maximin).unwrap();
        let ours = SpaceFilling::of(&points).unwrap().minimum_distance.unwrap();
        assert!(ours > theirs, "seed {seed}: {ours} against {theirs}");
    }
}
