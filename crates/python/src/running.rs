//! Studies run inside a Python program: its signals are heard, its other threads go on.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use trainwright::store::Durability;
use trainwright::{Accepted, RetryFailed, RunEnd, RunEvent, RunRequest, SearchEnd, Wish};
use trainwright_study::{Configuration, Level, PlannedTrial, Study, TrialRecord};

use crate::fault::raised;

/// How a study is run, as `RunOptions` of the package says it.
#[derive(FromPyObject)]
pub(crate) struct RunWishes {
    program: PathBuf,
    slots: Option<u32>,
    flush: bool,
    retry_failed: bool,
    accept_command: bool,
    replay: Option<PathBuf>,
}

impl RunWishes {
    fn request<'a>(&'a self, store: Option<&'a Path>) -> RunRequest<'a> {
        RunRequest {
            store,
            durability: if self.flush { Durability::Flushed } else { Durability::Unflushed },
            retry_failed: if self.retry_failed { RetryFailed::Yes } else { RetryFailed::No },
            accepted: Accepted { command: self.accept_command },
            replay: self.replay.as_deref(),
            program: self.program.clone(),
            engine: None,
            variables: None,
        }
    }

    /// The study with as many slots as were asked for.
    fn on_slots(&self, study: &Study) -> Study {
        let mut study = study.clone();
        study.run.slots = self.slots.unwrap_or(study.run.slots);
        study
    }
}

/// Runs what is left of a study.
pub(crate) fn run(
    study: &Study,
    store: Option<&Path>,
    wishes: &RunWishes,
    on_event: &Bound<'_, PyAny>,
) -> PyResult<RunEnd> {
    let study = wishes.on_slots(study);
    let request = wishes.request(store);
    heard(on_event, |wish, tell| trainwright::run(&study, &request, wish, tell))
}

/// Searches a study, or goes on where it stopped.
pub(crate) fn search(
    study: &Study,
    store: Option<&Path>,
    wishes: &RunWishes,
    on_event: &Bound<'_, PyAny>,
) -> PyResult<SearchEnd> {
    let study = wishes.on_slots(study);
    let request = wishes.request(store);
    heard(on_event, |wish, tell| trainwright::search(&study, &request, wish, tell))
}

/// What a Python program has asked for while its study runs.
#[derive(Default)]
struct Heard {
    /// Signals, and failures of the callback.
    calls_to_stop: u32,
    /// What the caller gets to see when everything is kept.
    fault: Option<PyErr>,
}

impl Heard {
    fn stop(&mut self, fault: PyErr) {
        self.calls_to_stop += 1;
        self.fault.get_or_insert(fault);
    }

    fn wish(&self) -> Wish {
        match self.calls_to_stop {
            0 => Wish::GoOn,
            1 => Wish::Stop,
            _ => Wish::StopNow,
        }
    }
}

/// Does work that asks for wishes and tells events, without holding the interpreter.
///
/// A signal that raises, such as Ctrl-C, or a callback that does, stops the study in an orderly
/// way: its exception is raised when all that has ended is kept.
fn heard<T: Send>(
    on_event: &Bound<'_, PyAny>,
    work: impl FnOnce(&dyn Fn() -> Wish, &mut dyn FnMut(RunEvent<'_>)) -> Result<T, trainwright::Error>
    + Send,
) -> PyResult<T> {
    let heard = Mutex::new(Heard::default());
    let callback = on_event.clone().unbind();
    let done = on_event.py().detach(|| {
        let wish = || {
            let mut heard = locked(&heard);
            if let Err(fault) = Python::attach(|py| py.check_signals()) {
                heard.stop(fault);
            }
            heard.wish()
        };
        let mut tell = |event: RunEvent<'_>| {
            let told =
                Python::attach(|py| callback.bind(py).call1((as_dict(py, &event)?,)).map(|_| ()));
            if let Err(fault) = told {
                locked(&heard).stop(fault);
            }
        };
        work(&wish, &mut tell)
    });
    let done = done.map_err(raised)?;
    let heard = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
    heard.fault.map_or(Ok(done), Err)
}

fn locked(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event as a dictionary with its name under `event`.
fn as_dict<'py>(py: Python<'py>, event: &RunEvent<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let name = match event {
        RunEvent::Planned { total, left, recovered, changes } => {
            dict.set_item("total", total)?;
            dict.set_item("left", left)?;
            dict.set_item("recovered", recovered)?;
            dict.set_item("changes", PyList::new(py, *changes)?)?;
            "planned"
        }
        RunEvent::Cluster { words } => {
            dict.set_item("words", words)?;
            "cluster"
        }
        RunEvent::WarmUp { number, of } => {
            dict.set_item("number", number)?;
            dict.set_item("of", of)?;
            "warm-up"
        }
        RunEvent::Started { trial } => {
            set_trial(&dict, trial)?;
            "started"
        }
        RunEvent::Progress { number, elapsed, latest } => {
            dict.set_item("trial", number)?;
            dict.set_item("seconds", elapsed.as_secs_f64())?;
            let values = PyDict::new(py);
            for (metric, value) in *latest {
                values.set_item(metric, value)?;
            }
            dict.set_item("values", values)?;
            "progress"
        }
        RunEvent::Ended { trial, record, again } => {
            set_trial(&dict, trial)?;
            set_end(&dict, record)?;
            dict.set_item("again", again)?;
            "ended"
        }
        RunEvent::NoMetric { trial, missing, reason, try_with } => {
            set_trial(&dict, trial)?;
            let names: Vec<&str> = missing.iter().map(|own| own.metric.as_str()).collect();
            dict.set_item("missing", names)?;
            dict.set_item("reason", reason)?;
            dict.set_item("try_with", try_with)?;
            "no-metric"
        }
        RunEvent::StoreBusy => "store-busy",
    };
    dict.set_item("event", name)?;
    Ok(dict)
}

fn set_trial(dict: &Bound<'_, PyDict>, trial: &PlannedTrial) -> PyResult<()> {
    dict.set_item("trial", trial.number)?;
    dict.set_item("replicate", trial.replicate)?;
    dict.set_item("configuration", configuration(dict.py(), &trial.configuration)?)
}

fn set_end(dict: &Bound<'_, PyDict>, record: &TrialRecord) -> PyResult<()> {
    dict.set_item("state", record.outcome.state().word())?;
    dict.set_item("reason", record.outcome.reason())?;
    dict.set_item("seconds", record.usage.as_ref().map(|usage| usage.wall_s))?;
    let values = PyDict::new(dict.py());
    for measured in &record.measurements {
        values.set_item(&measured.metric, measured.value)?;
    }
    dict.set_item("values", values)
}

/// A configuration as a dictionary.
pub(crate) fn configuration<'py>(
    py: Python<'py>,
    configuration: &Configuration,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (factor, level) in configuration.iter() {
        match level {
            Level::Truth(value) => dict.set_item(factor, value)?,
            Level::Integer(value) => dict.set_item(factor, value)?,
            Level::Number(value) => dict.set_item(factor, value)?,
            Level::Text(value) => dict.set_item(factor, value)?,
        }
    }
    Ok(dict)
}
