//! A fitted quadratic surface and where it is best.

use trainwright_analysis::wording::count;
use trainwright_analysis::{Surface, SurfacePoint};

use super::verdict::findings;
use crate::charts::{Charts, contours};
use crate::escape::escape;
use crate::html::shell::Shell;
use crate::html::{note, paragraph, sentence};
use crate::table::{Cell, Sorting, Table};

/// Pairs of factors that are drawn.
const MOST_PAIRS: usize = 10;

/// What the page of a surface shows.
#[derive(Debug, Clone, Copy)]
pub struct SurfacePage<'a> {
    /// Name of the table or study.
    pub name: &'a str,
    /// The surface.
    pub surface: &'a Surface,
    /// Name and version of the program.
    pub program: &'a str,
    /// When the page was written.
    pub written_at: &'a str,
}

/// Id, heading and what to look at.
pub(in crate::html) const SECTION: (&str, &str, &str) = (
    "surface",
    "Response surface",
    "Lines of equal fitted response. Look whether the best point lies inside, or at the edge, \
     beyond which something better may lie.",
);

const ANSWER: (&str, &str, &str) =
    ("verdict", "Answer", "What the surface looks like and where it is best.");

/// The page of a surface as one HTML file, which loads nothing from elsewhere.
pub fn surface_html(page: &SurfacePage<'_>) -> String {
    let mut charts = Charts::default();
    let bodies = vec![words(page.surface), drawn(page.surface, &mut charts)];
    let header = format!(
        "<header><div class=\"wide\"><p class=\"kind\">Response surface</p>\n<h1>{}</h1>\n\
         <p class=\"description\">{} from {}</p></div></header>\n",
        escape(page.name),
        escape(&page.surface.response),
        count(page.surface.n, "observation")
    );
    let shell = Shell {
        title: format!("{} - response surface", page.name),
        header,
        sections: &[ANSWER, SECTION],
        bodies,
        charts,
        program: page.program,
        written_at: page.written_at,
    };
    shell.html()
}

/// The surface in words, from above and in figures.
pub(in crate::html) fn section(surface: &Surface, charts: &mut Charts) -> String {
    words(surface) + &drawn(surface, charts)
}

fn words(surface: &Surface) -> String {
    format!("<h3>In words</h3>\n{}", paragraph(&sentence(&surface.text)))
        + &findings(surface.findings.iter())
}

fn drawn(surface: &Surface, charts: &mut Charts) -> String {
    let inside = |point: &&SurfacePoint| point.inside;
    let marked = match (&surface.optimum, &surface.stationary) {
        (Some(point), _) => Some((point, "best point of the region")),
        (None, stationary) => {
            stationary.as_ref().filter(inside).map(|point| (point, "stationary point"))
        }
    };
    let mut out = String::from("<div class=\"pair\">");
    for (index, own) in surface.contours.iter().take(MOST_PAIRS).enumerate() {
        if let Some(chart) = contours(surface, own, marked) {
            out += &charts.place(&format!("contour-{}", index + 1), chart);
        }
    }
    out += "</div>\n";
    let left_out = surface.contours.len().saturating_sub(MOST_PAIRS);
    if left_out > 0 {
        out += &note(&format!("{} not drawn.", count(left_out, "further pair")));
    }
    let mut table = Table::new(
        "Terms of the surface, in coded units",
        Sorting::Fixed,
        &["term", "estimate", "standard error", "p"],
    );
    for own in &surface.coefficients {
        table.push(vec![
            Cell::text(&own.term),
            Cell::optional(Some(own.estimate)),
            Cell::optional(own.std_error),
            Cell::p(own.p, surface.alpha),
        ]);
    }
    out + &crate::html::folded("Terms of the surface", &table.html())
}
