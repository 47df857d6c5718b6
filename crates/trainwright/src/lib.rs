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
mod driver;
mod error;
mod export;
#[cfg(feature = "parquet")]
mod export_parquet;
mod import;
mod init;
mod job;
mod load;
mod lock;
mod network;
mod optimal_rows;
mod place;
mod plan_change;
mod planned;
mod predictions;
mod queue;
mod report;
mod rereading;
mod results;
mod run;
mod stop;
mod tables;
mod test_statistics;

pub use analyze::analyze;
pub use check::{Hours, HoursFrom, Preview, check};
pub use data::{FetchRequest, fetch};
pub use data_prepare::{inspect_data, prepare_data, verify_data};
pub use data_speedtest::{
    CacheState, PictureSource, Ratio, SpeedCoefficient, SpeedConditions, SpeedFit, SpeedLackOfFit,
    SpeedMean, SpeedModel, SpeedRow, Speedtest, SpeedtestProgress, SpeedtestRequest, speedtest,
    speedtest_csv, speedtest_page,
};
pub use error::Error;
pub use export::{export_csv, export_json};
#[cfg(feature = "parquet")]
pub use export_parquet::export_parquet;
pub use import::{Imported, import};
pub use init::{init, init_from_csv};
pub use job::{JobChannels, job};
pub use load::{LoadArrivals, LoadEnd, LoadEvent, LoadJob, LoadReply, LoadRequest, load};
pub use network::{NetworkRequest, NetworkSummary, describe_network};
pub use optimal_rows::{OptimalRequest, OptimalRows, augmented_rows, optimal_rows};
pub use place::Place;
pub use plan_change::{Accepted, ChangeMeaning, ChangeNote};
pub use planned::design_of;
pub use predictions::predictions_page;
pub use queue::{
    Agreement, ClassesSimulated, FitReply, FitRequest, FitSource, QueueReply, QueueSimulated,
    SimulationLength, TimesFit, fit_queue, priority_queue, queue, simulate_priorities,
    simulate_queue,
};
pub use report::{report, surface_report, table_report, verdict};
pub use results::Results;
pub use run::{RetryFailed, RunEnd, RunEvent, RunRequest, Wish, run};
pub use stop::stop;
pub use tables::{
    compare, compare_trials, correlate, overhead, scaling, surface, surface_of_trials,
};
pub use test_statistics::{
    AdjustmentMethod, Location, StatsTest, TestRequest, TestResult, test_statistics,
};
pub use trainwright_store::Progress as RunningProgress;
