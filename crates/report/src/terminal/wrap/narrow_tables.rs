//! Tables wider than the terminal: cells are broken inside their own column, so that figures still
//! stand below their heading; what does not fit even so follows below, with the first column again.
//!
//! Tables arrive as text, as [`TextTable`](crate::terminal::TextTable) wrote them: a blank before
//! each line, two blanks at least between columns.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between columns.
const GAP: usize = 2;
/// Columns of the terminal that names keep, if they ever had as many.
const LEAST: usize = 12;

/// Whether a line may belong to a table.
pub(super) fn is_row(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.len() > 1 && bytes[0] == b' ' && bytes[1] != b' ' && !line.chars().any(char::is_control)
}

/// The lines of a table in at most `width` columns; nothing where that cannot be, or where they are
/// no table.
pub(super) fn narrowed(lines: &[&str], width: usize) -> Option<String> {
    let table = columns_of(lines);
    if lines.len() < 2 || table.len() < 2 {
        return None;
    }
    let mut out = String::new();
    let mut rest: Vec<&Column<'_>> = table[1..].iter().collect();
    while !rest.is_empty() {
        let group = |count: usize| -> Vec<&Column<'_>> {
            std::iter::once(&table[0]).chain(rest[..count].iter().copied()).collect()
        };
        let fits = |count: &usize| widths(&group(*count), width).is_some();
        let count = (1..=rest.len()).rev().find(fits)?;
        let group = group(count);
        put(&mut out, &group, &widths(&group, width)?);
        rest.drain(..count);
    }
    Some(out)
}

/// A column: the cell of every line, without blanks around it.
struct Column<'a> {
    cells: Vec<&'a str>,
    /// Figures end below each other and are never broken; their heading may be.
    is_figures: bool,
}

impl Column<'_> {
    fn widest(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).max().unwrap_or(0)
    }

    /// The width below which what belongs together would be cut.
    fn whole(&self) -> usize {
        // All but the first piece may stand one column in.
        let wide = |(place, piece): (usize, &str)| {
            piece.trim_end().width() + usize::from(place > 0 && !self.is_figures)
        };
        let longest = |cell: &str| pieces(cell).enumerate().map(wide).max().unwrap_or(0);
        let own = |(line, cell): (usize, &&str)| match self.is_figures && line > 0 {
            true => cell.width(),
            false => longest(cell),
        };
        self.cells.iter().enumerate().map(own).max().unwrap_or(0)
    }

    /// A cell in lines; of words all but the first line stand one column in.
    fn broken(&self, line: usize, width: usize) -> Vec<String> {
        let mut lines = vec![String::new()];
        let indent = if self.is_figures { "" } else { " " };
        let mut used = 0;
        for piece in pieces(self.cells[line]) {
            if used > 0 && used + piece.trim_end().width() > width {
                lines.push(indent.to_owned());
                used = indent.len();
            }
            for letter in piece.chars() {
                let own = letter.width().unwrap_or(0);
                if used + own > width {
                    // The blank between two words ends with the line.
                    if letter == ' ' {
                        continue;
                    }
                    lines.push(indent.to_owned());
                    used = indent.len();
                }
                lines.last_mut().expect("there is a line from the start").push(letter);
                used += own;
            }
        }
        lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
        lines
    }
}

/// Columns stand where at least two blanks in every line part them.
fn columns_of<'a>(lines: &[&'a str]) -> Vec<Column<'a>> {
    let mut is_used: Vec<bool> = Vec::new();
    for line in lines {
        is_used.resize(is_used.len().max(line.width()), false);
        for (letter, at) in places(line) {
            let end = at.start + letter.width().unwrap_or(0);
            is_used[at.start..end].iter_mut().for_each(|own| *own |= letter != ' ');
        }
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in (0..is_used.len()).filter(|&at| is_used[at]) {
        match ranges.last_mut().filter(|own| at - own.end < GAP) {
            Some(own) => own.end = at + 1,
            None => ranges.push(at..at + 1),
        }
    }
    ranges.iter().enumerate().map(|(index, range)| column(lines, range, index > 0)).collect()
}

