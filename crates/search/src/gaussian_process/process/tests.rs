use proptest::prelude::*;
use trainwright_random::Random;

use super::*;

/// Solves a system by elimination with pivots, the slow obvious way.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for pivot in 0..size {
        let largest = (pivot..size)
            .max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()))
            .unwrap();
        rows.swap(pivot, largest);
        right.swap(pivot, largest);
        let leading = rows[pivot].clone();
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = rows[row][pivot] / leading[pivot];
            rows[row].iter_mut().zip(&leading).for_each(|(own, lead)| *own -= factor * lead);
            right[row] -= factor * right[pivot];
        }
    }
    (0..size).map(|row| right[row] / rows[row][row]).collect()
}

fn measured(points: usize, seed: u64) -> Measured {
    let mut random = Random::new(seed);
    let places: Vec<Vec<f64>> =
        (0..points).map(|_| vec![random.unit(), random.below(3) as f64]).collect();
    Measured {
        distances: vec![Distance::Difference, Distance::Mismatch],
        values: places.iter().map(|at| 10.0 + (5.0 * at[0]).cos() * (1.0 + at[1])).collect(),
        counts: (0..points).map(|place| 1 + (place % 2) as u32).collect(),
        points: places,
    }
}

/// Mean and deviation by the formulas of the book, with dense matrices and no scaling tricks.
fn dense(measured: &Measured, own: &HyperParameters, at: &[f64]) -> (f64, f64) {
    let kernel = |a: &[f64], b: &[f64]| {
        let number = (a[0] - b[0]).powi(2) / own.lengths[0].powi(2);
        let category = if a[1] == b[1] { 0.0 } else { 1.0 / own.lengths[1].powi(2) };
        let r = (number + category).sqrt();
        let a = 5f64.sqrt() * r;
        own.amplitude * (1.0 + a + 5.0 * r * r / 3.0) * (-a).exp()
    };
    let size = measured.points.len();
    let count = size as f64;
    let centre = measured.values.iter().sum::<f64>() / count;
    let spread = (measured.values.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / count).sqrt();
    let scaled: Vec<f64> = measured.values.iter().map(|y| (y - centre) / spread).collect();
    let noise = |row: usize| own.noise / f64::from(measured.counts[row]);
    let matrix: Vec<Vec<f64>> = (0..size)
        .map(|a| {
            let entry = |b: usize| {
                kernel(&measured.points[a], &measured.points[b])
                    + if a == b { noise(a) } else { 0.0 }
            };
            (0..size).map(entry).collect()
        })
        .collect();
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let ones = vec![1.0; size];
    let by_ones = solve(matrix.clone(), ones.clone());
    let mean = product(&by_ones, &scaled) / (product(&by_ones, &ones) + 1.0);
    let beyond: Vec<f64> = scaled.iter().map(|y| y - mean).collect();
    let cross: Vec<f64> = measured.points.iter().map(|point| kernel(point, at)).collect();
    let expected = mean + product(&cross, &solve(matrix.clone(), beyond));
    let variance = own.amplitude - product(&cross, &solve(matrix, cross.clone()));
    (centre + spread * expected, spread * variance.max(0.0).sqrt())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_posterior_is_that_of_dense_matrices(
        points in 1usize..14, seed in 0u64..1000, x in 0.0..1.0f64, category in 0u8..3,
        length in 0.1..2.0f64, amplitude in 0.2..3.0f64, noise in 1e-4..0.3f64,
    ) {
        let data = measured(points, seed);
        prop_assume!(points == 1 || data.values.iter().any(|own| *own != data.values[0]));
        let own = HyperParameters { lengths: vec![length, 0.7], amplitude, noise };
        let process = GaussianProcess::with(&data, &own, Priors::standard(2)).unwrap();
        let at = [x, f64::from(category)];
        let found = process.posterior(&at);
        if points > 1 {
            let (mean, deviation) = dense(&data, &own, &at);
            prop_assert!((found.mean - mean).abs() < 1e-8, "{} {mean}", found.mean);
            prop_assert!((found.deviation - deviation).abs() < 1e-6, "{} {deviation}", found.deviation);
        }
        // Side by side with others it is the same to the bit.
        let many: Vec<Vec<f64>> = (0..11).map(|_| at.to_vec()).collect();
        prop_assert!(process.posteriors(&many).iter().all(|own| *own == found));
    }
}

