//! HTML tables that scroll inside their own box and can be sorted.

use std::fmt::Write;
use trainwright_analysis::wording::percent;

use crate::escape::escape;
use crate::figure::{figure, p_value};

/// Rows from which a table scrolls up and down in its box.
const TALL_ROWS: usize = 25;

/// Letters beyond which a cell of text takes several lines.
const LONG: usize = 40;

/// The title of a cell without a value; `report.js` knows it too.
const MISSING: &str = "not available";

/// By what a cell is sorted; what is missing stays last whichever way the others go.
#[derive(Debug, Clone, PartialEq)]
pub enum SortKey {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Nothing.
    Missing,
}

impl SortKey {
    /// The order of two cells.
    pub fn order(&self, other: &Self, descending: bool) -> std::cmp::Ordering {
        use std::cmp::Ordering;
        let order = match (self, other) {
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, Self::Missing) => return Ordering::Less,
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        };
        if descending { order.reverse() } else { order }
    }
}

/// A table under construction.
pub(crate) struct Table {
    label: String,
    sorting: Sorting,
    head: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// Whether a click on a header sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sorting {
    /// By any column.
    ByHeader,
    /// The order has a meaning of its own.
    Fixed,
}

/// One cell, already escaped; sorting goes by the title where there is one.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    markup: String,
    class: &'static str,
    title: Option<String>,
}

impl Table {
    /// An empty table with a name for those who cannot see it.
    pub(crate) fn new(label: &str, sorting: Sorting, head: &[&str]) -> Self {
        let head = head.iter().map(|&text| text.to_owned()).collect();
        Self { label: label.to_owned(), sorting, head, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.head.len(), "a cell a column");
        self.rows.push(row);
    }

