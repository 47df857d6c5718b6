//! The top of a smooth hill, by the method of Broyden, Fletcher, Goldfarb and Shanno (Nocedal and
//! Wright, "Numerical Optimization", 2006, section 6.1).

/// A step that gains less ends the climb: hyper-parameters that differ by so little in their log
/// density are equally good.
const LITTLE: f64 = 0.01;
/// No step is longer along any axis: hyper-parameters are logarithms.
const LONGEST: f64 = 2.0;

/// A height and its slopes at a place.
type Hill<'a> = dyn Fn(&[f64]) -> Option<(f64, Vec<f64>)> + 'a;

/// Climbs from `start` by at most so many steps; gives the highest place seen.
///
/// `hill` gives a height and its slopes, or nothing outside its domain.
pub(super) fn climb(hill: &Hill<'_>, start: &[f64], steps: usize) -> Option<(Vec<f64>, f64)> {
    let mut at = start.to_vec();
    let (mut height, mut slopes) = hill(&at)?;
    let size = at.len();
    let mut curvature = identity(size);
    for _ in 0..steps {
        let mut direction: Vec<f64> =
            (0..size).map(|row| product(&curvature[row], &slopes)).collect();
        let mut rise = product(&direction, &slopes);
        if rise <= 0.0 {
            curvature = identity(size);
            direction.clone_from(&slopes);
            rise = product(&slopes, &slopes);
        }
        let longest = direction.iter().fold(0.0_f64, |most, own| most.max(own.abs()));
        if !(longest > 0.0 && longest.is_finite()) {
            break;
        }
        let mut length = (LONGEST / longest).min(1.0);
        let step = loop {
            let next: Vec<f64> = at.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            match hill(&next) {
                Some((own, new)) if own >= height + 1e-4 * length * rise => {
                    break Some((next, own, new));
                }
                _ if length * longest < 1e-6 => break None,
                _ => length *= 0.4,
            }
        };
        let Some((next, own, new)) = step else { break };
        let moved: Vec<f64> = next.iter().zip(&at).map(|(a, b)| a - b).collect();
        // The method is stated for valleys: there slopes grow along a step.
        let turned: Vec<f64> = slopes.iter().zip(&new).map(|(a, b)| a - b).collect();
        update(&mut curvature, &moved, &turned);
        let gain = own - height;
        (at, height, slopes) = (next, own, new);
        if gain < LITTLE {
            break;
        }
    }
    Some((at, height))
}

/// Makes the inverse curvature agree with what a step has shown.
fn update(curvature: &mut [Vec<f64>], moved: &[f64], turned: &[f64]) {
    let along = product(moved, turned);
    if along <= 1e-12 {
        return;
    }
    let image: Vec<f64> = curvature.iter().map(|row| product(row, turned)).collect();
    let scale = (1.0 + product(turned, &image) / along) / along;
    for (row, own) in curvature.iter_mut().enumerate() {
        for (column, entry) in own.iter_mut().enumerate() {
            *entry += scale * moved[row] * moved[column]
                - (image[row] * moved[column] + moved[row] * image[column]) / along;
        }
    }
}

fn identity(size: usize) -> Vec<Vec<f64>> {
    let row = |own: usize| (0..size).map(|at| f64::from(u8::from(at == own))).collect();
    (0..size).map(row).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bent_ridge_is_climbed_to_its_top() {
        // Rosenbrock's function turned upside down; its top is at (1, 1).
        let hill = |at: &[f64]| -> Option<(f64, Vec<f64>)> {
            let (x, y) = (at[0], at[1]);
            let height = -((1.0 - x).powi(2) + 10.0 * (y - x * x).powi(2));
            let slopes = vec![2.0 * (1.0 - x) + 40.0 * x * (y - x * x), -20.0 * (y - x * x)];
            Some((height, slopes))
        };
        // A hundred times as high, so that the climb goes on to the very top.
        let high = |at: &[f64]| {
            let (height, slopes) = hill(at)?;
            Some((100.0 * height, slopes.iter().map(|own| 100.0 * own).collect()))
        };
        let (top, height) = climb(&high, &[-1.0, 1.0], 200).unwrap();
        assert!(height > -0.1, "{height}");
        assert!((top[0] - 1.0).abs() < 0.05 && (top[1] - 1.0).abs() < 0.1, "{top:?}");
    }

    #[test]
    fn the_climb_stays_inside_the_domain() {
        let hill = |at: &[f64]| (at[0] < 1.0).then(|| (at[0], vec![1.0]));
        let (top, _) = climb(&hill, &[0.0], 50).unwrap();
        assert!(top[0] < 1.0 && top[0] > 0.9, "{top:?}");
        assert!(climb(&hill, &[2.0], 5).is_none());
    }
}
