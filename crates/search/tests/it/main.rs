//! Proposers through their public interface.

mod contract;
mod proposers;
