use proptest::prelude::*;

use super::*;

fn options(kind: ForestKind, trees: usize, columns: usize) -> ForestOptions {
    ForestOptions { kind, trees, columns, least_leaf: 1, seed: 3 }
}

const KINDS: [ForestKind; 2] = [ForestKind::ExtraTrees, ForestKind::RandomForest];

/// Friedman's first function without noise: five columns matter, five do not.
fn friedman(rows: usize) -> (Rows, Rows) {
    let mut random = Random::new(5);
    let inputs: Vec<Vec<f64>> =
        (0..rows).map(|_| (0..10).map(|_| random.unit()).collect()).collect();
    let value = |x: &Vec<f64>| {
        vec![
            10.0 * (std::f64::consts::PI * x[0] * x[1]).sin()
                + 20.0 * (x[2] - 0.5).powi(2)
                + 10.0 * x[3]
                + 5.0 * x[4],
        ]
    };
    let outputs = inputs.iter().map(value).collect();
    (Rows::new(inputs), Rows::new(outputs))
}

#[test]
fn a_smooth_function_is_learnt() {
    let (inputs, outputs) = friedman(600);
    let rows: Vec<Vec<f64>> =
        (0..600).map(|row| (0..10).map(|column| inputs.at(row, column)).collect()).collect();
    let head = Rows::new(rows[..400].to_vec());
    let known = Rows::new((0..400).map(|row| vec![outputs.at(row, 0)]).collect());
    for kind in KINDS {
        let forest = Forest::fit(&head, &known, options(kind, 60, 10));
        let tail = 400..600_u32;
        let mean = tail.clone().map(|row| outputs.at(row, 0)).sum::<f64>() / 200.0;
        let squares = |value: f64| value * value;
        let missed: f64 = tail
            .clone()
            .map(|row| squares(outputs.at(row, 0) - forest.predict(&rows[row as usize])[0]))
            .sum();
        let spread: f64 = tail.map(|row| squares(outputs.at(row, 0) - mean)).sum();
        // Scikit-learn's forests explain about 0.85 of this function's variance at this size.
        assert!(1.0 - missed / spread > 0.75, "{kind:?}: {}", 1.0 - missed / spread);
        let importances = forest.importances();
        let (own, foreign) = importances.split_at(5);
        let least = own.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(foreign.iter().all(|other| *other < least.max(0.05)), "{importances:?}");
    }
}

#[test]
fn classes_become_histograms() {
    let mut random = Random::new(9);
    let inputs: Vec<Vec<f64>> = (0..300).map(|_| vec![random.unit(), random.unit()]).collect();
    let class = |x: &Vec<f64>| usize::from(x[0] > 0.5) + usize::from(x[1] > 0.5);
    let one_hot = |x: &Vec<f64>| (0..3).map(|own| f64::from(u8::from(own == class(x)))).collect();
    let outputs: Vec<Vec<f64>> = inputs.iter().map(one_hot).collect();
    let (inputs, outputs) = (Rows::new(inputs), Rows::new(outputs));
    for kind in KINDS {
        let forest = Forest::fit(&inputs, &outputs, options(kind, 50, 2));
        for (x, expected) in [([0.2, 0.2], 0), ([0.8, 0.2], 1), ([0.8, 0.8], 2)] {
            let chances = forest.predict(&x);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(chances[expected] > 0.8, "{kind:?} {x:?}: {chances:?}");
        }
    }
}

#[test]
fn the_best_threshold_is_that_of_trying_all() {
    // One split at the place that trying all of them by hand gives: 3 | 4, gain 4 * 3 / 7 * 6^2.
    let inputs = Rows::new((0..7).map(|x| vec![f64::from(x)]).collect());
    let outputs = Rows::new([1.0, 1.0, 1.0, 1.0, 7.0, 7.0, 7.0].map(|y| vec![y]).to_vec());
    let own = ForestOptions { least_leaf: 3, ..options(ForestKind::RandomForest, 40, 1) };
    let forest = Forest::fit(&inputs, &outputs, own);
    assert!(forest.predict(&[0.0])[0] < 2.5 && forest.predict(&[6.0])[0] > 5.5);
}

#[test]
fn constant_outputs_need_no_split() {
    let inputs = Rows::new((0..9).map(|x| vec![f64::from(x)]).collect());
    let outputs = Rows::new(vec![vec![2.5]; 9]);
    for kind in KINDS {
        let forest = Forest::fit(&inputs, &outputs, options(kind, 5, 1));
        assert_eq!(forest.mean_and_variance(&[4.0]), (2.5, 0.0));
        assert_eq!(forest.importances(), [0.0]);
    }
}

fn table() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<Vec<f64>>)> {
    let rows = prop::collection::vec((prop::array::uniform3(-9_i32..9), -50.0..50.0_f64), 2..40);
    rows.prop_map(|rows| {
        let inputs = rows.iter().map(|(x, _)| x.map(f64::from).to_vec()).collect();
        (inputs, rows.iter().map(|(_, y)| vec![*y]).collect())
    })
}

proptest! {
    #[test]
    fn predictions_are_weighted_means_of_what_was_seen((inputs, outputs) in table(), seed in 0_u64..99) {
        for kind in KINDS {
            let own = ForestOptions { seed, least_leaf: 2, ..options(kind, 7, 2) };
            let forest = Forest::fit(&Rows::new(inputs.clone()), &Rows::new(outputs.clone()), own);
            for input in &inputs {
                let weights = forest.weights(input);
                prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                let mean: f64 = weights.iter().zip(&outputs).map(|(w, y)| w * y[0]).sum();
                prop_assert!((forest.predict(input)[0] - mean).abs() < 1e-9);
                let (again, variance) = forest.mean_and_variance(input);
                let second: f64 = weights.iter().zip(&outputs).map(|(w, y)| w * y[0] * y[0]).sum();
                prop_assert!((again - mean).abs() < 1e-9);
                prop_assert!((variance - (second - mean * mean)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn the_same_seed_grows_the_same_forest((inputs, outputs) in table(), seed in 0_u64..99) {
        for kind in KINDS {
            let own = ForestOptions { seed, ..options(kind, 5, 2) };
            let grow = || Forest::fit(&Rows::new(inputs.clone()), &Rows::new(outputs.clone()), own);
            prop_assert_eq!(grow().predict(&inputs[0]), grow().predict(&inputs[0]));
        }
    }
}
