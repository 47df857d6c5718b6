//! What keeps trials: one SQLite file with studies, trials, measurements and series.
//!
//! The runner is the one writer and uses [`Store`] (`store.rs`, `changes.rs`); everyone else looks
//! at a [`Snapshot`] (`snapshot.rs`), which never changes while it is looked at. `opening.rs` says
//! which files are stores, `schema.rs` holds the tables and their versions, `rows.rs` turns rows
//! into trials, `trial_lines.rs` the same in short, `optuna.rs` reads the trials of that program, `columns.rs` is the compressed form of series.

mod changes;
mod columns;
mod error;
mod opening;
mod optuna;
mod rows;
mod schema;
mod snapshot;
mod store;
mod trial;
mod trial_lines;

pub use changes::{Ended, ImportedTrial, MovedTrial, PlanUpdate, Reread};
pub use error::StoreError;
pub use optuna::{OptunaStudy, OptunaTrial};
pub use snapshot::Snapshot;
pub use store::{Durability, Store};
pub use trial::{Circumstances, Progress, StoredStudy, StoredTrial};
pub use trial_lines::TrialLine;
