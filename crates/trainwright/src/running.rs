//! Trials under way: the one loop, and the verbs that use it.
//!
//! Read `driver.rs` first; `run.rs` and `load.rs` are that loop with another proposer and keeper.

pub(crate) mod bench;
pub(crate) mod driver;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod run;
pub(crate) mod run_reply;
pub(crate) mod stop;
pub(crate) mod trial_variables;
