//! The triangular factor of a matrix with many rows, block by block.
//!
//! Each block is reduced against the triangle so far by Householder reflections (Demmel, Grigori,
//! Hoemmen and Langou, SIAM Journal on Scientific Computing 34, 2012), so a million rows need
//! the memory of one block. Inner products of columns are those of the whole matrix; normal
//! equations are never formed.

use crate::linear_algebra::lanes::{dot, scale, subtract};

/// Triangular factor of the rows seen so far.
///
/// ```
/// use trainwright_stats::Tall;
///
/// let mut tall = Tall::new(2);
/// tall.add(&mut [1.0, 1.0, 3.0, 4.0], 2);
/// tall.add(&mut [1.0, 5.0], 1);
/// let columns = tall.columns();
/// let product: f64 = columns[0].iter().zip(&columns[1]).map(|(a, b)| a * b).sum();
/// assert!((product - 12.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tall {
    width: usize,
    /// Column by column, each `width` long; zero below the diagonal.
    triangle: Vec<f64>,
}

impl Tall {
    /// No rows yet, of this many columns.
    pub fn new(width: usize) -> Self {
        Self { width, triangle: vec![0.0; width * width] }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Takes in a block of rows, held column by column; its values are used up.
    ///
    /// # Panics
    /// If the block does not hold `rows` values for every column.
    pub fn add(&mut self, block: &mut [f64], rows: usize) {
        assert_eq!(block.len(), rows * self.width, "a block holds `rows` values a column");
        for k in 0..self.width {
            self.eliminate(k, block, rows);
        }
    }

    /// Takes in columns of equal length.
    pub fn add_columns(&mut self, columns: &[Vec<f64>]) {
        let rows = columns.first().map_or(0, Vec::len);
        self.add(&mut columns.concat(), rows);
    }

    /// Adds columns that were zero in all rows so far.
    pub fn widen(&mut self, width: usize) {
        let mut triangle = vec![0.0; width * width];
        for column in 0..self.width {
            let own = &self.triangle[column * self.width..(column + 1) * self.width];
            triangle[column * width..column * width + self.width].copy_from_slice(own);
        }
        self.width = width;
        self.triangle = triangle;
    }

    /// The columns of the triangle, each as long as there are columns.
    pub fn columns(&self) -> Vec<Vec<f64>> {
        self.triangle.chunks(self.width.max(1)).map(<[f64]>::to_vec).collect()
    }

    /// Reflects column `k` of the block into the diagonal.
    fn eliminate(&mut self, k: usize, block: &mut [f64], rows: usize) {
        let width = self.width;
        let (left, right) = block.split_at_mut((k + 1) * rows);
        let own = &mut left[k * rows..];
        let squares = dot(own, own);
        if squares == 0.0 {
            return;
        }
        let alpha = self.triangle[k * width + k];
        let length = (alpha * alpha + squares).sqrt();
        let beta = if alpha > 0.0 { -length } else { length };
        let first = alpha - beta;
        scale(own, first.recip());
        let tau = -first / beta;
        self.triangle[k * width + k] = beta;
        for (column, values) in (k + 1..width).zip(right.chunks_exact_mut(rows)) {
            let above = &mut self.triangle[column * width + k];
            let share = tau * (*above + dot(own, values));
            *above -= share;
            subtract(values, share, own);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_keep_the_inner_products_of_the_whole(
            values in prop::collection::vec(-10.0..10.0f64, 3 * 40), cut in 1..39usize,
        ) {
            let columns: Vec<&[f64]> = values.chunks(40).collect();
            let mut tall = Tall::new(2);
            for (part, width) in [(0..cut, 2), (cut..40, 3)] {
                tall.widen(width);
                let mut block: Vec<f64> =
                    columns[..width].iter().flat_map(|c| c[part.clone()].to_vec()).collect();
                tall.add(&mut block, part.len());
            }
            let found = tall.columns();
            for i in 0..3 {
                prop_assert!(found[i][i + 1..].iter().all(|v| *v == 0.0));
                for j in 0..3 {
                    // The third column was absent from the first part.
                    let from = if i == 2 || j == 2 { cut } else { 0 };
                    let expected = dot(&columns[i][from..], &columns[j][from..]);
                    prop_assert!((dot(&found[i], &found[j]) - expected).abs() < 1e-9);
                }
            }
        }
    }
}
