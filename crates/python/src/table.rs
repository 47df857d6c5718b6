//! The trials of a study as columns that other libraries take over without copying.

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use trainwright::TrialColumns;

use crate::arrow;

/// Columns of equal length, handed over by the Arrow PyCapsule interface.
///
/// A consumer gets pointers to this memory, which lives until the last consumer lets go of it.
#[pyclass(frozen)]
pub(crate) struct TrialTable {
    table: arrow::Table,
}

impl TrialTable {
    pub(crate) fn new(columns: TrialColumns) -> Self {
        Self { table: arrow::Table::new(columns) }
    }
}

#[pymethods]
impl TrialTable {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.table.columns().map(|column| column.name().to_owned()).collect()
    }

    fn __len__(&self) -> usize {
        self.table.rows()
    }

    /// One column as a list; `None` where a trial has nothing there.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.table.columns().find(|column| column.name() == name);
        let column = column.ok_or_else(|| {
            pyo3::exceptions::PyKeyError::new_err(format!(
                "there is no column `{name}`; columns are {}",
                self.columns().join(", ")
            ))
        })?;
        column.to_list(py)
    }

    /// The Arrow C schema of the table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.table)
    }

    /// The Arrow C stream of the table, in one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give its own types where it cannot convert.
        drop(requested_schema);
        arrow::stream_capsule(py, &self.table)
    }
}
