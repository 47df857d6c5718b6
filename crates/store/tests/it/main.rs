//! The store through its public interface, on real files.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod keeping;
mod snapshots;
mod trouble;
