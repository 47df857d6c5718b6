//! Ernest's law on recorded runs of Spark and Hadoop: how far its predictions are off within the
//! numbers of nodes that were run, and beyond them.

use std::collections::BTreeMap;
use std::path::Path;

use trainwright_search::cloud::ernest::{Law, ScaledRun};

/// Times by nodes, ascending, of each workload on each machine type.
type Curves = BTreeMap<(String, String), Vec<(u32, f64)>>;

fn recorded() -> Option<Curves> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var("TRAINWRIGHT_TEST_DATA").unwrap_or_else(|_| default.to_owned());
    let path = Path::new(&folder).join("cloud/scout_multi.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {} is not there; set TRAINWRIGHT_TEST_DATA", path.display());
        return None;
    };
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| names.iter().position(|own| *own == name).unwrap();
    let [workload, machine, nodes, completed, elapsed] =
        ["workload", "vm_type", "nodes", "completed", "elapsed_s"].map(at);
    let mut curves = Curves::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[completed] == "1" {
            let key = (cells[workload].to_owned(), cells[machine].to_owned());
            let run = (cells[nodes].parse().unwrap(), cells[elapsed].parse().unwrap());
            curves.entry(key).or_default().push(run);
        }
    }
    curves.values_mut().for_each(|own| own.sort_by_key(|run| run.0));
    curves.retain(|_, own| own.len() >= 5);
    Some(curves)
}

/// Relative errors of all runs that the law was not fitted to.
fn errors(curves: &Curves, fitted: impl Fn(usize, &[(u32, f64)]) -> bool) -> Vec<f64> {
    let mut found = Vec::new();
    for curve in curves.values() {
        let scaled = |run: &(u32, f64)| ScaledRun {
            machines: f64::from(run.0),
            share: 1.0,
            elapsed_s: run.1,
        };
        let places = || (0..curve.len()).filter(|&at| fitted(at, curve));
        let runs: Vec<ScaledRun> = places().map(|at| scaled(&curve[at])).collect();
        if runs.len() < 3 {
            continue;
        }
        let law = Law::fit(&runs).unwrap();
        for (at, &(nodes, elapsed)) in curve.iter().enumerate() {
            if !fitted(at, curve) {
                let foretold = law.predict(1.0, f64::from(nodes));
                let beyond = nodes > curve[places().last().unwrap()].0;
                assert_eq!(foretold.extrapolates, beyond, "it says where it goes beyond the runs");
                found.push((foretold.elapsed_s / elapsed - 1.0).abs());
            }
        }
    }
    found.sort_by(f64::total_cmp);
    found
}

#[track_caller]
fn check(errors: &[f64], count: usize, mean: f64, median: f64) {
    assert_eq!(errors.len(), count);
    let own_mean = errors.iter().sum::<f64>() / count as f64;
    let middle = [errors[(count - 1) / 2], errors[count / 2]];
    let own_median = (middle[0] + middle[1]) / 2.0;
    let told = format!("mean {own_mean}, median {own_median}");
    assert!((own_mean - mean).abs() < 1e-5 && (own_median - median).abs() < 1e-5, "{told}");
}

/// The same fits by SciPy's `nnls` (1.17) give these means and medians.
#[test]
fn predictions_are_as_far_off_as_the_same_law_fitted_by_another_library() {
    let Some(curves) = recorded() else { return };
    let between = errors(&curves, |at, curve| {
        let last = curve.len() - 1;
        [0, curve.len() / 3, 2 * curve.len() / 3, last].contains(&at)
    });
    check(&between, 362, 0.122_571_256, 0.039_192_311);
    let beyond = errors(&curves, |at, curve| curve[at].0 * 2 <= curve[curve.len() - 1].0);
    check(&beyond, 209, 0.278_608_737, 0.099_531_330);
}
