//! Methods that choose cloud configurations, compared on one page.

use super::paragraph;
use super::shell::Shell;
use crate::charts::{Charts, near_optimum};
use crate::escape::escape;
use crate::table::{Cell, Sorting, Table};

/// Everything the page shows.
pub struct CloudPage<'a> {
    /// What was replayed.
    pub title: &'a str,
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
    /// What it means, sentence by sentence.
    pub verdict: &'a [String],
    /// One row a method.
    pub rows: Vec<CloudRow<'a>>,
    /// One curve a method.
    pub curves: Vec<CloudCurve<'a>>,
}

/// How a method did.
pub struct CloudRow<'a> {
    /// The method.
    pub method: &'a str,
    /// How often it was played.
    pub replays: usize,
    /// Median and 90th percentile of: runs to 5 %, runs to 10 %, runs at the stop, ratio at the
    /// stop, search cost.
    pub figures: [Option<f64>; 10],
}

/// Share of a method's replays near the optimum.
pub struct CloudCurve<'a> {
    /// The method.
    pub name: &'a str,
    /// Runs, and percent of the replays.
    pub points: Vec<(f64, f64)>,
}

/// The sections in order: id, heading and what to look at.
const SECTIONS: [(&str, &str, &str); 3] = [
    ("verdict", "Verdict", "Which method finds a good configuration with the fewest runs."),
    (
        "curves",
        "Curves",
        "A line that is higher on the left finds good configurations sooner; what methods do after \
         their stop is shown too.",
    ),
    (
        "methods",
        "Methods",
        "Median and 90th percentile over workloads and seeds. The search cost is what all runs \
         before the stop took together, in runs of the optimum.",
    ),
];

/// The page, which loads nothing from elsewhere.
pub fn cloud_html(page: &CloudPage<'_>) -> String {
    let mut charts = Charts::default();
    let curves = charts.place("near-optimum", near_optimum(&page.curves));
    let bodies = vec![
        page.verdict.iter().map(|sentence| paragraph(sentence)).collect(),
        curves,
        methods(page),
    ];
    let shell = Shell {
        title: format!("{} - cloud replay", page.title),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Cloud replay</p>\n<h1>{}</h1>\n\
             </div></header>\n",
            escape(page.title)
        ),
        sections: &SECTIONS,
        bodies,
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

fn methods(page: &CloudPage<'_>) -> String {
    let head = [
        "method",
        "replays",
        "n to 5 %",
        "p90",
        "n to 10 %",
        "p90",
        "stops at",
        "p90",
        "ratio at stop",
        "p90",
        "search cost",
        "p90",
    ];
    let mut table = Table::new("Methods over all workloads and seeds", Sorting::ByHeader, &head);
    for own in &page.rows {
        let mut row = vec![Cell::text(own.method), Cell::count(own.replays)];
        row.extend(own.figures.iter().map(|figure| Cell::optional(*figure)));
        table.push(row);
    }
    table.html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_methods_and_their_curves() {
        let page = CloudPage {
            title: "runs<1>.csv",
            program: "trainwright 0",
            written_at: "today",
            verdict: &["default is first".to_owned()],
            rows: vec![CloudRow { method: "default", replays: 7, figures: [Some(2.0); 10] }],
            curves: vec![CloudCurve { name: "default", points: vec![(0.0, 0.0), (1.0, 90.0)] }],
        };
        let html = cloud_html(&page);
        assert!(html.contains("runs&lt;1&gt;.csv") && html.contains("default is first"));
        assert!(html.contains("near-optimum"));
    }
}
