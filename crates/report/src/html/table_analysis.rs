//! The page of a table that no study planned.

use trainwright_analysis::Analysis;
use trainwright_analysis::wording::count;

use super::paragraph;
use super::shell::Shell;
use super::study::{effects, fit, verdict};
use crate::charts::Charts;
use crate::escape::escape;

/// What the page of a table is made of.
#[derive(Debug, Clone, Copy)]
pub struct TableReport<'a> {
    /// Name of the table.
    pub name: &'a str,
    /// What its rows say.
    pub analysis: &'a Analysis,
    /// Name and version of this program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

/// The sections in order: id, heading and what to look at.
const SECTIONS: [(&str, &str, &str); 3] = [
    (
        "verdict",
        "Verdict",
        "What the equation says and which of its assumptions the rows contradict.",
    ),
    (
        "effects",
        "Effects",
        "What changes the response. Look for the few long bars, then for lines that are not \
         parallel.",
    ),
    (
        "fit",
        "Fit",
        "How far the fitted equation can be trusted. Residuals should look like a band without a \
         pattern.",
    ),
];

/// The analysis of a table as one HTML file, which loads nothing from elsewhere.
pub fn table_html(input: &TableReport<'_>) -> String {
    let TableReport { name, analysis, program, written_at } = *input;
    let mut charts = Charts::default();
    let bodies = vec![
        answer(analysis),
        effects::drawn(analysis, &analysis.response, &mut charts),
        fit::shown(analysis, &mut charts),
    ];
    let header = format!(
        "<header><div class=\"wide\"><p class=\"kind\">Analysis of a table</p>\n<h1>{}</h1>\n\
         <p class=\"description\">{} from {}</p></div></header>\n",
        escape(name),
        escape(&analysis.formula),
        count(analysis.n, "row"),
    );
    let title = format!("{name} - analysis");
    let shell = Shell { title, header, sections: &SECTIONS, bodies, charts, program, written_at };
    shell.html()
}

fn answer(analysis: &Analysis) -> String {
    let ranking = analysis.findings.iter().find(|own| own.id == "effect-ranking");
    let ranking = ranking.map_or_else(String::new, |own| paragraph(&own.text));
    format!(
        "<h3>What matters</h3>\n{ranking}{}{}",
        verdict::findings_of(analysis),
        verdict::checks(&analysis.checks)
    )
}
