//! The Cholesky factor of a symmetric positive definite matrix, kept as packed rows, which grows
//! by a row at a time without being made anew.

/// Sums kept side by side, so that no addition waits for the one before.
const STRANDS: usize = 4;

/// A lower triangular matrix L with L L' equal to the matrix that was factored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cholesky {
    size: usize,
    /// Rows one after the other, each up to its diagonal.
    packed: Vec<f64>,
}

impl Cholesky {
    /// Factors a matrix given as the packed rows of its lower half; nothing where the matrix is
    /// not positive definite.
    pub fn of(matrix: &[f64]) -> Option<Self> {
        let mut own = Self { size: 0, packed: Vec::with_capacity(matrix.len()) };
        let (mut start, mut length) = (0, 1);
        while start < matrix.len() {
            let row = &matrix[start..start + length];
            own.extend(&row[..length - 1], row[length - 1])?;
            start += length;
            length += 1;
        }
        Some(own)
    }

    /// Adds the last row of a larger matrix: its products with the rows before, and its diagonal.
    /// Nothing changes where the larger matrix is not positive definite.
    pub fn extend(&mut self, row: &[f64], diagonal: f64) -> Option<()> {
        let begin = self.packed.len();
        self.packed.extend_from_slice(row);
        for column in 0..self.size {
            let above = self.row_start(column);
            let known =
                dot(&self.packed[above..above + column], &self.packed[begin..begin + column]);
            let pivot = self.packed[above + column];
            self.packed[begin + column] = (self.packed[begin + column] - known) / pivot;
        }
        let own = &self.packed[begin..];
        let rest = diagonal - dot(own, own);
        if rest.is_nan() || rest <= 0.0 {
            self.packed.truncate(begin);
            return None;
        }
        self.packed.push(rest.sqrt());
        self.size += 1;
        Some(())
    }

    /// Rows of the matrix.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Row of the factor, up to its diagonal.
    pub fn row(&self, index: usize) -> &[f64] {
        let start = self.row_start(index);
        &self.packed[start..=start + index]
    }

    /// The logarithm of the determinant of the matrix that was factored.
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.size).map(|row| self.row(row)[row].ln()).sum::<f64>()
    }

    /// Solves L x = b in place.
    pub fn solve_lower(&self, vector: &mut [f64]) {
        for index in 0..self.size {
            let row = self.row(index);
            let known = dot(&row[..index], &vector[..index]);
            vector[index] = (vector[index] - known) / row[index];
        }
    }

    /// Solves L' x = b in place.
    pub fn solve_upper(&self, vector: &mut [f64]) {
        for index in (0..self.size).rev() {
            let row = self.row(index);
            let value = vector[index] / row[index];
            vector[index] = value;
            for (other, factor) in vector[..index].iter_mut().zip(row) {
                *other -= factor * value;
            }
        }
    }

    /// Solves A x = b for the matrix A that was factored, in place.
    pub fn solve(&self, vector: &mut [f64]) {
        self.solve_lower(vector);
        self.solve_upper(vector);
    }

    /// The packed rows of the lower half of the inverse of the matrix that was factored.
    pub fn inverse(&self) -> Vec<f64> {
        let size = self.size;
        // Row i of `inverted` is column i of the inverse of L, from its diagonal on.
        let mut inverted: Vec<Vec<f64>> = Vec::with_capacity(size);
        for column in 0..size {
            let mut own = vec![0.0; size - column];
            own[0] = 1.0 / self.row(column)[column];
            for index in column + 1..size {
                let row = self.row(index);
                let known = dot(&row[column..index], &own[..index - column]);
                own[index - column] = -known / row[index];
            }
            inverted.push(own);
        }
        let mut packed = Vec::with_capacity(self.packed.len());
        for (row, long) in inverted.iter().enumerate() {
            for (column, other) in inverted[..=row].iter().enumerate() {
                packed.push(dot(long, &other[row - column..]));
            }
        }
        packed
    }

    fn row_start(&self, index: usize) -> usize {
        index * (index + 1) / 2
    }
}

