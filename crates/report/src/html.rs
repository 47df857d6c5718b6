//! One self-contained HTML file with everything a study found; `queue.rs`, `load.rs`,
//! `speed.rs`, `training.rs` and `predictions.rs` are pages of their own in the same frame.

mod best;
mod bottlenecks;
mod cloud;
mod cluster;
mod curves;
mod design;
mod effects;
mod environment;
mod fit;
mod load;
mod plan;
mod predictions;
mod queue;
mod resources;
mod search;
mod shell;
mod speed;
mod studies;
mod surface;
mod table_analysis;
mod training;
mod trials;
mod verdict;

use crate::charts::Charts;
use crate::escape::escape;
use crate::input::ReportInput;
use shell::Shell;

pub use cloud::{CloudCurve, CloudPage, CloudRow, cloud_html};
pub use load::{LoadPage, load_html};
pub use plan::{PlacedOperator, PlanPage, plan_html};
pub use predictions::{PredictionsPage, predictions_html};
pub use queue::{QueuePage, queue_html};
pub use search::SearchPart;
pub use speed::{SpeedLine, SpeedPage, SpeedPanel, SpeedSeries, speed_html};
pub use studies::{StudiesPage, StudyRow, studies_html};
pub use surface::{SurfacePage, surface_html};
pub use table_analysis::{TableReport, table_html};
pub use training::{RankSum, Timeline, TimelineSpan, TrainingPage, training_html};

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

/// Where a search stands among the sections, if the study has one.
const AFTER_VERDICT: usize = 1;

/// Where a surface stands among the sections, if the study has one.
const AFTER_EFFECTS: usize = 3;

/// How many sections stand after that of a cluster, if one ran the study.
const AFTER_CLUSTER: usize = 1;

/// The report as one HTML file, which loads nothing from elsewhere.
pub fn html(input: &ReportInput<'_>) -> String {
    let mut charts = Charts::default();
    let mut bodies = vec![
        verdict::section(input),
        design::section(input, &mut charts),
        effects::section(input, &mut charts),
        fit::section(input, &mut charts),
        trials::section(input),
        curves::section(input, &mut charts)
            + &bottlenecks::section(input)
            + &resources::section(input, &mut charts),
        environment::section(input),
    ];
    let mut sections = SECTIONS.to_vec();
    if !input.cluster.is_empty() {
        let place = sections.len() - AFTER_CLUSTER;
        sections.insert(place, cluster::SECTION);
        bodies.insert(place, cluster::section(input.cluster, &mut charts));
    }
    if let Some(own) = input.analysis.and_then(|analysis| analysis.surface.as_ref()) {
        sections.insert(AFTER_EFFECTS, surface::SECTION);
        bodies.insert(AFTER_EFFECTS, surface::section(own, &mut charts));
    }
    if let Some(own) = &input.search {
        sections.insert(AFTER_VERDICT, search::SECTION);
        bodies.insert(AFTER_VERDICT, search::section(own, &mut charts));
    }
    let shell = Shell {
        title: format!("{} - study report", input.study.name),
        header: verdict::header(input),
        sections: &sections,
        bodies,
        charts,
        program: input.program,
        written_at: input.written_at,
    };
    shell.html()
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

/// Text with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::SmallStudy;

    #[test]
    fn sentences_begin_with_a_capital_and_end_with_one_full_stop() {
        assert_eq!(sentence("it fits"), "It fits.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence("été"), "Été.");
    }

    #[test]
    fn text_is_escaped_where_it_is_text_and_kept_where_it_is_markup() {
        assert_eq!(paragraph("a < b"), "<p>a &lt; b</p>\n");
        assert_eq!(note("a & b"), "<p class=\"note\">a &amp; b</p>\n");
        assert_eq!(
            facts(&[("<x>", "<b>1</b>".to_owned())]),
            "<dl class=\"facts\"><div><dt>&lt;x&gt;</dt><dd><b>1</b></dd></div></dl>\n"
        );
        assert_eq!(
            folded("a > b", "<p>x</p>"),
            "<details><summary>a &gt; b</summary><p>x</p></details>\n"
        );
    }

    #[test]
    fn a_section_without_figures_says_why() {
        let own = SmallStudy::with("", "");
        let mut input = own.input(None);
        assert!(
            without_analysis(&input).contains("Nothing to show yet: there is no analysis yet.")
        );
        input.analysis_refused = Some("only <1> trial".to_owned());
        assert!(without_analysis(&input).contains("yet: only &lt;1&gt; trial."));
    }
}
