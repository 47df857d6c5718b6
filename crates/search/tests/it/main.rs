//! Proposers and searchers through their public interface.

mod contract;
mod explaining;
mod functions;
mod proposers;
mod searchers;
mod searching;
