//! Pages and words as a reader sees them.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

mod best_and_effects;
mod chart_data;
mod designs_in_words;
mod html;
mod page;
mod pages;
mod queues_in_words;
mod sections;
mod simulated;
mod tables_in_words;
mod verdict_in_words;
