//! A speed test as one HTML file.

use trainwright_study::ClusterTask;

use super::shell::{Shell, section};
use super::{cluster, paragraph};
use crate::charts::{Charts, speed};
use crate::escape::escape;
use crate::figure::to_spread;
use crate::table::{Cell, Sorting, Table};

/// Largest p-value set in bold.
const ALPHA: f64 = 0.05;

/// Everything the page shows.
pub struct SpeedPage<'a> {
    /// What was read.
    pub title: &'a str,
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
    /// What it means, sentence by sentence.
    pub verdict: &'a [String],
    /// Source; batch size, batch number, threads and readings; images/s, its interval, MB/s.
    #[expect(clippy::type_complexity, reason = "cells of a table in the order of its columns")]
    pub means: Vec<(&'static str, [usize; 4], f64, Option<(f64, f64)>, f64)>,
    /// Fitted regressions.
    pub lines: Vec<SpeedLine<'a>>,
    /// Charts.
    pub panels: Vec<SpeedPanel>,
    /// What a cluster did; nothing where none was used.
    pub cluster: &'a [ClusterTask],
}

/// One term of one regression.
pub struct SpeedLine<'a> {
    /// What was read.
    pub source: &'static str,
    /// Kind of regression.
    pub model: &'static str,
    /// Parameter, perhaps squared.
    pub term: &'a str,
    /// Change of the images/s for one more.
    pub slope: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Correlation; for a straight line only.
    pub r: Option<f64>,
    /// p-value of the term.
    pub term_p: Option<f64>,
    /// Share of the variation that the regression explains.
    pub r2: f64,
    /// p-value of the regression.
    pub p: Option<f64>,
    /// The same, adjusted for all regressions of its kind.
    pub p_adjusted: Option<f64>,
    /// p-value of its lack of fit.
    pub lack_of_fit_p: Option<f64>,
}

/// Readings against one parameter.
pub struct SpeedPanel {
    /// The parameter.
    pub parameter: &'static str,
    /// One chart each.
    pub series: Vec<SpeedSeries>,
}

/// Readings of one source.
pub struct SpeedSeries {
    /// What was read.
    pub name: &'static str,
    /// Parameter and images/s.
    pub points: Vec<(f64, f64)>,
    /// Coefficients of the fitted curve, from the power 0 up; empty without one.
    pub curve: Vec<f64>,
}

/// The sections in order: id, heading and what to look at.
const SECTIONS: [(&str, &str, &str); 4] = [
    ("verdict", "Verdict", "What feeds training fastest here, and what it depends on."),
    (
        "figures",
        "Figures",
        "Every reading as a point. Look for slopes, bends and for points far from the rest.",
    ),
    (
        "regressions",
        "Regressions",
        "Images a second on each parameter and on all of them. A small p of the lack of fit says \
         that the shape of the equation is wrong.",
    ),
    ("means", "Means", "Geometric mean speed of each combination with its 95 % interval."),
];

/// The page, which loads nothing from elsewhere.
pub fn speed_html(page: &SpeedPage<'_>) -> String {
    let mut charts = Charts::default();
    let (sections, bodies) = parts(page, &mut charts);
    let shell = Shell {
        title: format!("{} - read speed", page.title),
        header: format!(
            "<header><div class=\"wide\"><p class=\"kind\">Read speed</p>\n<h1>{}</h1>\n\
             </div></header>\n",
            escape(page.title)
        ),
        sections: &sections,
        bodies,
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

/// The sections as markup for a page of one's own, with the data of their charts at the end.
pub fn speed_sections(page: &SpeedPage<'_>) -> String {
    let mut charts = Charts::default();
    let (sections, bodies) = parts(page, &mut charts);
    let markup: String = sections
        .iter()
        .zip(&bodies)
        .map(|((id, heading, look), body)| section(id, heading, look, body))
        .collect();
    markup + &charts.script()
}

/// What stands above each section, and what under it.
fn parts(
    page: &SpeedPage<'_>,
    charts: &mut Charts,
) -> (Vec<(&'static str, &'static str, &'static str)>, Vec<String>) {
    let mut sections = SECTIONS.to_vec();
    let mut bodies = vec![
        page.verdict.iter().map(|sentence| paragraph(sentence)).collect(),
        figures(page, charts),
        regressions(page),
        means(page),
    ];
    cluster::add_to(&mut sections, &mut bodies, page.cluster, charts);
    (sections, bodies)
}

fn figures(page: &SpeedPage<'_>, charts: &mut Charts) -> String {
    let mut out = String::from("<div class=\"panels\">");
    for panel in &page.panels {
        let name = panel.parameter.replace('_', " ");
        for own in &panel.series {
            let id = format!("speed-{}-{}", panel.parameter, own.name);
            out += &charts.place(&id, speed(&name, own));
        }
    }
    out + "</div>\n"
}

fn regressions(page: &SpeedPage<'_>) -> String {
    let head = [
        "source",
        "fit",
        "term",
        "slope",
        "from",
        "to",
        "p of term",
        "r",
        "R\u{b2}",
        "p of fit",
        "adjusted p",
        "p of lack of fit",
    ];
    let mut table = Table::new("Regressions of the images a second", Sorting::ByHeader, &head);
    for line in &page.lines {
        table.push(vec![
            Cell::text(line.source),
            Cell::text(line.model),
            Cell::text(&line.term.replace('_', " ")),
            Cell::optional(line.slope),
            Cell::optional(line.interval.map(|(low, _)| low)),
            Cell::optional(line.interval.map(|(_, high)| high)),
            Cell::p(line.term_p, ALPHA),
            Cell::optional(line.r),
            Cell::number(line.r2),
            Cell::p(line.p, ALPHA),
            Cell::p(line.p_adjusted, ALPHA),
            Cell::p(line.lack_of_fit_p, ALPHA),
        ]);
    }
    table.html()
}

fn means(page: &SpeedPage<'_>) -> String {
    let head = [
        "source",
        "batch size",
        "batches",
        "threads",
        "readings",
        "images/s",
        "from",
        "to",
        "MB/s",
    ];
    let mut table = Table::new("Mean speeds", Sorting::ByHeader, &head);
    for (source, shape, speed, interval, megabytes) in &page.means {
        let shown = |value: f64| match interval {
            Some((low, high)) => Cell::shown(to_spread(value, *low, *high), value),
            None => Cell::number(value),
        };
        let mut row = vec![Cell::text(source)];
        row.extend(shape.iter().map(|&number| Cell::count(number)));
        row.push(shown(*speed));
        row.push(interval.map_or_else(Cell::missing, |(low, _)| shown(low)));
        row.push(interval.map_or_else(Cell::missing, |(_, high)| shown(high)));
        row.push(Cell::number(*megabytes));
        table.push(row);
    }
    table.html()
}