fn column<'a>(lines: &[&'a str], range: &Range<usize>, may_be_figures: bool) -> Column<'a> {
    let mut is_figures = may_be_figures;
    let cells = lines.iter().map(|line| {
        let mut bytes: Option<Range<usize>> = None;
        let mut end = range.end;
        // A mark above the last letter takes no room and stands at the end.
        let inside = |at: &Range<usize>| (range.start..=range.end).contains(&at.start);
        for ((letter, at), (byte, _)) in places(line).zip(line.char_indices()) {
            if inside(&at) && letter != ' ' {
                let from = bytes.as_ref().map_or(byte, |own| own.start);
                bytes = Some(from..byte + letter.len_utf8());
                end = at.start + letter.width().unwrap_or(0);
            }
        }
        is_figures &= end == range.end;
        &line[bytes.unwrap_or(0..0)]
    });
    let cells = cells.collect();
    Column { cells, is_figures }
}

/// Every letter with the column of the terminal at which it begins.
fn places(line: &str) -> impl Iterator<Item = (char, Range<usize>)> {
    let mut next = 0;
    line.chars().map(move |letter| {
        let start = next;
        next += letter.width().unwrap_or(0);
        (letter, start..next)
    })
}

/// Widths that fit: headings of figures give way first, then names between words, then anywhere.
fn widths(group: &[&Column<'_>], width: usize) -> Option<Vec<usize>> {
    let room = width.checked_sub(1 + GAP * (group.len() - 1))?;
    let mut widths: Vec<usize> = group.iter().map(|own| own.widest()).collect();
    let whole: Vec<usize> = group.iter().map(|own| own.whole()).collect();
    let cut: Vec<usize> = whole.iter().map(|own| (*own).min(LEAST)).collect();
    let kinds: [(bool, &[usize]); 3] = [(true, &whole), (false, &whole), (false, &cut)];
    for (is_figures, floor) in kinds {
        while widths.iter().sum::<usize>() > room {
            let may_shrink =
                |at: &usize| group[*at].is_figures == is_figures && widths[*at] > floor[*at];
            let Some(at) = (0..group.len()).filter(may_shrink).max_by_key(|&at| widths[at]) else {
                break;
            };
            widths[at] -= 1;
        }
    }
    (widths.iter().sum::<usize>() <= room).then_some(widths)
}

fn put(out: &mut String, group: &[&Column<'_>], widths: &[usize]) {
    for line in 0..group[0].cells.len() {
        let cells: Vec<Vec<String>> =
            group.iter().zip(widths).map(|(own, width)| own.broken(line, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for part in 0..height {
            let begin = out.len();
            for ((own, cell), width) in group.iter().zip(&cells).zip(widths) {
                let text = cell.get(part).map_or("", String::as_str);
                let room = width - text.width();
                let before = if own.is_figures { room } else { 0 };
                out.extend(std::iter::repeat_n(
                    ' ',
                    before + if out.len() == begin { 1 } else { GAP },
                ));
                out.push_str(text);
                out.extend(std::iter::repeat_n(' ', room - before));
            }
            out.truncate(begin + out[begin..].trim_end().len());
            out.push('\n');
        }
    }
}

/// Words, and the factors of a term, each with what parts it from the next.
fn pieces(cell: &str) -> impl Iterator<Item = &str> {
    cell.split_inclusive([' ', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, table: &[&str], expected: &[&str]) {
        let found = narrowed(table, width).expect("the table fits");
        assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn names_are_broken_in_their_column_and_figures_stay_below_their_heading() {
        check(
            26,
            &[
                " term          sum of sq      p",
                " lr               0.2248  7e-21",
                " lr:optimizer     0.0036  0.012",
            ],
            &[
                " term        sum of      p",
                "                 sq",
                " lr          0.2248  7e-21",
                " lr:         0.0036  0.012",
                "  optimizer",
            ],
        );
    }

    #[test]
    fn figures_that_do_not_fit_follow_below_with_the_names_again() {
        check(
            22,
            &[" name     first   second   third", " a     100.0001  2.00000  3.0001"],
            &[
                " name     first",
                " a     100.0001",
                " name   second   third",
                " a     2.00000  3.0001",
            ],
        );
    }

    #[test]
    fn wide_letters_take_their_room() {
        check(
            22,
            &[" 名前                    n", " 学習率の初期値と最終値  1"],
            &[" 名前                n", " 学習率の初期値と最  1", "  終値"],
        );
    }

    #[test]
    fn prose_is_no_table() {
        assert!(!is_row("no blank") && !is_row("  two") && !is_row(" \u{1b}[1m") && is_row(" a"));
        assert_eq!(narrowed(&[" one line  alone"], 20), None);
        assert_eq!(narrowed(&[" words in a row", " and below it"], 20), None);
    }
}
