//! Parameter servers: some ranks own the vector, others compute its gradients.
//!
//! Rank 0 leads, the ranks after it are workers, the last ones servers. A [`Server`] holds the
//! piece of an [`Owner`]; a [`Worker`] asks the leader for shares of steps, pulls numbers from all
//! servers and pushes gradients to them; the [`Leader`] deals the shares out and, where updates wait
//! for several shares, tells the servers which gradients make up a step.
//!
//! What may run when is the [`Consistency`], decided in one place, `dealer.rs`, which knows neither
//! threads nor sockets:
//!
//! | consistency | a step is | an update waits for | a worker may run ahead by |
//! |---|---|---|---|
//! | `Sync` | one share a worker | all shares, or the first n of n + backup | nothing |
//! | `Bounded` | one share a worker | all shares of the step, and the step before | `slack` steps |
//! | `Async` | one share | nothing | any number of steps |
//!
//! A version is the number of updates that a server has made. Every push says which version its
//! gradients were computed from; version at the update minus that is its staleness. No gradient is
//! applied twice: a share that was dealt out again after a loss is known by its step and part, and
//! what comes late is dropped and counted.
//!
//! Read `dealer.rs` first, then `server.rs`, `worker.rs` and `leader.rs`.

mod dealer;
mod leader;
mod log;
mod server;
mod staleness;
mod words;
mod worker;

pub use dealer::{Consistency, Share};
pub use leader::{Finished, Leader, Ran, StepPlan, Stretch};
pub use log::{Applied, AppliedPush};
pub use server::{Gradients, Owner, Push, Server, ServerAccount};
pub use staleness::Staleness;
#[cfg(feature = "fuzzing")]
pub(crate) use words::{read_done, read_leases, read_log, read_takes};
pub use words::{text_of_words, words_of_text};
pub use worker::{Done, Job, Order, Pushed, ServerWaits, Worker};
