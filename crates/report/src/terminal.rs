//! What verbs answer, as plain text: one file an answer.
//!
//! `text_table.rs` lays out every table, `colour.rs` says whether a text may use colour,
//! `unit.rs` writes times and rates, `visible.rs` makes text of other programs safe to show,
//! `wrap.rs` breaks lines at the width of the terminal.

mod analysis_tables;
pub(crate) mod bottlenecks;
mod catalogue;
mod colour;
mod comparison;
mod confounding;
mod correlations;
mod design;
mod queue;
mod scaling;
mod surface;
mod test_fields;
mod text_table;
mod unit;
mod verdict;
mod visible;
mod wrap;

pub use catalogue::{catalogue_entry_text, catalogue_text};
pub use colour::Colour;
pub use comparison::comparison_text;
pub use confounding::confounding_text;
pub use correlations::correlations_text;
pub use design::{decimal_rows_text, fraction_text, rows_text, screening_text, space_filling_text};
pub use queue::{percent_of, priority_text, queue_text, servers_text};
pub use scaling::{overhead_text, scaling_text};
pub use surface::surface_text;
pub use test_fields::test_fields_text;
pub use text_table::TextTable;
pub use unit::Unit;
pub use verdict::{analysis_text, findings_text, verdict};
pub use visible::{visible, visible_bytes};
pub use wrap::wrapped;
