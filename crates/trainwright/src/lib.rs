//! What Trainwright does: one function a verb. Front ends parse arguments and print; these
//! functions join the crates that think, do and keep.
//!
//! Read `run.rs` first: it is the life of a study.

mod analyze;
mod check;
mod data;
mod data_prepare;
mod data_speedtest;
mod derived;
mod designs;
mod driver;
mod error;
mod export;
#[cfg(feature = "parquet")]
mod export_parquet;
mod findings;
mod import;
mod init;
mod job;
mod json;
mod load;
mod lock;
mod metric_rules;
mod network;
mod nouns;
mod optimal_rows;
mod pages;
mod place;
mod plan_change;
mod planned;
mod predictions;
mod queue;
mod report;
mod rereading;
mod results;
mod run;
mod run_reply;
mod spreadsheet;
mod status;
mod stop;
mod tables;
pub mod terminal;
mod test_statistics;
mod train;

pub use analyze::{TableRequest, analyze, analyze_table};
pub use check::{Hours, HoursFrom, Preview, check};
pub use data::{FetchReply, FetchRequest, fetch};
pub use data_prepare::{
    InspectReply, PrepareReply, VerifyReply, inspect_data, prepare_data, verify_data,
};
pub use data_speedtest::{
    CacheState, PictureSource, Ratio, SpeedCoefficient, SpeedConditions, SpeedFit, SpeedLackOfFit,
    SpeedMean, SpeedModel, SpeedRow, Speedtest, SpeedtestProgress, SpeedtestRequest, speedtest,
    speedtest_csv, speedtest_page,
};
pub use designs::{
    Alpha, CentrePoints, DesignReply, DesignRequest, FractionBy, FractionRequest, Spread, Star,
    design,
};
pub use error::Error;
pub use export::{export_csv, export_json};
#[cfg(feature = "parquet")]
pub use export_parquet::export_parquet;
pub use findings::{FindingsReply, findings};
pub use import::{Imported, MissingRow, ShortRow, import};
pub use init::{InitReply, init, init_from_csv};
pub use job::{JobChannels, job};
pub use json::to_json;
pub use load::{LoadArrivals, LoadEnd, LoadEvent, LoadJob, LoadReply, LoadRequest, load};
pub use metric_rules::{MetricRulesReply, NearMiss, RuleFind, RuleReply, metric_rules};
pub use network::{NetworkRequest, NetworkSummary, describe_network};
pub use nouns::{analysis, queueing, records, store, training};
pub use optimal_rows::{OptimalRequest, OptimalRows};
pub use pages::{load_page, queue_page};
pub use place::Place;
pub use plan_change::{Accepted, ChangeMeaning, ChangeNote};
pub use planned::design_of;
pub use predictions::{predict, predictions_csv, predictions_page};
pub use queue::{
    Agreement, ClassesSimulated, FitReply, FitRequest, FitSource, QueueReply, QueueSimulated,
    SimulationLength, TimesFit, fit_queue, priority_queue, queue, simulate_priorities,
    simulate_queue,
};
pub use report::{ReportReply, report, surface_report, table_report, verdict, write_file};
pub use results::Results;
pub use run::{RetryFailed, RunEnd, RunEvent, RunRequest, Wish, run};
pub use run_reply::RunReply;
pub use spreadsheet::safe_for_spreadsheets;
pub use status::{LogName, LogsReply, StatusReply, TrialCounts, TrialStatus, logs, status};
pub use stop::{StopReply, stop};
pub use tables::{
    CompareReply, compare, compare_trials, correlate, overhead, scaling, surface, surface_of_trials,
};
pub use test_statistics::{
    AdjustmentMethod, Location, StatsTest, TestRequest, TestResult, test_statistics,
};
pub use train::train;
pub use trainwright_engine::MissingMetric;
