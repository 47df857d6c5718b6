//! Eigenvalues and eigenvectors of a small symmetric matrix.

use crate::error::StatsError;

/// An eigenvalue with its vector of length one.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// The eigenvalue.
    pub value: f64,
    /// Its direction.
    pub vector: Vec<f64>,
}

/// Sweeps over all pairs of axes; convergence is quadratic and takes about six.
const MOST_SWEEPS: usize = 60;

/// All eigenvalues of a symmetric matrix, largest first, by Jacobi's rotations (Golub and Van
/// Loan, Matrix Computations, 4th edition, section 8.5).
///
/// # Errors
/// A matrix that is not square, not finite or not symmetric to the last digits.
pub fn symmetric_eigen(matrix: &[Vec<f64>]) -> Result<Vec<Eigen>, StatsError> {
    check(matrix)?;
    let n = matrix.len();
    let mut a = matrix.to_vec();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for _ in 0..MOST_SWEEPS {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j].abs()).sum();
        let size: f64 = a.iter().flatten().map(|v| v.abs()).fold(0.0, f64::max);
        if off <= f64::EPSILON * 1e-3 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut found: Vec<Eigen> = vectors
        .into_iter()
        .enumerate()
        .map(|(i, vector)| Eigen { value: a[i][i], vector })
        .collect();
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    Ok(found)
}

fn check(matrix: &[Vec<f64>]) -> Result<(), StatsError> {
    let what = "a symmetric matrix";
    for (i, row) in matrix.iter().enumerate() {
        if row.len() != matrix.len() {
            let (expected, found) = (matrix.len(), row.len());
            return Err(StatsError::LengthMismatch { what, expected, found });
        }
        if let Some(at) = row.iter().position(|v| !v.is_finite()) {
            return Err(StatsError::NotFinite { what, position: at + 1, value: row[at] });
        }
        let twin = |j: usize| (row[j] - matrix[j][i]).abs() <= 1e-12 * row[j].abs();
        if !(0..i).all(twin) {
            let reason = "the matrix differs from its transpose";
            return Err(StatsError::Undefined { what, reason });
        }
    }
    Ok(())
}

/// Turns axes p and q so that their element vanishes; rows of `vectors` are the directions.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
    }
    for rows in [&mut *a, vectors] {
        for j in 0..rows[p].len() {
            let (x, y) = (rows[p][j], rows[q][j]);
            (rows[p][j], rows[q][j]) = (c * x - s * y, s * x + c * y);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_by_two_has_its_closed_form() {
        let found = symmetric_eigen(&[vec![2.0, 1.0], vec![1.0, 2.0]]).unwrap();
        assert!((found[0].value - 3.0).abs() < 1e-14 && (found[1].value - 1.0).abs() < 1e-14);
        assert!((found[0].vector[0] - found[0].vector[1]).abs() < 1e-14);
        let diagonal = symmetric_eigen(&[vec![-5.0, 0.0], vec![0.0, 4.0]]).unwrap();
        assert_eq!((diagonal[0].value, diagonal[1].value), (4.0, -5.0));
    }

    #[test]
    fn what_is_not_symmetric_is_refused() {
        assert!(symmetric_eigen(&[vec![1.0, 2.0], vec![3.0, 1.0]]).is_err());
        assert!(symmetric_eigen(&[vec![1.0, 2.0]]).is_err());
        assert!(symmetric_eigen(&[vec![f64::NAN]]).is_err());
    }

    proptest! {
        #[test]
        fn vectors_are_orthonormal_and_rebuild_the_matrix(
            cells in prop::collection::vec(-9.0..9.0f64, 25),
        ) {
            let matrix: Vec<Vec<f64>> = (0..5)
                .map(|i| (0..5).map(|j| cells[5 * i.min(j) + i.max(j)]).collect())
                .collect();
            let found = symmetric_eigen(&matrix).unwrap();
            for (i, row) in matrix.iter().enumerate() {
                for (j, &cell) in row.iter().enumerate() {
                    let rebuilt: f64 =
                        found.iter().map(|e| e.value * e.vector[i] * e.vector[j]).sum();
                    prop_assert!((rebuilt - cell).abs() < 1e-11);
                    let dot: f64 =
                        found[i].vector.iter().zip(&found[j].vector).map(|(a, b)| a * b).sum();
                    prop_assert!((dot - f64::from(i == j)).abs() < 1e-12);
                }
            }
            prop_assert!(found.windows(2).all(|w| w[0].value >= w[1].value));
        }
    }
}