/// Inner product of two columns of equal length.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut strands = [0.0; STRANDS];
    let (left, right) = (a.chunks_exact(STRANDS), b.chunks_exact(STRANDS));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for lane in 0..STRANDS {
            strands[lane] += x[lane] * y[lane];
        }
    }
    strands.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use trainwright_random::Random;

    use super::*;

    /// A positive definite matrix and its packed lower half.
    fn matrix(size: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut random = Random::new(seed);
        let root: Vec<Vec<f64>> =
            (0..size).map(|_| (0..size).map(|_| random.unit() - 0.5).collect()).collect();
        let entry = |a: usize, b: usize| -> f64 {
            let ridge = if a == b { 0.1 } else { 0.0 };
            root[a].iter().zip(&root[b]).map(|(x, y)| x * y).sum::<f64>() + ridge
        };
        let full: Vec<Vec<f64>> =
            (0..size).map(|a| (0..size).map(|b| entry(a, b)).collect()).collect();
        let packed = (0..size).flat_map(|a| full[a][..=a].to_vec()).collect();
        (full, packed)
    }

    /// Determinant by elimination, the slow obvious way.
    fn determinant(mut rows: Vec<Vec<f64>>) -> f64 {
        let mut product = 1.0;
        for pivot in 0..rows.len() {
            product *= rows[pivot][pivot];
            let (above, below) = rows.split_at_mut(pivot + 1);
            let leading = &above[pivot];
            for row in below {
                let factor = row[pivot] / leading[pivot];
                row.iter_mut()
                    .zip(leading)
                    .skip(pivot)
                    .for_each(|(own, lead)| *own -= factor * lead);
            }
        }
        product
    }

    #[test]
    fn the_factor_times_itself_is_the_matrix() {
        for size in [1, 2, 7, 8, 9, 20] {
            let (full, packed) = matrix(size, 3);
            let own = Cholesky::of(&packed).unwrap();
            for (a, row) in full.iter().enumerate() {
                for (b, entry) in row.iter().enumerate().take(a + 1) {
                    let product: f64 = own.row(a).iter().zip(own.row(b)).map(|(x, y)| x * y).sum();
                    assert!((product - entry).abs() < 1e-12, "{size}: {a} {b}");
                }
            }
            let expected = determinant(full).ln();
            assert!((own.log_determinant() - expected).abs() < 1e-9, "{size}");
        }
    }

    #[test]
    fn solutions_and_the_inverse_undo_the_matrix() {
        let (full, packed) = matrix(13, 5);
        let own = Cholesky::of(&packed).unwrap();
        let wanted: Vec<f64> = (0..13).map(f64::from).collect();
        let times = |x: &[f64]| -> Vec<f64> { full.iter().map(|row| dot(row, x)).collect() };
        let mut solved = times(&wanted);
        own.solve(&mut solved);
        assert!(solved.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{solved:?}");
        let inverse = own.inverse();
        for row in 0..13 {
            let at = |column: usize| {
                let (low, high) = (row.min(column), row.max(column));
                inverse[high * (high + 1) / 2 + low]
            };
            let product = times(&(0..13).map(at).collect::<Vec<_>>());
            for (column, value) in product.iter().enumerate() {
                let expected = if column == row { 1.0 } else { 0.0 };
                assert!((value - expected).abs() < 1e-9, "{row} {column}: {value}");
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert_eq!(Cholesky::of(&[1.0, 2.0, 1.0]), None);
        assert_eq!(Cholesky::of(&[f64::NAN]), None);
        let mut own = Cholesky::of(&[4.0]).unwrap();
        let before = own.clone();
        assert!(own.extend(&[4.0], 3.0).is_none());
        assert_eq!(own, before, "a row that does not fit changes nothing");
    }
}
