//! What a study found, shown: one self-contained HTML file, and text for a terminal.
//!
//! Read `html.rs` first: it puts the page together from one file a section in `html/`; `terminal/`
//! words what verbs answer, one file an answer. Charts are
//! ECharts options built in `charts/`, one small file a chart; `assets/report.js` draws them.
//! Everything here returns text. Nothing prints, opens the store or looks at the clock.

pub mod assets;
mod best_words;
mod charts;
mod contour;
mod escape;
mod figure;
mod html;
mod input;
mod next_steps;
mod ranking;
mod spent_budget;
mod table;
pub mod terminal;
#[cfg(test)]
mod tests;
mod thin;
mod unmixing;

pub use charts::with_unit;
pub use escape::{Escaped, escape, with_code};
pub use figure::figure;
pub use html::{
    CloudCurve, CloudPage, CloudRow, ComparedConfiguration, FrontPoint, LoadPage, PageTable,
    PlacedOperator, PlanPage, PredictionsPage, PreparationPage, QueuePage, RankSum, SearchPart,
    Section, ShownColumns, SpeedLine, SpeedPage, SpeedPanel, SpeedSeries, StudiesPage, StudyRow,
    SurfacePage, TableReport, Timeline, TimelineSpan, TrainingPage, TrialTable, cloud_html,
    comparison_html, html, load_html, plan_html, predictions_html, preparation_html, progress_html,
    queue_html, sections_html, speed_html, speed_sections, studies_html, surface_html, table_html,
    training_html,
};
pub use input::{ReportInput, ReportTrial};
pub use spent_budget::spent_budget;
pub use table::SortKey;
pub use terminal::{Colour, analysis_text, findings_text, verdict};
