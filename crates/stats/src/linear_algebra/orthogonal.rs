//! Householder decomposition of a model matrix, with aliased columns found in column order.
//!
//! Normal equations are never formed: they square the condition number and fail on polynomial
//! and economic data. Columns are taken from left to right; one that the columns before it
//! already span (to the tolerance 1e-7 on its length) is set aside as aliased, which is the rule
//! by which `lm` in R reports coefficients as not defined. Powers of one sample come so close to
//! each other that this rule would set them aside; of them only rounding is.

use std::collections::BTreeSet;

use crate::error::StatsError;
use crate::linear_algebra::lanes::{dot, scale, subtract};
use crate::sample;

/// Share of a column's length that must be new for the column to count.
const NEW_DIRECTION: f64 = 1e-7;

/// The same for a power of a sample, which is new however little it leaves beyond rounding.
const NEW_POWER: f64 = 1e-12;

/// A matrix held as columns of equal length, all values finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    rows: usize,
    columns: Vec<Vec<f64>>,
    /// Indices of columns that are powers of a sample.
    powers: BTreeSet<usize>,
}

impl Columns {
    /// Checks lengths and values of the columns.
    ///
    /// # Errors
    /// No columns, no rows, columns of different length, or a value that is not finite.
    pub fn new(columns: Vec<Vec<f64>>) -> Result<Self, StatsError> {
        let Some(first) = columns.first() else {
            return Err(StatsError::TooFew { what: "a model matrix", needed: 1, found: 0 });
        };
        let rows = first.len();
        for column in &columns {
            sample::check(column, "a column of the model matrix", 1)?;
            if column.len() != rows {
                let what = "a column of the model matrix";
                return Err(StatsError::LengthMismatch {
                    what,
                    expected: rows,
                    found: column.len(),
                });
            }
        }
        Ok(Self { rows, columns, powers: BTreeSet::new() })
    }

    /// The same columns, of which some are known to be powers of a sample: a power is set aside
    /// only where rounding is all it leaves, however close it comes to the lower ones.
    pub fn with_powers(self, powers: impl IntoIterator<Item = usize>) -> Self {
        Self { powers: powers.into_iter().collect(), ..self }
    }

    /// Number of observations.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, aliased ones included.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// One column.
    pub fn column(&self, index: usize) -> &[f64] {
        &self.columns[index]
    }

    /// All columns in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.iter().map(Vec::as_slice)
    }
}

/// The decomposition X = QR of the columns that are not aliased.
#[derive(Debug, Clone)]
pub struct Orthogonal {
    rows: usize,
    /// Indices of the columns kept, in order.
    kept: Vec<usize>,
    /// Unit Householder vectors; the k-th starts at row k.
    reflectors: Vec<Vec<f64>>,
    /// Every original column in the rotated basis, cut to the rank.
    rotated: Vec<Vec<f64>>,
    /// Indices of columns that are powers of a sample.
    powers: BTreeSet<usize>,
}

impl Orthogonal {
    /// Decomposes the columns in their order.
    pub fn new(matrix: &Columns) -> Self {
        let mut this = Self {
            rows: matrix.rows,
            kept: Vec::new(),
            reflectors: Vec::new(),
            rotated: Vec::new(),
            powers: matrix.powers.clone(),
        };
        for (index, column) in matrix.iter().enumerate() {
            this.take(index, column.to_vec());
        }
        this.rotated.iter_mut().for_each(|c| c.resize(this.kept.len(), 0.0));
        this
    }

