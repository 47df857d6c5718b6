//! A table of numbers, kept column by column.

/// Rows of the same width.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    columns: Vec<Vec<f64>>,
    rows: usize,
}

impl Rows {
    /// These rows.
    ///
    /// # Panics
    /// Where rows differ in width.
    pub fn new(rows: Vec<Vec<f64>>) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|row| row.len() == width), "rows have one width");
        let column = |at: usize| rows.iter().map(|row| row[at]).collect();
        Self { columns: (0..width).map(column).collect(), rows: rows.len() }
    }

    /// How many rows there are.
    #[expect(clippy::len_without_is_empty, reason = "a forest refuses an empty table")]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// How many numbers each row has.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn column(&self, at: usize) -> &[f64] {
        &self.columns[at]
    }

    pub(super) fn at(&self, row: u32, column: usize) -> f64 {
        self.columns[column][row as usize]
    }
}
