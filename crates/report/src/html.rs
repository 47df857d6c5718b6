//! One self-contained HTML file with everything a study found.

mod best;
mod curves;
mod design;
mod effects;
mod environment;
mod fit;
mod resources;
mod table_analysis;
mod trials;
mod verdict;

use crate::assets::{ECHARTS, SCRIPT, STYLE};
use crate::charts::Charts;
use crate::escape::escape;
use crate::input::ReportInput;

pub use table_analysis::{TableReport, table_html};

/// Forbids the page to load anything at all.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The sections in order: id, heading and what to look at.
const SECTIONS: [(&str, &str, &str); 7] = [
    (
        "verdict",
        "Verdict",
        "The best configuration measured and what drives the response; mind the findings before \
         relying on either.",
    ),
    (
        "design",
        "Design",
        "What was planned. Look for rows that lack trials and for aliases: effects that cannot be \
         told apart.",
    ),
    (
        "effects",
        "Effects",
        "What changes the response. Look for the few long bars, then for lines that are not parallel.",
    ),
    (
        "fit",
        "Fit",
        "How far the fitted equation can be trusted. Residuals should look like a band without a \
         pattern.",
    ),
    (
        "trials",
        "Trials",
        "Every trial with what it measured. Only columns in which trials differ are shown; a click \
         on a header sorts.",
    ),
    (
        "curves",
        "Learning curves and resources",
        "How trials went while they ran. Look for curves that part from those of the same row.",
    ),
    ("environment", "Environment", "What is needed to run the study again."),
];

/// The report as one HTML file, which loads nothing from elsewhere.
pub fn html(input: &ReportInput<'_>) -> String {
    let mut charts = Charts::default();
    let bodies = [
        verdict::section(input),
        design::section(input, &mut charts),
        effects::section(input, &mut charts),
        fit::section(input, &mut charts),
        trials::section(input),
        curves::section(input, &mut charts) + &resources::section(input, &mut charts),
        environment::section(input),
    ];
    page(&Page {
        title: &format!("{} - study report", input.study.name),
        header: &verdict::header(input),
        sections: &SECTIONS.into_iter().zip(bodies).collect::<Vec<_>>(),
        charts: &charts,
        program: input.program,
        written_at: input.written_at,
    })
}

/// Id, heading and what to look at of a section.
type Heading<'a> = (&'a str, &'a str, &'a str);

/// What a page is made of; header and bodies are markup.
struct Page<'a> {
    title: &'a str,
    header: &'a str,
    sections: &'a [(Heading<'a>, String)],
    charts: &'a Charts,
    program: &'a str,
    written_at: &'a str,
}

/// One HTML file with everything in it.
fn page(page: &Page<'_>) -> String {
    let links: String = page
        .sections
        .iter()
        .map(|((id, heading, _), _)| format!("<a href=\"#{id}\">{heading}</a>"))
        .collect();
    let sections: String = page
        .sections
        .iter()
        .map(|((id, heading, look), body)| section(id, heading, look, body))
        .collect();
    let (title, header, data) = (escape(page.title), page.header, page.charts.script());
    let (program, written_at) = (escape(page.program), escape(page.written_at));
    format!(
        "<!doctype html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"{program}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         {header}<nav aria-label=\"Sections\"><div class=\"wide\">{links}</div></nav>\n\
         <main class=\"wide\">\n<p class=\"note only-without-script\">Charts need JavaScript, which \
         is off; text and tables are complete without it.</p>\n{sections}</main>\n\
         <footer class=\"wide\">Written by {program}, {written_at}. Charts: Apache ECharts, \
         Apache-2.0.</footer>\n\
         {data}<script>\n{ECHARTS}\n</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn section(id: &str, heading: &str, look: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n\
         <h2 id=\"{id}-heading\">{heading}</h2>\n<p class=\"look\">{look}</p>\n{body}</section>\n"
    )
}

/// A sentence of plain text as a paragraph.
fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A side remark of plain text.
fn note(text: &str) -> String {
    format!("<p class=\"note\">{}</p>\n", escape(text))
}

/// Facts as a list of names and values; values are markup.
fn facts(pairs: &[(&str, String)]) -> String {
    let body: String = pairs
        .iter()
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{value}</dd></div>", escape(name)))
        .collect();
    format!("<dl class=\"facts\">{body}</dl>\n")
}

/// Something that opens on request; the body is markup.
fn folded(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>{body}</details>\n", escape(summary))
}

/// What a section says in place of figures.
fn without_analysis(input: &ReportInput<'_>) -> String {
    let reason = input.analysis_refused.as_deref().unwrap_or("there is no analysis yet");
    note(&format!("Nothing to show yet: {reason}."))
}
