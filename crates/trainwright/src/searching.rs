//! Searches of a study: run by this program (`search.rs`) or from outside (`ask_tell.rs`, or
//! `in_memory.rs` without a store), and what they have found (`search_reply.rs`).

pub(crate) mod ask_tell;
pub(crate) mod asked;
pub(crate) mod from_study;
pub(crate) mod in_memory;
pub(crate) mod search;
pub(crate) mod search_reply;
mod warm_start;
