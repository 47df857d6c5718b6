//! Proposers and searchers through their public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod contract;
mod explaining;
mod functions;
mod proposers;
mod searchers;
mod searching;
