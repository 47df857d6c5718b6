//! The Python module: studies, searches, tests and records for programs and notebooks.
//!
//! Rust does the work and answers in JSON or in columns; the classes that a user meets are Python
//! (`python/trainwright`), which turns answers into dataclasses. Every call that may take long
//! lets other Python threads run.
//!
//! Read `study.rs` first. `running.rs` runs studies under Python's signals, `table.rs` and
//! `arrow/` hand columns over without copying, `searching.rs` asks and tells in memory,
//! `statistics.rs`, `designs.rs` and `pictures.rs` hold the rest.

mod arrow;
mod designs;
mod fault;
mod pictures;
mod running;
mod searching;
mod statistics;
mod study;
mod table;

use pyo3::prelude::*;

/// The native part of the package `trainwright`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<study::NativeStudy>()?;
    module.add_class::<table::TrialTable>()?;
    module.add_class::<searching::NativeSearch>()?;
    module.add_class::<pictures::PictureBatches>()?;
    module.add_class::<pictures::PictureEpoch>()?;
    module.add_function(wrap_pyfunction!(statistics::statistical_test, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::statistical_tests, module)?)?;
    module.add_function(wrap_pyfunction!(designs::design, module)?)?;
    Ok(())
}
