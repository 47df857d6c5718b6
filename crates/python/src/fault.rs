//! Errors of the verbs as Python exceptions, which the package defines in `errors.py`.

use pyo3::prelude::*;
use trainwright::Error;

/// The exception for an error: bad input is also a `ValueError`.
pub(crate) fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let class = match error.exit_code() {
        2 => "InputError",
        _ => "EnvironmentFault",
    };
    exception(class, error.to_string())
}

/// The exception for a request that does not read.
pub(crate) fn bad_input(message: String) -> PyErr {
    exception("InputError", message)
}

fn exception(class: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("trainwright.errors")
            .and_then(|errors| errors.getattr(class))
            .and_then(|class| class.call1((message,)));
        made.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// A reply as JSON text.
pub(crate) fn json(reply: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(reply).map_err(|error| bad_input(error.to_string()))
}
