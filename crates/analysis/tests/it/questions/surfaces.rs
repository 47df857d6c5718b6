//! Quadratic surfaces: against numpy and scipy, and of known quadratics.

use std::fmt::Write;

use proptest::prelude::*;
use trainwright_analysis::{Surface, SurfaceKind, SurfaceOptions, Table, surface_of_table};
use trainwright_study::Direction;

use crate::support::{close, json, table, texts};

fn options(column: &str, factors: &[&str], direction: Direction) -> SurfaceOptions {
    SurfaceOptions {
        column: column.to_owned(),
        factors: factors.iter().map(|f| (*f).to_owned()).collect(),
        direction: Some(direction),
        alpha: 0.05,
    }
}

/// A peak of `a` in the middle of its range; `b` tilts the surface by so much.
fn peak_of_a(tilt: f64) -> Surface {
    let mut csv = "a,b,y\n".to_owned();
    for (row, (a, b)) in [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 0.0, 0.0]
        .into_iter()
        .zip([-1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0])
        .enumerate()
    {
        let rest = [0.3, -0.2, -0.1, 0.25, -0.3, 0.1, -0.15, 0.2, 0.05, -0.25, 0.1][row];
        writeln!(csv, "{a},{b},{}", 50.0 - 10.0 * a * a + tilt * b + rest).unwrap();
    }
    let data = Table::from_csv(csv.as_bytes(), &[]).unwrap();
    surface_of_table(&data, &options("y", &["a", "b"], Direction::Maximize)).unwrap()
}

#[test]
fn a_factor_that_shows_nothing_sends_nobody_beyond_its_range() {
    let edge = |found: &Surface| {
        found.findings.iter().find(|own| own.id == "optimum-at-edge").map(|own| own.text.clone())
    };
    let noise = peak_of_a(0.0);
    assert_eq!(noise.optimum.as_ref().unwrap().at_edge_of, ["b"], "the case is as meant");
    assert_eq!(edge(&noise), None);
    let real = edge(&peak_of_a(5.0)).unwrap();
    assert!(real.contains("at the edge of the range of b:"), "{real}");
}

#[test]
fn surfaces_agree_with_numpy_and_scipy() {
    for case in json("surfaces/expected.json").as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let names = texts(&case["factors"]);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let data = table(&format!("surfaces/{id}.csv"), &[]);
        let of = |direction| {
            let response = case["response"].as_str().unwrap();
            surface_of_table(&data, &options(response, &names, direction)).unwrap()
        };
        let found = of(Direction::Maximize);
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        for (place, own) in found.coefficients.iter().enumerate() {
            let gap = own.estimate - number(&case["coefficients"][place]);
            assert!(gap.abs() < 1e-9, "{id} {}", own.term);
            close(&own.term, own.std_error.unwrap(), number(&case["std_errors"][place]), 1e-9);
        }
        close("sigma", found.sigma.unwrap(), number(&case["sigma"]), 1e-9);
        let stationary = found.stationary.as_ref().unwrap();
        for (place, at) in stationary.at.iter().enumerate() {
            close("stationary", *at, number(&case["stationary"][place]), 1e-9);
        }
        close("value", stationary.value, number(&case["value"]), 1e-9);
        close("low", stationary.ci_low.unwrap(), number(&case["ci"][0]), 1e-9);
        for (place, own) in found.curvatures.iter().enumerate() {
            close("curvature", own.value, number(&case["eigenvalues"][place]), 1e-9);
        }
        for (name, direction) in
            [("maximize", Direction::Maximize), ("minimize", Direction::Minimize)]
        {
            let found = of(direction);
            let (optimum, expected) = (found.optimum.as_ref().unwrap(), &case["optimum"][name]);
            // The solver of scipy stops at 1e-7 or so of the place.
            close(name, optimum.value, number(&expected["value"]), 1e-9);
            for (place, at) in optimum.at.iter().enumerate() {
                close(name, *at, number(&expected["at"][place]), 1e-5);
            }
        }
    }
}

#[test]
fn the_textbook_process_has_its_published_maximum() {
    // Montgomery, Design and Analysis of Experiments, example 11.2: 87 minutes, 176.5 F, 80.21.
    let data = table("surfaces/myers_yield.csv", &[]);
    let found =
        surface_of_table(&data, &options("yield", &["time", "temperature"], Direction::Maximize))
            .unwrap();
    assert_eq!(found.kind, SurfaceKind::Maximum);
    let optimum = found.optimum.unwrap();
    assert!((optimum.at[0] - 86.95).abs() < 0.01 && (optimum.at[1] - 176.53).abs() < 0.01);
    assert!((optimum.value - 80.21).abs() < 0.01 && optimum.inside && !optimum.on_border);
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    assert!(
        found.text.contains("is a maximum, 80.2 (79.9 to 80.5) at time = 86.9"),
        "{}",
        found.text
    );
    let contour = &found.contours[0];
    assert_eq!((contour.heights.len(), contour.heights[0].len()), (21, 21));
    assert!(contour.heights.iter().flatten().all(|h| *h <= optimum.value + 1e-9));
}

