//! What a search found and learnt.

use trainwright_search::{Contour, Importance, Slice, TracePoint};
use trainwright_study::Configuration;

use crate::charts::{Charts, front, search_contour, search_slice, search_trace};
use crate::html::{paragraph, sentence};
use crate::table::{Cell, Sorting, Table};

/// What the report of a search shows.
#[derive(Debug, Clone)]
pub struct SearchPart {
    /// The first objective.
    pub objective: String,
    /// The best, why the search stopped and what the next trial is worth, a sentence each.
    pub sentences: Vec<String>,
    /// The best value after each trial.
    pub trace: Vec<TracePoint>,
    /// How much of the variation factors cause.
    pub importances: Vec<Importance>,
    /// The objective along each factor.
    pub slices: Vec<Slice>,
    /// The objective over the two factors that matter most.
    pub contour: Option<Contour>,
    /// All objectives, the first one first.
    pub objectives: Vec<String>,
    /// With several objectives: every configuration measured.
    pub front: Vec<FrontPoint>,
}

/// A configuration with the values of all objectives.
#[derive(Debug, Clone)]
pub struct FrontPoint {
    /// Number of its first trial.
    pub trial: u32,
    /// What ran.
    pub configuration: Configuration,
    /// Means of the objectives, in their order.
    pub values: Vec<f64>,
    /// Whether no other one beats it.
    pub on_front: bool,
}

/// Id, heading and what to look at.
pub(in crate::html) const SECTION: (&str, &str, &str) = (
    "search",
    "Search",
    "How the search came to its best and what it learnt on the way. Look whether the gain that the \
     next trial promises has become small, and for factors that are best at an end of their range.",
);

/// The section of a search.
pub(in crate::html) fn section(own: &SearchPart, charts: &mut Charts) -> String {
    let mut out: String = own.sentences.iter().map(|text| paragraph(&sentence(text))).collect();
    if let Some(chart) = search_trace(own) {
        out += &charts.place("search-trace", chart);
    }
    if let Some(chart) = front(&own.objectives, &own.front) {
        out += &charts.place("front", chart);
    }
    if !own.importances.is_empty() {
        let mut table = Table::new(
            "What caused the variation, by the fitted surface",
            Sorting::ByHeader,
            &["factor", "share %", "from %", "to %"],
        );
        for own in &own.importances {
            let percent = |share: f64| Cell::optional(Some(100.0 * share));
            table.push(vec![
                Cell::text(&own.factors.join(" with ")),
                percent(own.share),
                percent(own.low),
                percent(own.high),
            ]);
        }
        out += "<h3>What caused the variation</h3>\n";
        out += &table.html();
    }
    let drawn = own.slices.iter().enumerate();
    let drawn: Vec<String> = drawn
        .filter_map(|(index, slice)| {
            let chart = search_slice(&own.objective, slice)?;
            Some(charts.place(&format!("search-slice-{}", index + 1), chart))
        })
        .collect();
    if !drawn.is_empty() {
        out += "<h3>Along each factor, the others at the best</h3>\n<div class=\"pair\">";
        out += &drawn.concat();
        out += "</div>\n";
    }
    let contour = own.contour.as_ref().and_then(|over| search_contour(&own.objective, over));
    if let Some(chart) = contour {
        out += "<h3>Over the two factors that matter most, the others at the best</h3>\n";
        out += &charts.place("search-contour", chart);
    }
    out
}

#[cfg(test)]
mod tests {
    use trainwright_search::SlicePoint;
    use trainwright_study::Level;

    use super::*;

    fn part() -> SearchPart {
        let point = |x: f64| SlicePoint {
            level: Level::Number(x),
            mean: x * x,
            low: x * x - 1.0,
            high: x * x + 1.0,
        };
        let trace =
            |trial: u32, best: Option<f64>, gain: Option<f64>| TracePoint { trial, best, gain };
        SearchPart {
            objective: "loss".to_owned(),
            sentences: vec!["best is <x>".to_owned()],
            trace: vec![
                trace(1, None, None),
                trace(2, Some(3.0), None),
                trace(3, Some(2.0), Some(0.1)),
            ],
            importances: vec![Importance {
                factors: vec!["a".to_owned(), "b".to_owned()],
                share: 0.25,
                low: 0.2,
                high: 0.5,
            }],
            slices: vec![
                Slice { factor: "a".to_owned(), points: vec![point(1.0), point(2.0)] },
                Slice {
                    factor: "kind".to_owned(),
                    points: vec![SlicePoint { level: Level::Text("<b>".into()), ..point(1.0) }],
                },
            ],
            objectives: vec!["loss".to_owned()],
            front: Vec::new(),
            contour: Some(Contour {
                across: "a".to_owned(),
                up: "b".to_owned(),
                across_levels: [1.0, 2.0].map(Level::Number).to_vec(),
                up_levels: [1.0, 10.0, 1000.0].map(Level::Number).to_vec(),
                means: vec![vec![1.0, 2.0], vec![2.0, 3.0], vec![3.0, 4.0]],
            }),
        }
    }

    #[test]
    fn a_contour_needs_numbers_on_both_sides() {
        let mut charts = Charts::default();
        let page = section(&part(), &mut charts);
        assert!(
            page.contains("search-contour") && page.contains("Lines of equal loss over a and b")
        );
        assert!(charts.script().contains(r#""type":"log""#), "a wide range is shown by ratio");
        let mut named = part();
        if let Some(own) = &mut named.contour {
            own.across_levels[0] = Level::Text("x".into());
        }
        assert!(!section(&named, &mut Charts::default()).contains("search-contour"));
    }

    #[test]
    fn everything_that_was_found_is_shown_and_escaped() {
        let mut charts = Charts::default();
        let page = section(&part(), &mut charts);
        for words in ["Best is &lt;x&gt;.", "a with b", "search-trace", "search-slice-2"] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
        assert!(!charts.script().contains("<b>"));
    }

    #[test]
    fn a_search_that_found_nothing_has_no_charts() {
        let mut charts = Charts::default();
        let (trace, importances, slices) = (Vec::new(), Vec::new(), Vec::new());
        let bare = SearchPart { trace, importances, slices, contour: None, ..part() };
        assert!(!section(&bare, &mut charts).contains("data-chart"));
    }
}