    /// The markup; a column of numbers is aligned to the right.
    pub(crate) fn html(&self) -> String {
        let mut out = String::new();
        let label = escape(&self.label);
        let tall = if self.rows.len() > TALL_ROWS { " tall" } else { "" };
        let sortable = if self.sorting == Sorting::ByHeader { " data-sortable" } else { "" };
        let _ = write!(
            out,
            "<div class=\"scroll{tall}\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\
             <table{sortable}><thead><tr>"
        );
        for (column, head) in self.head.iter().enumerate() {
            let numeric = self.rows.first().is_some_and(|row| row[column].class.contains("num"));
            let class = if numeric { " class=\"num\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(head));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            row.iter().for_each(|cell| cell.write(&mut out));
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }
}

impl Cell {
    /// Plain text; a long one takes several lines, so that what stands beside it is in sight.
    pub(crate) fn text(text: &str) -> Self {
        let class = if text.chars().count() > LONG { "long" } else { "" };
        Self { class, ..Self::markup(escape(text).to_string()) }
    }

    /// Markup that the caller has escaped.
    pub(crate) fn markup(markup: String) -> Self {
        Self { markup, class: "", title: None }
    }

    /// A whole number.
    pub(crate) fn count(number: usize) -> Self {
        Self { class: "num", ..Self::markup(number.to_string()) }
    }

    /// A number with few digits; the full ones appear on hovering.
    pub(crate) fn number(value: f64) -> Self {
        Self::shown(figure(value), value)
    }

    /// A number in words of the caller's choice, sorted by its value.
    pub(crate) fn shown(text: String, value: f64) -> Self {
        Self { markup: escape(&text).to_string(), class: "num", title: Some(value.to_string()) }
    }

    /// A number that may be undefined.
    pub(crate) fn optional(value: Option<f64>) -> Self {
        value.map_or_else(Self::missing, Self::number)
    }

    /// A p-value, set in bold where it is evidence.
    pub(crate) fn p(value: Option<f64>, alpha: f64) -> Self {
        let Some(p) = value else { return Self::missing() };
        let class = if p <= alpha { "num strong" } else { "num" };
        Self { class, ..Self::shown(p_value(p), p) }
    }

    /// A share in percent.
    pub(crate) fn percent(value: Option<f64>) -> Self {
        value.map_or_else(Self::missing, |share| Self::shown(percent(share), share))
    }

    /// Nothing to show.
    pub(crate) fn missing() -> Self {
        Self { markup: "\u{2013}".to_owned(), class: "num", title: Some(MISSING.to_owned()) }
    }

    /// By what a column is sorted.
    pub(crate) fn sort_key(&self) -> SortKey {
        match &self.title {
            Some(title) if title == MISSING => SortKey::Missing,
            Some(title) => {
                title.parse().map_or_else(|_| SortKey::Text(title.clone()), SortKey::Number)
            }
            None => match self.markup.parse() {
                Ok(number) => SortKey::Number(number),
                Err(_) => SortKey::Text(self.markup.clone()),
            },
        }
    }

    /// Writes it as markup.
    pub(crate) fn write(&self, out: &mut String) {
        out.push_str("<td");
        for (name, value) in [
            ("class", Some(self.class).filter(|class| !class.is_empty())),
            ("title", self.title.as_deref()),
        ] {
            if let Some(value) = value {
                let _ = write!(out, " {name}=\"{}\"", escape(value));
            }
        }
        let _ = write!(out, ">{}</td>", self.markup);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_rows(sorting: Sorting, rows: usize) -> String {
        let mut table = Table::new("t", sorting, &["n"]);
        (0..rows).for_each(|row| table.push(vec![Cell::count(row)]));
        table.html()
    }

    #[test]
    fn long_tables_scroll_and_only_tables_without_an_order_of_their_own_are_sorted() {
        assert!(of_rows(Sorting::ByHeader, TALL_ROWS).contains("<div class=\"scroll\" "));
        assert!(of_rows(Sorting::ByHeader, TALL_ROWS + 1).contains("<div class=\"scroll tall\" "));
        assert!(of_rows(Sorting::ByHeader, 1).contains("<table data-sortable>"));
        assert!(of_rows(Sorting::Fixed, 1).contains("<table>"));
        // The header of a table without rows cannot know what it stands over.
        assert!(of_rows(Sorting::Fixed, 0).contains("<th scope=\"col\">n</th>"));
    }

    #[test]
    fn figures_are_short_and_sort_by_their_value() {
        let markup = |cell: Cell| {
            let mut out = String::new();
            cell.write(&mut out);
            out
        };
        assert_eq!(markup(Cell::count(3)), "<td class=\"num\">3</td>");
        assert_eq!(
            markup(Cell::percent(Some(0.04))),
            "<td class=\"num\" title=\"0.04\">&lt; 0.1 %</td>"
        );
        assert_eq!(
            markup(Cell::p(Some(0.050_1), 0.05)),
            "<td class=\"num\" title=\"0.0501\">0.050</td>",
            "what rounds to the limit is still beyond it"
        );
        assert_eq!(
            markup(Cell::optional(None)),
            "<td class=\"num\" title=\"not available\">\u{2013}</td>"
        );
        assert_eq!(
            markup(Cell::shown("<1 s".to_owned(), 0.5)),
            "<td class=\"num\" title=\"0.5\">&lt;1 s</td>"
        );
    }

    #[test]
    fn cells_escape_text_and_keep_full_precision_aside() {
        let mut table = Table::new("a \"b\"", Sorting::ByHeader, &["<name>", "value", "p"]);
        table.push(vec![Cell::text("<i>"), Cell::number(0.123_456_789), Cell::p(Some(0.04), 0.05)]);
        table.push(vec![Cell::text("x"), Cell::missing(), Cell::p(None, 0.05)]);
        table.push(vec![Cell::text(&"lr=0.01 ".repeat(9)), Cell::missing(), Cell::missing()]);
        let html = table.html();
        assert!(html.contains("aria-label=\"a &quot;b&quot;\""));
        assert!(
            html.contains("<th scope=\"col\">&lt;name&gt;</th><th scope=\"col\" class=\"num\">")
        );
        assert!(html.contains("<td>&lt;i&gt;</td>"));
        assert!(html.contains("<td class=\"long\">lr=0.01 lr=0.01"));
        assert!(html.contains("title=\"0.123456789\">0.1235</td>"));
        assert!(html.contains("class=\"num strong\" title=\"0.04\""));
    }
}
