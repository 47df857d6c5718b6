//! Verbs about a study and its trials.

mod analyze;
mod check;
mod export;
mod import;
mod load;
mod logs;
mod report;
mod run;
mod search;
mod start_and_stop;
mod status;

pub(super) use analyze::analyze;
pub(super) use check::check;
pub(super) use export::export;
pub(super) use import::import;
pub(super) use load::load;
pub(super) use logs::logs;
pub(super) use report::report;
pub(super) use run::run;
pub(super) use search::{ask, search, tell};
pub(super) use start_and_stop::{init, stop};
pub(super) use status::status;