/// A three-level design of two factors, twice, with heights of a quadratic.
fn made(f: impl Fn(f64, f64) -> f64, noise: f64, direction: Direction) -> Surface {
    let mut csv = "a,b,y\n".to_owned();
    let mut place = 0;
    for _ in 0..2 {
        for a in [-1.0, 0.0, 1.0] {
            for b in [-1.0, 0.0, 1.0] {
                place += 7;
                let wobble = noise * (f64::from(place % 11) - 5.0) / 5.0;
                writeln!(csv, "{},{},{}", 20.0 + 10.0 * a, 3.0 + 2.0 * b, f(a, b) + wobble)
                    .unwrap();
            }
        }
    }
    let data = Table::from_csv(csv.as_bytes(), &[]).unwrap();
    surface_of_table(&data, &options("y", &["a", "b"], direction)).unwrap()
}

fn ids(found: &Surface) -> Vec<&str> {
    found.findings.iter().map(|f| f.id).collect()
}

#[test]
fn kinds_are_told_by_curvature_and_edges_are_flagged() {
    let bowl = made(|a, b| 5.0 + 3.0 * a * a + 2.0 * b * b, 0.1, Direction::Minimize);
    assert_eq!((bowl.kind, ids(&bowl).len()), (SurfaceKind::Minimum, 0), "{:?}", bowl.findings);
    let edge = made(|a, b| 5.0 + 3.0 * a * a + 2.0 * b * b, 0.1, Direction::Maximize);
    assert!(ids(&edge).contains(&"optimum-at-edge"));
    let saddle = made(|a, b| 5.0 + 3.0 * a * a - 2.0 * b * b, 0.1, Direction::Minimize);
    assert_eq!(saddle.kind, SurfaceKind::Saddle);
    assert_eq!(saddle.optimum.as_ref().unwrap().at_edge_of, ["b"]);
    let ridge = made(|a, b| 5.0 - 3.0 * (a + b) * (a + b), 0.2, Direction::Maximize);
    assert_eq!(ridge.kind, SurfaceKind::Ridge);
    assert!(ids(&ridge).contains(&"flat-surface"), "{:?}", ids(&ridge));
    let away =
        made(|a, b| 5.0 + 3.0 * (a - 3.0) * (a - 3.0) + 2.0 * b * b, 0.1, Direction::Minimize);
    assert_eq!(ids(&away), ["optimum-at-edge", "stationary-point-outside"]);
    let wavy = made(|a, b| 5.0 + a * a + b * b + 4.0 * a * a * b * b, 0.1, Direction::Minimize);
    assert!(ids(&wavy).contains(&"lack-of-fit"));
}

#[test]
fn designs_without_curvature_are_refused() {
    let check = |csv: &str, message: &str| {
        let data = Table::from_csv(csv.as_bytes(), &[]).unwrap();
        let found = surface_of_table(&data, &options("y", &["a", "b"], Direction::Minimize));
        assert_eq!(found.unwrap_err().to_string(), message);
    };
    check(
        "a,b,y\n1,1,1\n2,2,2\n1,3,3\n2,1,4\n",
        "`a` has 2 different values, but a quadratic surface needs at least 3 of each factor",
    );
    check(
        "a,b,y\n1,1,1\n2,2,2\n3,3,3\n1,3,4\n",
        "4 different points of a, b do not tell the 6 terms of a quadratic apart; use a central \
         composite, Box-Behnken or three-level design",
    );
}

proptest! {
    #[test]
    fn a_known_quadratic_is_recovered_and_no_point_beats_the_optimum(
        c in prop::collection::vec(-4.0..4.0f64, 6),
        tried in prop::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 50),
    ) {
        let f = |a: f64, b: f64| {
            c[0] + c[1] * a + c[2] * b + c[3] * a * b + c[4] * a * a + c[5] * b * b
        };
        let found = made(f, 0.0, Direction::Maximize);
        for (own, c) in found.coefficients.iter().zip(&c) {
            prop_assert!((own.estimate - c).abs() < 1e-9);
        }
        let best = found.optimum.unwrap();
        prop_assert!(best.inside && (f(best.coded[0], best.coded[1]) - best.value).abs() < 1e-8);
        for (a, b) in tried {
            prop_assert!(f(a, b) <= best.value + 1e-7, "{} at {a} {b}, {}", f(a, b), best.value);
        }
        if let Some(own) = found.stationary.filter(|own| own.coded.iter().all(|v| v.abs() < 1e3)) {
            let (a, b) = (own.coded[0], own.coded[1]);
            let slope = (c[1] + c[3] * b + 2.0 * c[4] * a).abs() + (c[2] + c[3] * a + 2.0 * c[5] * b).abs();
            prop_assert!(slope < 1e-5, "{slope}");
        }
    }
}
