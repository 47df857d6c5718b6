//! What keeps trials: one SQLite file with studies, trials, measurements and series.
//!
//! The runner is the one writer and uses [`Store`] (`store.rs`, `changes.rs`); everyone else looks
//! at a [`Snapshot`] (`snapshot.rs`), which never changes while it is looked at. `opening.rs` says
//! which files are stores, `schema.rs` holds the tables and their versions, `rows.rs` turns rows
//! into trials, `trial_lines.rs` the same in short, `optuna.rs` and `mlflow.rs` read what those programs keep, `mlflow_writer.rs` writes for the latter, `columns.rs` is the compressed form of series.

mod changes;
mod columns;
mod error;
mod mlflow;
mod mlflow_writer;
mod opening;
mod optuna;
mod rows;
mod schema;
mod snapshot;
mod store;
mod trial;
mod trial_lines;
mod watch;

pub use changes::{Ended, ImportedTrial, MovedTrial, PlanUpdate, Reread};
pub use error::StoreError;
pub use mlflow::MlflowRun;
pub use mlflow_writer::{TrackedMetric, TrackedRun, write_mlflow};
pub use optuna::{OptunaStudy, OptunaTrial};
pub use snapshot::Snapshot;
pub use store::{Durability, Store};
pub use trial::{Circumstances, Progress, StoredStudy, StoredTrial, Superseded};
pub use trial_lines::TrialLine;
pub use watch::StoreWatch;