    /// Indices of the columns that are not aliased.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.kept.len()
    }

    /// The vector in the rotated basis: its first `rank` entries are the effects of the columns
    /// kept, the rest carries the residual.
    pub fn rotate(&self, vector: &[f64]) -> Vec<f64> {
        let mut rotated = vector.to_vec();
        for (k, reflector) in self.reflectors.iter().enumerate() {
            reflect(reflector, &mut rotated[k..]);
        }
        rotated
    }

    /// The inverse of [`Self::rotate`].
    pub fn rotate_back(&self, vector: &[f64]) -> Vec<f64> {
        let mut original = vector.to_vec();
        for (k, reflector) in self.reflectors.iter().enumerate().rev() {
            reflect(reflector, &mut original[k..]);
        }
        original
    }

    /// What the columns leave of a response.
    pub fn residuals(&self, response: &[f64]) -> Vec<f64> {
        let mut rotated = self.rotate(response);
        rotated[..self.rank()].fill(0.0);
        self.rotate_back(&rotated)
    }

    /// Sum of squares that the columns leave of a response.
    pub fn residual_squares(&self, response: &[f64]) -> f64 {
        self.rotate(response)[self.rank()..].iter().map(|v| v * v).sum()
    }

    /// Orthonormal columns that span the same space as the columns kept.
    pub fn basis(&self) -> Vec<Vec<f64>> {
        (0..self.rank())
            .map(|k| {
                let mut unit = vec![0.0; self.rows];
                unit[k] = 1.0;
                self.rotate_back(&unit)
            })
            .collect()
    }

    /// Solves for the coefficients of the kept columns, given the effects of a response.
    pub fn solve(&self, effects: &[f64]) -> Vec<f64> {
        let mut solution = effects[..self.rank()].to_vec();
        for k in (0..self.rank()).rev() {
            let column = &self.rotated[self.kept[k]];
            solution[k] /= column[k];
            let value = solution[k];
            for (s, r) in solution[..k].iter_mut().zip(column) {
                *s -= value * r;
            }
        }
        solution
    }

    /// Weights of the observations in each coefficient of the kept columns.
    pub fn coefficient_weights(&self) -> Vec<Vec<f64>> {
        let rank = self.rank();
        let mut effects = vec![vec![0.0; self.rows]; rank];
        for k in 0..rank {
            let mut unit = vec![0.0; rank];
            unit[k] = 1.0;
            for (own, v) in effects.iter_mut().zip(self.solve(&unit)) {
                own[k] = v;
            }
        }
        effects.iter().map(|own| self.rotate_back(own)).collect()
    }

    /// Solves R'z = w for weights of the kept columns, so that z.z = w'(X'X)^-1 w.
    pub fn solve_transposed(&self, weights: &[f64]) -> Vec<f64> {
        let mut solution = weights[..self.rank()].to_vec();
        for k in 0..self.rank() {
            let column = &self.rotated[self.kept[k]];
            let known: f64 = column[..k].iter().zip(&solution).map(|(r, z)| r * z).sum();
            solution[k] = (solution[k] - known) / column[k];
        }
        solution
    }

    /// Diagonal of the inverse of X'X over the kept columns.
    pub fn unscaled_variances(&self) -> Vec<f64> {
        let rank = self.rank();
        let mut squares = vec![0.0; rank];
        for k in 0..rank {
            let mut unit = vec![0.0; rank];
            unit[k] = 1.0;
            for (sum, v) in squares.iter_mut().zip(self.solve(&unit)) {
                *sum += v * v;
            }
        }
        squares
    }

    /// Pull that an observation with these values of all columns would have on its own fitted value:
    /// x'(X'X)^-1 x. Nothing where the values break the rule by which a column is aliased, by more
    /// than `tolerance`, so that the columns kept cannot tell the fitted value.
    pub fn leverage_of(&self, values: &[f64], tolerance: f64) -> Option<f64> {
        let mut unscaled = Vec::with_capacity(self.rank());
        for (k, &column) in self.kept.iter().enumerate() {
            let own = &self.rotated[column];
            let before: f64 = unscaled.iter().zip(own).map(|(z, r): (&f64, &f64)| z * r).sum();
            unscaled.push((values[column] - before) / own[k]);
        }
        let told = |(column, rotated): (usize, &Vec<f64>)| {
            let expected: f64 = unscaled.iter().zip(rotated).map(|(z, r)| z * r).sum();
            (values[column] - expected).abs() <= tolerance
        };
        let estimable = self.rotated.iter().enumerate().all(told);
        estimable.then(|| unscaled.iter().map(|z| z * z).sum())
    }

    /// All original columns in the rotated basis, each `rank` long: a small matrix with the same
    /// inner products as the tall one.
    pub fn compressed(&self) -> &[Vec<f64>] {
        &self.rotated
    }

    /// Some of those small columns, in another order.
    pub(crate) fn compressed_in(&self, order: &[usize]) -> Result<Columns, StatsError> {
        let columns = order.iter().map(|&column| self.rotated[column].clone()).collect();
        let is_power = |(_, column): &(usize, &usize)| self.powers.contains(column);
        let powers = order.iter().enumerate().filter(is_power).map(|(place, _)| place);
        Ok(Columns::new(columns)?.with_powers(powers))
    }

    fn take(&mut self, index: usize, mut column: Vec<f64>) {
        let length = norm(&column);
        for (k, reflector) in self.reflectors.iter().enumerate() {
            reflect(reflector, &mut column[k..]);
        }
        let rank = self.kept.len();
        let left = if rank < self.rows { norm(&column[rank..]) } else { 0.0 };
        let least = if self.powers.contains(&index) { NEW_POWER } else { NEW_DIRECTION };
        if left > least * length {
            let reflector = reflector_of(&column[rank..], left);
            reflect(&reflector, &mut column[rank..]);
            self.reflectors.push(reflector);
            self.kept.push(index);
            column.truncate(rank + 1);
        } else {
            column.truncate(rank);
        }
        self.rotated.push(column);
    }
}

