//! One self-contained HTML file with everything a study found; `queue.rs`, `load.rs`,
//! `speed.rs`, `preparation.rs`, `training.rs` and `predictions.rs` are pages of their own in the same frame.

mod cloud;
mod cluster;
mod comparison;
mod load;
mod plan;
mod predictions;
mod preparation;
mod queue;
mod section;
mod shell;
mod speed;
mod studies;
mod study;
mod table_analysis;
mod training;

use crate::charts::Charts;
use crate::escape::escape;
use crate::input::ReportInput;
use shell::Shell;

pub use cloud::{CloudCurve, CloudPage, CloudRow, cloud_html};
pub use comparison::{ComparedConfiguration, comparison_html};
pub use load::{LoadPage, load_html};
pub use plan::{PageTable, PlacedOperator, PlanPage, plan_html};
pub use predictions::{PredictionsPage, predictions_html};
pub use preparation::{PreparationPage, preparation_html};
pub use queue::{QueuePage, queue_html};
pub use section::{Section, sections_html};
pub use speed::{SpeedLine, SpeedPage, SpeedPanel, SpeedSeries, speed_html, speed_sections};
pub use studies::{StudiesPage, StudyRow, studies_html};
pub(crate) use study::history::BestAfter;
pub use study::search::{FrontPoint, SearchPart};
pub use study::surface::{SurfacePage, surface_html};
pub use study::trials::{ShownColumns, TrialTable};
pub use study::verdict::progress as progress_html;
pub use table_analysis::{TableReport, table_html};
pub use training::{RankSum, Timeline, TimelineSpan, TrainingPage, training_html};

/// The report as one HTML file, which loads nothing from elsewhere.
pub fn html(input: &ReportInput<'_>) -> String {
    let mut charts = Charts::default();
    let shown: Vec<Section> = Section::of(input).collect();
    let sections: Vec<(&str, &str, &str)> =
        shown.iter().map(|own| (own.id(), own.heading(), own.look())).collect();
    let bodies = shown.iter().map(|own| own.body(input, &mut charts)).collect();
    let shell = Shell {
        title: format!("{} - study report", input.study.name),
        header: study::verdict::header(input),
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