#[test]
fn a_believed_point_is_one_measured_at_its_expected_value() {
    let mut data = measured(9, 4);
    data.counts = vec![1; 9];
    let own = HyperParameters { lengths: vec![0.4, 0.8], amplitude: 1.2, noise: 0.01 };
    let mut process = GaussianProcess::with(&data, &own, Priors::standard(2)).unwrap();
    let (point, elsewhere) = ([0.33, 1.0], [0.4, 1.0]);
    let before = process.posterior(&elsewhere);
    let expected = process.posterior(&point).mean;
    process.believe(&point);
    let after = process.posterior(&elsewhere);
    assert!(after.deviation < before.deviation);
    // The same by a process that begins with the point. Its scale must be that of the others.
    let (centre, spread) = data.scale();
    let mut whole = data.clone();
    whole.points.push(point.to_vec());
    whole.values.push(expected);
    whole.counts.push(1);
    let likelihood = Likelihood::new(
        &whole.points,
        &whole.distances,
        whole.scaled((centre, spread)),
        vec![1.0; 10],
        Priors::standard(2),
    );
    let mut anew =
        GaussianProcess::at(&whole, &likelihood, &own.logarithms(), Priors::standard(2)).unwrap();
    (anew.centre, anew.spread) = (centre, spread);
    let other = anew.posterior(&elsewhere);
    assert!((after.mean - other.mean).abs() < 1e-10, "{after:?} {other:?}");
    assert!((after.deviation - other.deviation).abs() < 1e-10, "{after:?} {other:?}");
}

#[test]
fn a_smooth_curve_is_found_again_between_its_points() {
    let points: Vec<Vec<f64>> = (0..12).map(|place| vec![f64::from(place) / 11.0]).collect();
    let curve = |x: f64| 3.0 + (6.0 * x).sin();
    let data = Measured {
        distances: vec![Distance::Difference],
        values: points.iter().map(|at| curve(at[0])).collect(),
        counts: vec![1; 12],
        points,
    };
    let process = GaussianProcess::fit(&data, Priors::standard(1)).unwrap();
    for place in 0..50 {
        let x = f64::from(place) / 49.0;
        let found = process.posterior(&[x]);
        assert!((found.mean - curve(x)).abs() < 0.03, "{x}: {found:?}");
    }
    assert!(process.noise_deviation() < 0.05);
}

#[test]
fn noise_is_told_from_the_function() {
    let mut random = Random::new(9);
    let points: Vec<Vec<f64>> = (0..60).map(|place| vec![f64::from(place) / 59.0]).collect();
    let noise = |random: &mut Random| 0.3 * super::super::slice_sampling::normal(random);
    let data = Measured {
        distances: vec![Distance::Difference],
        values: points.iter().map(|at| (6.0 * at[0]).sin() + noise(&mut random)).collect(),
        counts: vec![1; 60],
        points,
    };
    let process = GaussianProcess::fit(&data, Priors::standard(1)).unwrap();
    let found = process.noise_deviation();
    assert!((0.2..0.4).contains(&found), "the noise is 0.3, found {found}");
}

#[test]
fn values_that_are_all_the_same_are_no_trouble() {
    let data = Measured {
        distances: vec![Distance::Difference],
        points: vec![vec![0.0], vec![1.0]],
        values: vec![4.0, 4.0],
        counts: vec![1, 1],
    };
    let found = GaussianProcess::fit(&data, Priors::standard(1)).unwrap().posterior(&[0.5]);
    assert!((found.mean - 4.0).abs() < 1e-9 && found.deviation > 0.0);
}
