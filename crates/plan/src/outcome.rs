//! What a plan comes to: a row of the table, where its time goes, and what would help.

mod critical;
mod table;
mod trace;
mod what_if;

pub use critical::{CriticalPart, CriticalPath};
pub use table::{Ranked, Strategy, StrategyRow, Tables, strategies};
pub use trace::{chrome_trace, pipeline_trace};
pub use what_if::{Change, Planned, WhatIf, what_if};
