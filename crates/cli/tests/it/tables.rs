//! Tables of results: imported, analysed, tested, asked.

mod bad_tables;
mod imported;
mod questions;
mod regressions;
mod statistics;
