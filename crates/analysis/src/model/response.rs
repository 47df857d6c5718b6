//! How the values of a response enter the fit.

use trainwright_study::Value;

use crate::error::AnalysisError;
use crate::model::derived_columns::Computed;
use crate::model::formula::{Formula, Transform};

/// A formula's left side, ready for many rows.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    /// The column it is made of.
    pub(crate) column: String,
    transform: Entering,
}

#[derive(Debug, Clone)]
enum Entering {
    AsItIs,
    Log,
    Computed { text: String, computed: Computed },
}

impl Response {
    /// The left side of a formula.
    pub(crate) fn of(formula: &Formula) -> Self {
        let transform = match &formula.transform {
            Transform::Identity => Entering::AsItIs,
            Transform::Log => Entering::Log,
            Transform::Computed(text) => {
                let Some(Ok(computed)) = Computed::parse(text) else {
                    panic!("`{text}` comes from a formula, which reads it first");
                };
                Entering::Computed { text: text.clone(), computed }
            }
        };
        Self { column: formula.response.clone(), transform }
    }

    /// The value of a row as it enters the fit; the row's line is asked for a fault only.
    pub(crate) fn enter(
        &self,
        value: f64,
        line: impl FnOnce() -> u64,
    ) -> Result<f64, AnalysisError> {
        match &self.transform {
            Entering::AsItIs => Ok(value),
            Entering::Log if value > 0.0 => Ok(value.ln()),
            Entering::Log => {
                let name = self.column.clone();
                Err(AnalysisError::LogOfNonPositive { name, line: line(), value })
            }
            Entering::Computed { text, computed } => {
                computed.number(&|_| Some(Value::Number(value))).map_err(|reason| {
                    let (expression, line) = (text.clone(), line());
                    AnalysisError::NotComputable { expression, line, reason }
                })
            }
        }
    }
}
