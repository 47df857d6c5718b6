//! A search that is asked and told in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use trainwright::{MemorySearch, Told};
use trainwright_study::Study;
use trainwright_study::draft::StudyDraft;

use crate::fault::{bad_input, json, raised};

/// A search without a store.
#[pyclass(frozen)]
pub(crate) struct NativeSearch {
    search: Mutex<MemorySearch>,
}

#[pymethods]
impl NativeSearch {
    /// The search of a study that is written as JSON with the keys of a study file.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let draft: StudyDraft =
            serde_json::from_str(text).map_err(|error| bad_input(error.to_string()))?;
        let study = Study::from_draft(draft).map_err(raised)?;
        let search = Mutex::new(MemorySearch::new(study).map_err(raised)?);
        Ok(Self { search })
    }

    /// Which trials to run next, as JSON.
    fn ask(&self, py: Python<'_>, count: u32) -> PyResult<String> {
        py.detach(|| json(&self.locked().ask(count)))
    }

    /// Learns what came of a trial; what is known then, as JSON.
    #[pyo3(signature = (trial, values, failed=None, seconds=None))]
    fn tell(
        &self,
        py: Python<'_>,
        trial: u32,
        values: BTreeMap<String, f64>,
        failed: Option<String>,
        seconds: Option<f64>,
    ) -> PyResult<String> {
        let told = Told { trial, values, failed, seconds };
        py.detach(|| json(&self.locked().tell(&told).map_err(raised)?))
    }
}

impl NativeSearch {
    fn locked(&self) -> MutexGuard<'_, MemorySearch> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
