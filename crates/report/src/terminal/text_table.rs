//! Tables as plain text: columns without frames, no spaces at the ends of lines.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

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
    header: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
    numbers: Range<usize>,
}

impl TextTable {
    /// A table of rows alone.
    pub fn plain() -> Self {
        Self { header: None, rows: Vec::new(), numbers: 0..0 }
    }

    /// A table with a name over each column.
    pub fn with_header(names: impl IntoIterator<Item = impl ToString>) -> Self {
        let header = names.into_iter().map(|name| visible_cell(&name)).collect();
        Self { header: Some(header), ..Self::plain() }
    }

    /// Sets the cells of these columns to the right, as numbers read best.
    pub fn numbers_in(mut self, columns: Range<usize>) -> Self {
        self.numbers = columns;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl ToString>) {
        self.rows.push(cells.into_iter().map(|cell| visible_cell(&cell)).collect());
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The header, if there is one, and the rows.
    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        self.header.iter().chain(&self.rows)
    }

    /// Columns of the terminal that each column of the table takes.
    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for line in self.lines() {
            widths.resize(widths.len().max(line.len()), 0);
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.width().max(*width);
            }
        }
        widths
    }
}

/// A cell stays in its line and in its column, whatever a file or program put into it.
fn visible_cell(cell: &impl ToString) -> String {
    let text = cell.to_string();
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text;
    }
    super::visible(&text).replace('\n', "\\n").replace('\t', "\\t")
}

impl fmt::Display for TextTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let mut text = String::new();
        for line in self.lines() {
            text.clear();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let room = width - cell.width();
                let before = if self.numbers.contains(&column) { room } else { 0 };
                text.extend(std::iter::repeat_n(' ', before + 1));
                text.push_str(cell);
                text.extend(std::iter::repeat_n(' ', room - before + 1));
            }
            writeln!(out, "{}", text.trim_end())?;
        }
        Ok(())
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

    #[test]
    fn wide_letters_and_short_rows_keep_their_columns() {
        let mut table = TextTable::with_header(["名前", "n", "note"]);
        table.row(["ab", "1"]);
        table.row(["é", "22", "x"]);
        assert_eq!(table.to_string(), " 名前  n   note\n ab    1\n é     22  x\n");
        assert_eq!(TextTable::plain().to_string(), "");
    }
}
