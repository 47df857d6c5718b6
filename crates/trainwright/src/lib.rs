//! What Trainwright does: one function a verb. Front ends parse arguments and print; these
//! functions join the crates that think, do and keep.
//!
//! Read `running/run.rs` first: it is the life of a study. `studies/` is before and after it,
//! `searching/` looks for the best, `cluster/` does it on Spark, `data/`, `trainings/` and `questions/` hold the verbs that need none, `terminal/` the words.

mod cloud;
mod cluster;
mod data;
mod error;
mod error_reply;
mod json;
mod nouns;
mod planning;
mod questions;
mod running;
mod searching;
mod studies;
pub mod terminal;
mod trainings;
mod watching;
mod whole_file;

pub use cloud::catalog::{Catalog, catalog};
pub use cloud::ernest::{Foretold, ForetoldTime, cloud_experiments, cloud_foretell};
pub use cloud::job::CloudJob;
pub use cloud::own_runs::own_runs;
pub use cloud::recommend::{Choice, RecommendRequest, Recommendation, cloud_recommend, cloud_tell};
pub use cloud::replay::{CloudReplay, MethodReplay, ReplayRequest, cloud_page, cloud_replay};
pub use cloud::search_file::{Again, OwnRun};
pub use cluster::executor::executor;
pub use cluster::prepare::prepare_on_spark;
pub use cluster::set_up::{SetUpReply, set_up};
pub use cluster::speedtest::speedtest_on_spark;
pub use cluster::start::{ClusterReply, OnCluster, SparkRequest};
pub use cluster::train::{GangOptions, train_on_spark};
pub use data::batches::{BatchRequest, BatchSource, PictureBatches, open_batches};
pub use data::fetch::{FetchReply, FetchRequest, fetch};
pub use data::preparation_page::preparation_page;
pub use data::prepare::{
    InspectReply, PrepareReply, VerifyReply, inspect_data, prepare_data, verify_data,
};
pub use data::speedtest::{
    CacheState, PictureSource, Ratio, SpeedCoefficient, SpeedConditions, SpeedFit, SpeedLackOfFit,
    SpeedMean, SpeedModel, SpeedRow, Speedtest, SpeedtestProgress, SpeedtestRequest, speedtest,
    speedtest_csv, speedtest_page, speedtest_sections,
};
pub use error::Error;
pub use error_reply::{ErrorKind, ErrorReply, ProblemReply};
pub use json::{to_json, to_json_line};
pub use nouns::{analysis, clouds, pages, plans, queueing, records, store, training};
pub use planning::execution::{Keeping, PlannedStep, PlannedStepTime, planned_job};
pub use planning::page::plan_page;
pub use planning::plan::{PlanAnswer, PlanRequest, plan};
pub use planning::reply::{
    BusyResource, ChosenPlan, MeasuredStrategy, PlanMachine, PlanReply, PlanSearch, PlannedChange,
};
pub use questions::designs::{
    Alpha, CentrePoints, DesignReply, DesignRequest, FractionBy, FractionRequest, Spread, Star,
    design,
};
pub use questions::doctor::{DoctorCheck, DoctorReply, DoctorState, doctor};
pub use questions::findings::{FindingsReply, findings};
pub use questions::machine::{MachineReply, MachineRequest, machine};
pub use questions::optimal_rows::{OptimalRequest, OptimalRows};
pub use questions::pages::{load_page, queue_page};
pub use questions::queue::{
    Agreement, ClassesSimulated, FitReply, FitRequest, FitSource, QueueReply, QueueSimulated,
    SimulationLength, TimesFit, fit_queue, priority_queue, queue, simulate_priorities,
    simulate_queue,
};
pub use questions::tables::{
    CompareReply, compare, compare_trials, correlate, overhead, scaling, surface, surface_of_trials,
};
pub use questions::test_of_columns::{NamedColumn, test_columns};
pub use questions::test_statistics::{
    AdjustmentMethod, Location, StatsTest, TestQuestion, TestResult, test_statistics,
};
pub use running::bench::{
    BenchCommand, BenchEnd, BenchEvent, BenchFailures, BenchMetric, BenchParameter, BenchReply,
    BenchRequest, BenchResult, BenchRuns, BenchShell, BenchText, RankTest, bench, bench_csv,
    bench_markdown, hyperfine_json,
};
pub use running::load::{LoadArrivals, LoadEnd, LoadEvent, LoadJob, LoadReply, LoadRequest, load};
pub use running::run::{RetryFailed, RunEnd, RunEvent, RunRequest, Wish, run};
pub use running::run_reply::RunReply;
pub use running::stop::{StopReply, stop};
pub use running::trial_variables::TrialVariables;
pub use searching::ask_tell::{AskReply, AskedTrial, TellReply, Told, ask, tell};
pub use searching::in_memory::MemorySearch;
pub use searching::search::{SearchEnd, search};
pub use searching::search_reply::{Found, Next, RunnerUp, SearchReply};
pub use studies::analyze::{TableRequest, analyze, analyze_table};
pub use studies::check::{Hours, HoursFrom, Preview, check};
pub use studies::exclude::{ExcludeReply, exclude};
pub use studies::export::mlflow::{Curves, export_mlflow, tracked_runs, tracked_studies};
#[cfg(feature = "parquet")]
pub use studies::export::parquet::export_parquet;
pub use studies::export::spreadsheet::safe_for_spreadsheets;
pub use studies::export::trial_columns::{Cells, TrialColumn, TrialColumns, trial_columns};
pub use studies::export::{ExportTable, UsageColumns, export_csv};
pub use studies::import::foreign::ForeignKind;
pub use studies::import::{ImportSource, Imported, MissingRow, ShortRow, import};
pub use studies::init::{InitReply, init, init_from, init_from_csv};
pub use studies::metric_rules::{MetricRulesReply, NearMiss, RuleFind, RuleReply, metric_rules};
pub use studies::place::Place;
pub use studies::plan_change::{Accepted, ChangeMeaning, ChangeNote};
pub use studies::planned::design_of;
pub use studies::report::{ReportReply, report, surface_report, table_report, verdict, write_file};
pub use studies::results::Results;
pub use studies::status::{
    LogName, LogsReply, StatusReply, TrialCounts, TrialStatus, budget_spent, logs, status,
};
pub use studies::studies_compared::{StudiesReply, StudySummary, compare_studies, studies_page};
pub use studies::trial_files::{
    FilesReply, TrialFile, files_in, open_trial_file, trial_file, trial_files,
};
pub use trainings::job::{JobChannels, job};
pub use trainings::launched_rank::launched_rank;
pub use trainings::network::{NetworkRequest, NetworkSummary, describe_network};
pub use trainings::predictions::{predict, predictions_csv, predictions_page};
pub use trainings::train::{Trained, train, worker};
pub use trainings::training_page::training_page;
pub use trainwright_engine::MissingMetric;
pub use watching::actions::{ActionReply, add_replications, find_study_file, start_runner};
pub use watching::comparing::{CompareChoice, compare_configurations, configurations_of};
pub use watching::listing::{SortDirection, TrialList, TrialQuery};
pub use watching::live_trial::{OutputTail, live_curves, output_tail};
pub use watching::speed_results::{SPEEDTEST_NOUN, find_speedtests, read_speedtest};
pub use watching::stores::{FoundStudy, find_stores, studies_in};
pub use watching::thought::Thought;
pub use watching::view::{StudyView, TimeLeft};
