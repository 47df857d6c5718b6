//! Tables as plain text: columns without frames, no spaces at the ends of lines.

use std::fmt;
use std::ops::Range;

use comfy_table::{CellAlignment, Table, presets};

/// A table in the making; it is shown with `to_string`.
///
/// ```
/// use trainwright_report::terminal::TextTable;
///
/// let mut table = TextTable::with_header(["name", "n"]).numbers_in(1..2);
/// table.row(["first", "12"]);
/// assert_eq!(table.to_string(), " name    n\n first  12\n");
/// ```
#[derive(Debug)]
pub struct TextTable {
    table: Table,
    numbers: Range<usize>,
}

impl TextTable {
    /// A table of rows alone.
    pub fn plain() -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        Self { table, numbers: 0..0 }
    }

    /// A table with a name over each column.
    pub fn with_header(names: impl IntoIterator<Item = impl ToString>) -> Self {
        let mut own = Self::plain();
        own.table.set_header(names.into_iter().map(|name| visible_cell(&name)));
        own
    }

    /// Sets the cells of these columns to the right, as numbers read best.
    pub fn numbers_in(mut self, columns: Range<usize>) -> Self {
        self.numbers = columns;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl ToString>) {
        self.table.add_row(cells.into_iter().map(|cell| visible_cell(&cell)));
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

/// A cell stays in its line and in its column, whatever a file or program put into it.
fn visible_cell(cell: &impl ToString) -> String {
    super::visible(&cell.to_string()).replace('\n', "\\n").replace('\t', "\\t")
}

impl fmt::Display for TextTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = self.table.clone();
        for column in self.numbers.clone() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_spaces() {
        let mut table = TextTable::with_header(["a", "long name"]);
        table.row(["something", ""]);
        table.row(["b", "2"]);
        assert_eq!(table.to_string(), " a          long name\n something\n b          2\n");
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let mut table = TextTable::plain().numbers_in(1..2);
        table.row(["a", "1"]);
        table.row(["b", "100"]);
        assert_eq!(table.to_string(), " a    1\n b  100\n");
    }

    #[test]
    fn a_cell_cannot_break_its_line_or_reach_the_terminal() {
        let mut table = TextTable::plain();
        table.row(["one\ntwo\tthree", "\x1b[31mred"]);
        assert_eq!(table.to_string(), " one\\ntwo\\tthree  \\e[31mred\n");
        assert!(TextTable::plain().is_empty() && !table.is_empty());
    }
}
