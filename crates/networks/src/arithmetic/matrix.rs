//! Matrix products over slices; the only place that calls `gemm`, of which the part for `f32` is
//! all that is needed.
//!
//! A product's bits depend on its shape, because `gemm` picks its blocks by it. Whoever shares a
//! product among threads therefore cuts it by shape alone; each piece is computed by one thread.

use std::ops::Range;

use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;

use crate::threads::blocks::Block;

/// A row-major matrix, possibly read as its transpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

/// What a product does with the values that its output holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// They are overwritten.
    Replace,
    /// The product is added to them.
    Add,
}

impl<'a> Matrix<'a> {
    /// The matrix of `rows` rows that `values` holds one after another.
    pub(crate) fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "a {rows} x {columns} matrix has other values");
        Self { values, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Some of the columns.
    pub(crate) fn columns(self, range: Range<usize>) -> Self {
        assert!(range.start < range.end && range.end <= self.columns, "columns {range:?} exist");
        let values = &self.values[range.start * self.column_stride..];
        Self { values, columns: range.len(), ..self }
    }

    /// The same values with rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Self {
            values: self.values,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// Computes `left * right` into the row-major `output`.
pub(crate) fn multiply(left: Matrix<'_>, right: Matrix<'_>, output: &mut [f32], into: Writing) {
    multiply_into(left, right, &mut Block::whole(output, right.columns), into);
}

/// The product that layers compute, of two row-major squares of `side` rows; for whoever measures
/// how fast the processor does it.
///
/// # Panics
/// When a slice does not hold `side * side` values.
pub fn square_product(left: &[f32], right: &[f32], output: &mut [f32], side: usize) {
    let square = |values| Matrix::new(values, side, side);
    multiply(square(left), square(right), output, Writing::Replace);
}

/// Computes `left * right` into a block.
pub(crate) fn multiply_into(
    left: Matrix<'_>,
    right: Matrix<'_>,
    output: &mut Block<'_>,
    into: Writing,
) {
    let (m, n, k) = (left.rows, right.columns, left.columns);
    assert_eq!(k, right.rows, "inner dimensions of a product agree");
    let size = (output.rows().len(), output.columns().len());
    assert_eq!(size, (m, n), "the output of a product is {m} x {n}");
    let (first, row_stride) = output.address();
    // Its kernels write columns: rows are the columns of the transposed product.
    let (left, right, m, n, column_stride, row_stride) = if row_stride > 1 {
        (right.transposed(), left.transposed(), n, m, row_stride, 1)
    } else {
        (left, right, m, n, 1, row_stride)
    };
    // SAFETY: `Matrix`, `Block` and the assertions above keep every index that `gemm` forms from
    // these sizes and strides inside the operands and the block, and the block is borrowed
    // mutably, so that it overlaps neither operand.
    unsafe {
        get_gemm_fn()(
            m,
            n,
            k,
            first,
            column_stride as isize,
            row_stride as isize,
            into == Writing::Add,
            left.values.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.values.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            1.0_f32,
            1.0_f32,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::initial_weights::test_values as values;

    /// The product from its definition, in `f64`.
    fn slow(left: Matrix<'_>, right: Matrix<'_>, row: usize, column: usize) -> f64 {
        (0..left.columns)
            .map(|inner| {
                let a = left.values[row * left.row_stride + inner * left.column_stride];
                let b = right.values[inner * right.row_stride + column * right.column_stride];
                f64::from(a) * f64::from(b)
            })
            .sum()
    }

    proptest! {
        #[test]
        fn products_agree_with_the_definition(
            (m, n, k) in (1..40_usize, 1..40_usize, 1..70_usize), flip: [bool; 2], add: bool,
        ) {
            let (a, b) = (values(m * k, 1), values(k * n, 2));
            let shaped = |values, rows, columns, flip| match flip {
                true => Matrix::new(values, columns, rows).transposed(),
                false => Matrix::new(values, rows, columns),
            };
            let (a, b) = (shaped(&a, m, k, flip[0]), shaped(&b, k, n, flip[1]));
            let before = values(m * n, 3);
            let mut output = before.clone();
            multiply(a, b, &mut output, if add { Writing::Add } else { Writing::Replace });
            for (index, &found) in output.iter().enumerate() {
                let held = if add { f64::from(before[index]) } else { 0.0 };
                let expected = held + slow(a, b, index / n, index % n);
                // At most 70 roundings of sums below 70: 70 * 70 * 2^-24.
                prop_assert!((f64::from(found) - expected).abs() < 3e-4);
            }
        }
    }

    #[test]
    fn columns_are_those_of_the_whole() {
        let (a, b) = (values(5 * 9, 1), values(4 * 5, 2));
        let (a, b) = (Matrix::new(&a, 5, 9), Matrix::new(&b, 4, 5));
        let mut output = vec![0.0; 4 * 3];
        multiply(b, a.columns(6..9), &mut output, Writing::Replace);
        for (index, &found) in output.iter().enumerate() {
            let expected = slow(b, a, index / 3, 6 + index % 3);
            assert!((f64::from(found) - expected).abs() < 1e-6);
        }
    }
}
