//! A matrix cut into blocks that the threads of a team write to, each block by one of them.

use std::marker::PhantomData;
use std::ops::Range;

use crate::threads::parts::Claims;

/// A row-major matrix whose blocks can be taken through a shared reference, each once.
pub(crate) struct Blocks<'a> {
    whole: Block<'a>,
    /// Rows and columns of a block; the last ones may be smaller.
    size: (usize, usize),
    claims: Claims,
}

/// Some columns of some rows of a row-major matrix.
pub(crate) struct Block<'a> {
    first: *mut f32,
    rows: Range<usize>,
    columns: Range<usize>,
    row_stride: usize,
    borrowed: PhantomData<&'a mut [f32]>,
}

// SAFETY: a block is handed out once, so that threads never share a number; they only share the
// atomic bits of the claims.
unsafe impl Sync for Blocks<'_> {}

impl<'a> Blocks<'a> {
    /// The blocks, of up to `size` rows and columns, of a matrix with this many columns.
    pub(crate) fn new(values: &'a mut [f32], columns: usize, size: (usize, usize)) -> Self {
        let mut blocks =
            Self { whole: Block::whole(values, columns), size, claims: Claims::new(0) };
        blocks.claims = Claims::new(blocks.count());
        blocks
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.whole.rows.end.div_ceil(self.size.0) * self.across()
    }

    /// Takes a block; they are numbered row by row.
    ///
    /// # Panics
    /// When it was taken before or does not exist.
    pub(crate) fn take(&self, block: usize) -> Block<'_> {
        assert!(block < self.count(), "block {block} exists");
        self.claims.claim(block);
        let stretch =
            |index: usize, length: usize, end: usize| index * length..end.min((index + 1) * length);
        let rows = stretch(block / self.across(), self.size.0, self.whole.rows.end);
        let columns = stretch(block % self.across(), self.size.1, self.whole.columns.end);
        let row_stride = self.whole.row_stride;
        // SAFETY: both ranges begin inside the matrix, which was borrowed for `'a`.
        let first = unsafe { self.whole.first.add(rows.start * row_stride + columns.start) };
        Block { first, rows, columns, row_stride, borrowed: PhantomData }
    }

    /// Blocks beside each other.
    fn across(&self) -> usize {
        self.whole.columns.end.div_ceil(self.size.1)
    }
}

impl<'a> Block<'a> {
    /// All of a matrix with this many columns.
    pub(crate) fn whole(values: &'a mut [f32], columns: usize) -> Self {
        let rows = values.len() / columns;
        assert_eq!(values.len(), rows * columns, "a matrix of {columns} columns has whole rows");
        let first = values.as_mut_ptr();
        Self {
            first,
            rows: 0..rows,
            columns: 0..columns,
            row_stride: columns,
            borrowed: PhantomData,
        }
    }

    /// Which rows of the matrix it has.
    #[inline(always)]
    pub(crate) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Which columns of the matrix it has.
    #[inline(always)]
    pub(crate) fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// The block's part of a row of its own, counted from its first.
    #[inline(always)]
    pub(crate) fn row(&mut self, row: usize) -> &mut [f32] {
        assert!(row < self.rows.len(), "row {row} is in the block");
        // SAFETY: the row is one of the block's, whose numbers nobody else has, and the result
        // borrows the block mutably, so that rows are lent one at a time.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.first.add(row * self.row_stride),
                self.columns.len(),
            )
        }
    }

    /// Its rows one after another.
    #[inline(always)]
    pub(crate) fn each_row(&mut self, mut work: impl FnMut(&mut [f32])) {
        for row in 0..self.rows.len() {
            work(self.row(row));
        }
    }

    /// The address of its first number, and the numbers from a row to the next.
    pub(crate) fn address(&mut self) -> (*mut f32, usize) {
        (self.first, self.row_stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_matrix_row_by_row() {
        let mut values: Vec<f32> = (0..15).map(|it| it as f32).collect();
        let blocks = Blocks::new(&mut values, 5, (2, 3));
        assert_eq!(blocks.count(), 4);
        let mut found = Vec::new();
        for block in 0..4 {
            blocks.take(block).each_row(|row| found.push(row.to_vec()));
        }
        let rows: [&[f32]; 6] = [
            &[0.0, 1.0, 2.0],
            &[5.0, 6.0, 7.0],
            &[3.0, 4.0],
            &[8.0, 9.0],
            &[10.0, 11.0, 12.0],
            &[13.0, 14.0],
        ];
        assert_eq!(found, rows);
    }

    #[test]
    #[should_panic(expected = "part 1 is taken once")]
    fn a_block_is_not_handed_out_twice() {
        let mut values = [0.0; 4];
        let blocks = Blocks::new(&mut values, 2, (1, 2));
        blocks.take(1);
        blocks.take(1);
    }

    #[test]
    #[should_panic(expected = "block 2 exists")]
    fn a_block_beyond_the_end_is_refused() {
        Blocks::new(&mut [0.0; 4], 2, (1, 2)).take(2);
    }

    #[test]
    #[should_panic(expected = "row 1 is in the block")]
    fn a_row_beyond_the_block_is_refused() {
        Blocks::new(&mut [0.0; 4], 2, (1, 2)).take(0).row(1);
    }
}
