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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TermOrder;

    fn entered(formula: &str, value: f64) -> Result<f64, String> {
        let formula = Formula::parse(formula, TermOrder::Formula).unwrap();
        Response::of(&formula).enter(value, || 7).map_err(|error| error.to_string())
    }

    #[test]
    fn values_enter_as_the_left_side_says() {
        assert_eq!(entered("y ~ x", 8.0), Ok(8.0));
        assert_eq!(entered("log(y) ~ x", 1.0), Ok(0.0));
        assert_eq!(entered("log2(y) ~ x", 8.0), Ok(3.0));
        assert_eq!(entered("sqrt(y) ~ x", 16.0), Ok(4.0));
        assert_eq!(entered("I(100 / y) ~ x", 4.0), Ok(25.0));
    }

    #[test]
    fn a_value_without_a_logarithm_is_refused_with_its_line() {
        for value in [0.0, -2.0] {
            let refusal = entered("log(y) ~ x", value).unwrap_err();
            assert!(refusal.contains("line 7") && refusal.contains('y'), "{refusal}");
        }
        assert!(entered("log10(y) ~ x", 0.0).unwrap_err().contains("line 7"));
        assert!(entered("I(1 / y) ~ x", 0.0).unwrap_err().contains("line 7"));
    }
}
