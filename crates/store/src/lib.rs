//! What keeps trials: one SQLite file with studies, trials, measurements and series.
//!
//! Read `store.rs` first. `schema.rs` holds the tables and their versions, `columns.rs` the
//! compressed form of series. The runner is the one writer; other processes only read.

mod columns;
mod error;
mod schema;
mod store;
mod trials;

pub use error::StoreError;
pub use store::{Durability, Store, StoredStudy};
pub use trials::{Ended, ImportedTrial, MovedTrial, StoredTrial};