/// Unit vector whose reflection sends `tail` to a multiple of the first axis.
fn reflector_of(tail: &[f64], length: f64) -> Vec<f64> {
    let mut vector = tail.to_vec();
    let size = (2.0 * length * (length + tail[0].abs())).sqrt();
    vector[0] += length.copysign(tail[0]);
    scale(&mut vector, size.recip());
    vector
}

fn reflect(unit: &[f64], vector: &mut [f64]) {
    let twice = 2.0 * dot(unit, vector);
    subtract(vector, twice, unit);
}

/// Euclidean length; the values of [`Columns`] are small and large enough to be squared.
fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn columns(rows: &[&[f64]]) -> Columns {
        Columns::new(rows.iter().map(|c| c.to_vec()).collect()).unwrap()
    }

    #[test]
    fn the_later_of_two_equal_columns_is_aliased() {
        let matrix =
            columns(&[&[1.0, 1.0, 1.0, 1.0], &[0.0, 1.0, 2.0, 3.0], &[2.0, 4.0, 6.0, 8.0]]);
        assert_eq!(Orthogonal::new(&matrix).kept(), [0, 1]);
    }

    #[test]
    fn a_zero_column_and_a_column_too_many_are_aliased() {
        let matrix = columns(&[&[1.0, 1.0], &[0.0, 0.0], &[1.0, 2.0], &[5.0, 7.0]]);
        assert_eq!(Orthogonal::new(&matrix).kept(), [0, 2]);
    }

    #[test]
    fn a_power_is_kept_however_close_it_comes_but_not_twice() {
        let power = |k: i32| (0..30).map(|i| (100.0 + f64::from(i) / 10.0).powi(k)).collect();
        let columns: Vec<Vec<f64>> = [0, 1, 2, 3, 4, 4].map(power).to_vec();
        let matrix = Columns::new(columns).unwrap();
        assert_eq!(Orthogonal::new(&matrix).rank(), 4);
        let found = Orthogonal::new(&matrix.with_powers(1..6));
        assert_eq!(found.kept(), [0, 1, 2, 3, 4]);
        let turned = found.compressed_in(&[0, 2, 1, 4, 3]).unwrap();
        assert_eq!(Orthogonal::new(&turned).rank(), 5);
    }

    #[test]
    fn ragged_or_infinite_columns_are_refused() {
        assert!(Columns::new(vec![]).is_err());
        assert!(Columns::new(vec![vec![1.0, 2.0], vec![1.0]]).is_err());
        assert!(Columns::new(vec![vec![1.0, f64::NAN]]).is_err());
    }

    proptest! {
        #[test]
        fn residuals_are_orthogonal_to_every_column(
            cells in prop::collection::vec(-10.0..10.0f64, 40),
            response in prop::collection::vec(-10.0..10.0f64, 10),
        ) {
            let matrix = Columns::new(cells.chunks(10).map(<[f64]>::to_vec).collect()).unwrap();
            let decomposition = Orthogonal::new(&matrix);
            let residuals = decomposition.residuals(&response);
            for column in matrix.iter() {
                let dot: f64 = column.iter().zip(&residuals).map(|(a, b)| a * b).sum();
                prop_assert!(dot.abs() < 1e-9);
            }
            let squares: f64 = residuals.iter().map(|r| r * r).sum();
            prop_assert!((squares - decomposition.residual_squares(&response)).abs() < 1e-9);
        }

        #[test]
        fn rotation_is_undone(vector in prop::collection::vec(-1e3..1e3f64, 6)) {
            let matrix = columns(&[&[1.0; 6], &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]]);
            let decomposition = Orthogonal::new(&matrix);
            let back = decomposition.rotate_back(&decomposition.rotate(&vector));
            for (a, b) in back.iter().zip(&vector) {
                prop_assert!((a - b).abs() < 1e-10);
            }
        }
    }
}
