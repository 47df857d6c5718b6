//! The page of a trained network's predictions: how well each class is found, and what is taken
//! for what.

use super::shell::Shell;
use crate::charts::Charts;
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// What the page of predictions shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionsPage<'a> {
    /// What the network was applied to.
    pub data: &'a str,
    /// The result in words.
    pub words: &'a str,
    /// Each class: its name, its examples, how many were taken for it, the share that was found
    /// and the share of right answers among those taken for it.
    pub classes: Vec<(String, [u64; 2], [Option<f64>; 2])>,
    /// Examples by class (rows) and by what they were taken for (columns); empty where the classes
    /// of the examples are not known.
    pub confusion: &'a [Vec<u64>],
    /// The surest mistakes: the example, its class, what it was taken for, and how surely.
    pub mistakes: Vec<(String, String, String, f32)>,
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

const SECTIONS: [(&str, &str, &str); 4] = [
    ("verdict", "Result", "How many examples were taken for what they are."),
    (
        "classes",
        "Classes",
        "Accuracy is the share of a class that was found; precision is the share of right answers \
         among the examples that were taken for it.",
    ),
    (
        "confusion",
        "Confusion",
        "Rows are what the examples are, columns what they were taken for. Look for large numbers \
         off the diagonal.",
    ),
    (
        "mistakes",
        "Surest mistakes",
        "Wrong answers of the highest probability. Look for wrong labels first.",
    ),
];

/// The page of predictions as one HTML file, which loads nothing from elsewhere.
pub fn predictions_html(page: &PredictionsPage<'_>) -> String {
    let words = format!("<pre class=\"command\">{}</pre>\n", escape(page.words));
    let shell = Shell {
        title: format!("{} - predictions", page.data),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Predictions</p>\n<h1>{}</h1>\n\
             </div></header>\n",
            escape(page.data)
        ),
        sections: &SECTIONS,
        bodies: vec![words, classes(page), confusion(page), mistakes(page)],
        charts: Charts::default(),
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn classes(page: &PredictionsPage<'_>) -> String {
    let columns = ["class", "examples", "taken for it", "accuracy", "precision"];
    let mut table = Table::new("Classes", Sorting::ByHeader, &columns);
    for (name, counts, shares) in &page.classes {
        let mut row = vec![Cell::text(name)];
        row.extend(counts.map(|count| Cell::number(count as f64)));
        row.extend(shares.map(Cell::optional));
        table.push(row);
    }
    table.html()
}

fn confusion(page: &PredictionsPage<'_>) -> String {
    if page.confusion.is_empty() {
        return "<p>The classes of the examples are not known.</p>\n".to_owned();
    }
    let names: Vec<&str> = page.classes.iter().map(|(name, ..)| name.as_str()).collect();
    let columns = [&["class"], names.as_slice()].concat();
    let mut table = Table::new("Class by what it was taken for", Sorting::Fixed, &columns);
    for (name, row) in names.iter().zip(page.confusion) {
        let mut cells = vec![Cell::text(name)];
        cells.extend(row.iter().map(|&count| Cell::number(count as f64)));
        table.push(cells);
    }
    table.html()
}

fn mistakes(page: &PredictionsPage<'_>) -> String {
    if page.mistakes.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let columns = ["example", "class", "taken for", "probability"];
    let mut table = Table::new("Surest mistakes", Sorting::Fixed, &columns);
    for (example, class, taken, probability) in &page.mistakes {
        let mut row: Vec<Cell> = [example, class, taken].map(|text| Cell::text(text)).into();
        row.push(Cell::number(f64::from(*probability)));
        table.push(row);
    }
    table.html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_confusion_and_mistakes_are_on_the_page() {
        let page = PredictionsPage {
            data: "flowers <new>",
            words: "3 examples: accuracy 0.6667",
            classes: vec![
                ("rose".into(), [2, 1], [Some(0.5), Some(1.0)]),
                ("tulip".into(), [1, 2], [Some(1.0), None]),
            ],
            confusion: &[vec![1, 1], vec![0, 1]],
            mistakes: vec![("rose/a.png".into(), "rose".into(), "tulip".into(), 0.97)],
            program: "trainwright",
            written_at: "today",
        };
        let html = predictions_html(&page);
        assert!(html.contains("flowers &lt;new&gt;") && html.contains("rose/a.png"));
        for section in ["classes", "confusion", "mistakes"] {
            assert!(html.contains(&format!("<section id=\"{section}\"")), "{section}");
        }
        let unknown = PredictionsPage { confusion: &[], mistakes: Vec::new(), ..page };
        assert!(predictions_html(&unknown).contains("are not known"));
    }
}
