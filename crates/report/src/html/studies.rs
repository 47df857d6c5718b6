//! The page of several studies side by side.

use super::shell::Shell;
use super::{note, paragraph};
use crate::charts::{Charts, study_means};
use crate::escape::escape;
use crate::figure::{figure, to_spread};
use crate::table::{Cell, Sorting, Table};

/// What the page of several studies is made of.
#[derive(Debug, Clone)]
pub struct StudiesPage<'a> {
    /// One row a study.
    pub rows: Vec<StudyRow>,
    /// How they compare, in sentences.
    pub sentences: Vec<String>,
    /// What to keep in mind.
    pub notes: Vec<String>,
    /// Whether all studies explain the same metric, so that their means can share an axis.
    pub one_response: bool,
    /// Name and version of this program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

/// What one study found.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyRow {
    /// Its name.
    pub name: String,
    /// The metric that it explains, with its unit.
    pub response: String,
    /// Trials in all.
    pub trials: usize,
    /// Those that finished.
    pub finished: usize,
    /// Hours that its trials ran.
    pub hours: f64,
    /// What they cost, where that is known.
    pub price: Option<f64>,
    /// Its best configuration measured.
    pub best: Option<String>,
    /// Mean of the response there.
    pub mean: Option<f64>,
    /// Its interval.
    pub ends: Option<(f64, f64)>,
    /// Why nothing is known yet.
    pub refused: Option<String>,
}

const SECTIONS: [(&str, &str, &str); 2] = [
    ("verdict", "Verdict", "What each study found best, and whether they differ."),
    ("studies", "Studies", "One row a study; a click on a header sorts."),
];

/// Several studies as one HTML file, which loads nothing from elsewhere.
pub fn studies_html(input: &StudiesPage<'_>) -> String {
    let mut charts = Charts::default();
    let sentences: String = input.sentences.iter().map(|own| paragraph(own)).collect();
    let notes: String = input.notes.iter().map(|own| note(own)).collect();
    let drawn = match study_means(&input.rows) {
        Some(chart) if input.one_response => format!(
            "<figure><figcaption><b>Best of each study.</b> Mean with its interval.\
             </figcaption>{}</figure>\n",
            charts.place("studies-means", chart)
        ),
        _ => String::new(),
    };
    let bodies = vec![format!("<h3>Compared</h3>\n{sentences}{notes}{drawn}"), table(&input.rows)];
    let names: Vec<&str> = input.rows.iter().map(|own| own.name.as_str()).collect();
    let header = format!(
        "<header><div class=\"wide\"><p class=\"kind\">Studies compared</p>\n<h1>{}</h1>\n\
         </div></header>\n",
        escape(&names.join(", "))
    );
    let (program, written_at) = (input.program, input.written_at);
    let title = "Studies compared".to_owned();
    Shell { title, header, sections: &SECTIONS, bodies, charts, program, written_at }.html()
}

fn table(rows: &[StudyRow]) -> String {
    let head = ["study", "metric", "finished", "trials", "hours", "price", "best mean", "at"];
    let mut table = Table::new("Studies", Sorting::ByHeader, &head);
    for own in rows {
        let mean = match (own.mean, own.ends) {
            (Some(mean), Some((low, high))) => {
                let [shown, low, high] = [mean, low, high].map(|value| to_spread(value, low, high));
                Cell::shown(format!("{shown} ({low} to {high})"), mean)
            }
            (Some(mean), None) => Cell::shown(figure(mean), mean),
            (None, _) => Cell::missing(),
        };
        let at = own.best.as_deref().or(own.refused.as_deref());
        table.push(vec![
            Cell::text(&own.name),
            Cell::text(&own.response),
            Cell::count(own.finished),
            Cell::count(own.trials),
            Cell::number(own.hours),
            Cell::optional(own.price),
            mean,
            at.map_or_else(Cell::missing, Cell::text),
        ]);
    }
    table.html()
}
