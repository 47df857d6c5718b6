//! The Arrow C data interface, written by hand: three structures and who frees them.
//!
//! `column.rs` lays cells out as Arrow does, `c_data.rs` has the structures of the specification
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>), `schema.rs` and `stream.rs` fill
//! them. Each child structure owns a share of the table, because a consumer may keep one and
//! release its parent.

mod c_data;
mod column;
mod schema;
mod stream;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use trainwright::TrialColumns;

pub(crate) use column::Column;

/// Columns of equal length in Arrow's layout.
#[derive(Clone)]
pub(crate) struct Table {
    columns: Arc<Vec<Column>>,
    rows: usize,
}

impl Table {
    pub(crate) fn new(columns: TrialColumns) -> Self {
        let rows = columns.rows;
        let columns = columns.columns.into_iter().map(Column::new).collect();
        Self { columns: Arc::new(columns), rows }
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter()
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}

/// The capsule `arrow_schema` of a table.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    table: &Table,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, schema::of_table(table), c"arrow_schema")
}

/// The capsule `arrow_array_stream` of a table.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    table: &Table,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, stream::of_table(table.clone()), c"arrow_array_stream")
}
