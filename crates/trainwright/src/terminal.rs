//! What verbs answer, as text for a terminal, a page or a notebook: the words of `report`, and of
//! the replies that are made here, one file an answer.

mod bench;
mod cloud;
mod cluster;
mod data;
mod design;
mod doctor;
mod machine;
mod network;
mod plan;
mod predictions;
mod queues;
mod search;
mod speedtest;
mod studies;
mod training;

use trainwright_analysis::{Analysis, Comparison, Correlations, Overhead, Scaling, Surface};
pub use trainwright_report::figure;
use trainwright_report::terminal as words;
pub use trainwright_report::terminal::{Colour, TextTable, Unit, visible, visible_bytes, wrapped};

use crate::{CompareReply, FindingsReply, QueueReply, TestResult};
pub use bench::bench;
pub(crate) use cloud::cloud_replay_sentences;
pub use cloud::{
    cloud_catalog, cloud_experiments, cloud_foretold, cloud_recommendation, cloud_replay, cloud_run,
};
pub use cluster::on_cluster;
pub use data::{inspected, prepared, verified};
pub use design::design;
pub use doctor::doctor;
pub use machine::machine;
pub use network::network;
pub use plan::plan;
pub(crate) use plan::{
    change_text, devices_in_nodes, plan_best, plan_measured, plan_reasons, plan_searched,
    plan_table, plan_what_if, split_text, strategy_name,
};
pub use predictions::{predictions, predictions_summary};
pub(crate) use queues::load_summary;
pub use queues::{
    WithUnit, classes_simulated, in_unit, load, load_event, queue_fit, queue_simulated,
};
pub(crate) use search::search_sentences;
pub use search::{asked, search, told};
pub use speedtest::speedtest;
pub use studies::{check, excluded, imported, metric_rules, status, studies_compared, trial_files};
pub use training::{train_event, trained};

/// What an analysis says by itself, with the unit of the response: words first, then tables.
pub fn analysis(analysis: &Analysis, unit: Option<&str>, colour: Colour) -> String {
    words::analysis_text(analysis, unit, colour)
}

/// Levels compared with their baselines.
pub fn compared(reply: &CompareReply, colour: Colour) -> String {
    let text = |own: &Comparison| words::comparison_text(own, colour);
    reply.comparisons.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// A response correlated with its parameters.
pub fn correlations(found: &Correlations, colour: Colour) -> String {
    words::correlations_text(found, colour)
}

/// All findings, or one explained.
pub fn findings(reply: &FindingsReply) -> String {
    match reply {
        FindingsReply::All { groups } => words::catalogue_text(groups),
        FindingsReply::One(entry) => words::catalogue_entry_text(entry),
    }
}

/// What a step costs, and everything beside it.
pub fn overhead(found: &Overhead, colour: Colour) -> String {
    words::overhead_text(found, colour)
}

/// What is known about a queue with classes.
pub fn priority_queue(
    reply: &QueueReply<trainwright_queueing::PriorityAnswer>,
    unit: Unit,
    colour: Colour,
) -> String {
    words::priority_text(&reply.answer, unit) + &words::findings_text(&reply.findings, colour)
}

/// What is known about a queue.
pub fn queue(
    reply: &QueueReply<trainwright_queueing::QueueAnswer>,
    unit: Unit,
    colour: Colour,
) -> String {
    words::queue_text(&reply.answer, unit) + &words::findings_text(&reply.findings, colour)
}

/// How time falls with workers.
pub fn scaling(found: &Scaling, colour: Colour) -> String {
    words::scaling_text(found, colour)
}

/// A quadratic surface.
pub fn surface(found: &Surface, colour: Colour) -> String {
    words::surface_text(found, colour)
}

/// What a statistical test gave.
pub fn test_result(result: &TestResult) -> String {
    words::test_fields_text(&result.fields, &result.meaning)
}
