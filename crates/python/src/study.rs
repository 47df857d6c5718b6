//! A study and the verbs on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use trainwright::analysis::{AnovaType, Coding, StudyOptions};
use trainwright::{Error, Results, RunEnd, RunReply, SearchReply, Told, UsageColumns, terminal};
use trainwright_study::draft::StudyDraft;
use trainwright_study::{SourceFile, Study};

use crate::fault::{bad_input, json, raised};
use crate::running::{self, RunWishes};
use crate::table::TrialTable;

/// A checked study and where its trials are kept.
#[pyclass(frozen)]
pub(crate) struct NativeStudy {
    study: Study,
    store: Option<PathBuf>,
}

#[pymethods]
impl NativeStudy {
    /// Reads and checks a study file.
    #[staticmethod]
    #[pyo3(signature = (path, store=None))]
    fn load(path: PathBuf, store: Option<PathBuf>) -> PyResult<Self> {
        let study = Study::load(&path).map_err(raised)?;
        Ok(Self { study, store })
    }

    /// Checks a study that is written as JSON with the keys of a study file.
    #[staticmethod]
    #[pyo3(signature = (text, folder, store=None))]
    fn from_json(text: &str, folder: &str, store: Option<PathBuf>) -> PyResult<Self> {
        let draft: StudyDraft =
            serde_json::from_str(text).map_err(|error| bad_input(place_free(&error)))?;
        let mut study = Study::from_draft(draft).map_err(raised)?;
        study.source =
            SourceFile { path: Path::new(folder).join("study.toml"), text: String::new() };
        Ok(Self { study, store })
    }

    /// The study as JSON.
    fn describe(&self) -> PyResult<String> {
        json(&self.study)
    }

    /// The store's file.
    #[getter]
    fn store(&self) -> PathBuf {
        trainwright::Place::of(&self.study, self.store.as_deref()).store
    }

    /// The folder of a trial.
    fn trial_folder(&self, number: u32) -> PathBuf {
        trainwright::Place::of(&self.study, self.store.as_deref()).trial(number)
    }

    /// What the study will do, as JSON and in words.
    fn check(&self, py: Python<'_>, program: PathBuf) -> PyResult<(String, String)> {
        py.detach(|| {
            let preview =
                trainwright::check(&self.study, self.store.as_deref(), &program).map_err(raised)?;
            Ok((json(&preview)?, terminal::check(&preview)))
        })
    }

    /// Runs what is left; the reply as JSON and its words.
    fn run(&self, wishes: RunWishes, on_event: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
        let store = self.store.as_deref();
        let end = running::run(&self.study, store, &wishes, on_event)?;
        on_event.py().detach(|| self.run_reply(end).map_err(raised))
    }

    /// Searches; the reply as JSON and its words.
    fn search(&self, wishes: RunWishes, on_event: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
        let end = running::search(&self.study, self.store.as_deref(), &wishes, on_event)?;
        on_event.py().detach(|| {
            let results = self.results().map_err(raised)?;
            let reply = SearchReply::of(&self.study, &results, Some(end)).map_err(raised)?;
            Ok((json(&reply)?, terminal::search(&reply)))
        })
    }

    /// What a search has found by now, as JSON and in words.
    fn found(&self, py: Python<'_>) -> PyResult<(String, String)> {
        py.detach(|| {
            let results = self.results().map_err(raised)?;
            let reply = SearchReply::of(&self.study, &results, None).map_err(raised)?;
            Ok((json(&reply)?, terminal::search(&reply)))
        })
    }

    /// The trials as columns.
    fn trials(&self, py: Python<'_>, usage: bool) -> PyResult<TrialTable> {
        py.detach(|| {
            let columns = trainwright::trial_columns(
                &self.study,
                self.store.as_deref(),
                if usage { UsageColumns::Added } else { UsageColumns::LeftOut },
            )
            .map_err(raised)?;
            Ok(TrialTable::new(columns))
        })
    }

    /// Learning curves and telemetry of a trial, as JSON.
    fn series(&self, py: Python<'_>, number: u32) -> PyResult<String> {
        py.detach(|| {
            let results = self.results().map_err(raised)?;
            results.trial(&self.study, number).map_err(raised)?;
            json(&results.series(number).map_err(raised)?)
        })
    }

    /// What the measurements say, as JSON and in words.
    fn analyze(&self, py: Python<'_>, types: Vec<u8>, coded: bool) -> PyResult<(String, String)> {
        let kinds = types.into_iter().map(anova_type).collect::<PyResult<Vec<_>>>()?;
        let coding = if coded { Coding::Coded } else { Coding::Raw };
        let options = StudyOptions { coding, types: kinds, ..StudyOptions::default() };
        py.detach(|| {
            let results = self.results().map_err(raised)?;
            let analysis = trainwright::analyze(&self.study, &results, &options).map_err(raised)?;
            let text = json(&analysis)?;
            let reply = RunReply {
                analysis: Some(analysis),
                ..self.bare_reply(&results, RunEnd::Complete)
            };
            let words =
                trainwright::verdict(&self.study, &results, &reply, terminal::Colour::Never);
            Ok((text, words))
        })
    }

    /// Writes the report; its size.
    fn report(&self, py: Python<'_>, path: PathBuf, written_at: &str) -> PyResult<usize> {
        py.detach(|| {
            let results = self.results().map_err(raised)?;
            let page = trainwright::report(&self.study, &results, written_at).map_err(raised)?;
            trainwright::write_file(&path, page.as_bytes()).map_err(raised)?;
            Ok(page.len())
        })
    }

    /// How far the study has come, as JSON and in words.
    fn status(&self, py: Python<'_>) -> PyResult<(String, String)> {
        py.detach(|| {
            let results = self.results().map_err(raised)?;
            let reply = trainwright::status(&self.study, &results).map_err(raised)?;
            Ok((json(&reply)?, terminal::status(&reply)))
        })
    }

    /// Asks the study's search which trials to run next, as JSON.
    fn ask(&self, py: Python<'_>, count: u32) -> PyResult<String> {
        py.detach(|| {
            json(&trainwright::ask(&self.study, self.store.as_deref(), count).map_err(raised)?)
        })
    }

    /// Keeps what came of a trial that was asked for; what is known then, as JSON.
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
        py.detach(|| {
            json(&trainwright::tell(&self.study, self.store.as_deref(), &told).map_err(raised)?)
        })
    }
}

impl NativeStudy {
    fn results(&self) -> Result<Results, Error> {
        Results::read(&self.study, self.store.as_deref())
    }

    fn bare_reply(&self, results: &Results, end: RunEnd) -> RunReply {
        RunReply {
            study: self.study.name.clone(),
            end,
            trials: trainwright::TrialCounts::of(results),
            analysis: None,
            analysis_refused: None,
            report: None,
        }
    }

    fn run_reply(&self, end: RunEnd) -> Result<(String, String), Error> {
        let results = self.results()?;
        let reply = RunReply::of(&self.study, &results, end, None);
        let words = trainwright::verdict(&self.study, &results, &reply, terminal::Colour::Never);
        Ok((serde_json::to_string(&reply).unwrap_or_default(), words))
    }
}

fn anova_type(number: u8) -> PyResult<AnovaType> {
    match number {
        1 => Ok(AnovaType::One),
        2 => Ok(AnovaType::Two),
        3 => Ok(AnovaType::Three),
        other => Err(bad_input(format!(
            "there is no analysis of variance of type {other}; types are 1, 2 and 3"
        ))),
    }
}

/// A fault without the place in a JSON text that the user never saw.
fn place_free(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or(&words).to_owned()
}
