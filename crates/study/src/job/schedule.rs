//! How learning rate and batch go on, as text.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// How learning rate and batch go on.
///
/// ```
/// use trainwright_study::Schedule;
///
/// let schedule: Schedule = "step:0.1@30,60".parse()?;
/// assert_eq!(schedule, Schedule::Step { factor: 0.1, at: vec![30.0, 60.0] });
/// assert_eq!(schedule.to_string(), "step:0.1@30,60");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// Both stay: `constant`.
    #[default]
    Constant,
    /// The rate is multiplied by a factor at some epochs: `step:0.1@30,60`.
    Step {
        /// What the rate is multiplied by, above 0 and below 1.
        factor: f64,
        /// When, in finished epochs.
        at: Vec<f64>,
    },
    /// The rate falls to zero along half a cosine: `cosine`.
    Cosine,
    /// The batch is multiplied where the rate would be divided: `grow-batch:5@30,60`.
    GrowBatch {
        /// What the batch is multiplied by, above 1.
        factor: f64,
        /// When, in finished epochs.
        at: Vec<f64>,
    },
    /// The batch follows the measured noise of the gradients: `noise-scale`.
    NoiseScale,
}

const FORMS: &str = "write constant, cosine, step:0.1@30,60, grow-batch:5@30,60 or noise-scale";

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match (name, rest) {
            ("constant", None) => Ok(Self::Constant),
            ("cosine", None) => Ok(Self::Cosine),
            ("noise-scale", None) => Ok(Self::NoiseScale),
            ("step", Some(rest)) => {
                let (factor, at) = factor_and_places(rest)?;
                if !(factor > 0.0 && factor < 1.0) {
                    return Err(format!("a rate's factor lies between 0 and 1, this is {factor}"));
                }
                Ok(Self::Step { factor, at })
            }
            ("grow-batch", Some(rest)) => {
                let (factor, at) = factor_and_places(rest)?;
                if !(factor > 1.0 && factor.is_finite()) {
                    return Err(format!("a batch's factor is above 1, this is {factor}"));
                }
                Ok(Self::GrowBatch { factor, at })
            }
            _ => Err(format!("`{text}` is no schedule; {FORMS}")),
        }
    }
}

/// Reads `0.1@30,60`.
fn factor_and_places(text: &str) -> Result<(f64, Vec<f64>), String> {
    let number = |word: &str| {
        let number: Result<f64, _> = word.trim().parse();
        number.map_err(|_| format!("`{word}` is not a number"))
    };
    let (factor, places) =
        text.split_once('@').ok_or_else(|| format!("`{text}` has no `@`; {FORMS}"))?;
    let places: Vec<f64> = places.split(',').map(number).collect::<Result<_, _>>()?;
    let mut before = 0.0;
    for &place in &places {
        if !(place > before && place.is_finite()) {
            return Err(format!("epochs rise from above 0, {place} follows {before}"));
        }
        before = place;
    }
    Ok((number(factor)?, places))
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |at: &[f64]| at.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Cosine => f.write_str("cosine"),
            Self::NoiseScale => f.write_str("noise-scale"),
            Self::Step { factor, at } => write!(f, "step:{factor}@{}", list(at)),
            Self::GrowBatch { factor, at } => write!(f, "grow-batch:{factor}@{}", list(at)),
        }
    }
}

impl TryFrom<String> for Schedule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}

impl JsonSchema for Schedule {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Schedule".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "How learning rate and batch go on: constant, cosine, \
                step:0.1@30,60, grow-batch:5@30,60 or noise-scale.",
            "pattern": "^(constant|cosine|noise-scale|(step|grow-batch):[^@]+@.+)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_written_alike() {
        for text in ["constant", "cosine", "noise-scale", "step:0.1@30,60", "grow-batch:5@0.5,2"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        let error = text.parse::<Schedule>().unwrap_err();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn what_is_no_schedule_is_told() {
        check_refused("linear", "`linear` is no schedule; write constant, cosine,");
        check_refused("step", "`step` is no schedule");
        check_refused("step:0.1", "`0.1` has no `@`");
        check_refused("step:x@3", "`x` is not a number");
        check_refused("step:2@3", "between 0 and 1, this is 2");
        check_refused("step:0.1@30,20", "20 follows 30");
        check_refused("step:0.1@0", "0 follows 0");
        check_refused("grow-batch:0.5@3", "above 1, this is 0.5");
        check_refused("grow-batch:inf@3", "above 1, this is inf");
    }
}
