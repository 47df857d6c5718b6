//! The condition number of a model matrix.

use crate::linear_algebra::orthogonal::Orthogonal;

/// Rotations stop when all columns are orthogonal to this share of their lengths.
const ORTHOGONAL: f64 = 1e-15;

/// Passes over all pairs of columns; eight are usual.
const MOST_PASSES: usize = 60;

/// Largest over smallest singular value of the columns kept, by one-sided Jacobi rotations of the
/// triangular factor (Golub and Van Loan, Matrix Computations, 4th edition, section 8.6.3).
pub(crate) fn condition_number(decomposition: &Orthogonal) -> f64 {
    let rank = decomposition.rank();
    let small = decomposition.compressed();
    let mut columns: Vec<Vec<f64>> =
        decomposition.kept().iter().map(|&c| small[c][..rank].to_vec()).collect();
    for _ in 0..MOST_PASSES {
        if !rotate_all(&mut columns) {
            break;
        }
    }
    let lengths = columns.iter().map(|c| dot(c, c).sqrt());
    let (low, high) = lengths.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    high / low
}

/// Makes every pair of columns orthogonal; false if all were already.
fn rotate_all(columns: &mut [Vec<f64>]) -> bool {
    let mut turned = false;
    for i in 0..columns.len() {
        let (left, right) = columns.split_at_mut(i + 1);
        let first = &mut left[i];
        for second in right {
            let (a, b, c) = (dot(first, first), dot(second, second), dot(first, second));
            if c.abs() <= ORTHOGONAL * (a * b).sqrt() {
                continue;
            }
            turned = true;
            let zeta = (b - a) / (2.0 * c);
            let sign = if zeta < 0.0 { -1.0 } else { 1.0 };
            let tangent = sign / (zeta.abs() + zeta.hypot(1.0));
            let cosine = tangent.hypot(1.0).recip();
            let sine = cosine * tangent;
            for (x, y) in first.iter_mut().zip(second.iter_mut()) {
                (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
            }
        }
    }
    turned
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use crate::{Columns, least_squares};

    #[test]
    fn two_columns_have_the_ratio_of_the_closed_form() {
        let x = vec![0.0, 1.0, 2.0, 7.0];
        let matrix = Columns::new(vec![vec![1.0; 4], x]).unwrap();
        let fit = least_squares(&matrix, &[1.0, 2.0, 4.0, 3.0]).unwrap();
        // Eigenvalues of [[4, 10], [10, 54]].
        let root = f64::sqrt(50.0 * 50.0 + 400.0);
        let expected = ((58.0 + root) / (58.0 - root)).sqrt();
        assert!((fit.condition_number() / expected - 1.0).abs() < 1e-12);
    }
}
