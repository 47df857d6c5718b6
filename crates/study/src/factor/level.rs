//! A value that a factor may take.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

/// A value that a factor may take: a truth value, a whole number, a number or a text.
///
/// ```
/// use trainwright_study::Level;
///
/// assert_eq!(Level::parse("0.01"), Level::Number(0.01));
/// assert!(Level::Integer(2).same_as(&Level::Number(2.0)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Level {
    /// `true` or `false`.
    Truth(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Number(f64),
    /// Any other text.
    Text(String),
}

impl Level {
    /// Reads a level as a CSV cell or a command line spells it.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Ok(value) = text.parse() {
            return Self::Integer(value);
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => return Self::Number(value),
            _ => {}
        }
        match text {
            "true" => Self::Truth(true),
            "false" => Self::Truth(false),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// The level that a finite number is printed and read again as.
    ///
    /// ```
    /// use trainwright_study::Level;
    ///
    /// assert_eq!(Level::of(2.0), Level::Integer(2));
    /// assert_eq!(Level::of(0.5), Level::Number(0.5));
    /// ```
    pub fn of(value: f64) -> Self {
        // 2^63 is the first number beyond the whole ones.
        if value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0 {
            Self::Integer(value as i64)
        } else {
            Self::Number(value)
        }
    }

    /// The level as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Truth(_) | Self::Text(_) => None,
        }
    }

    /// Whether two levels mean the same value; `2` and `2.0` do.
    pub fn same_as(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self == other,
            _ => false,
        }
    }

    /// A text that two levels share just when they mean the same value.
    ///
    /// Seeds of trials follow from it, so that it never changes between versions.
    pub fn identity(&self) -> String {
        match self {
            Self::Truth(value) => value.to_string(),
            // Adding 0 turns -0, which is the same number, into 0.
            Self::Integer(_) | Self::Number(_) => {
                self.number().map(|number| (number + 0.0).to_string()).unwrap_or_default()
            }
            Self::Text(value) => serde_json::Value::from(value.as_str()).to_string(),
        }
    }
}

/// By hand, because a hundred thousand trials have several levels each, and trying one kind after
/// the other takes most of the time of reading them.
impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LevelVisitor)
    }
}

struct LevelVisitor;

impl Visitor<'_> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a truth value, a number or a text")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Level, E> {
        Ok(Level::Truth(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Level, E> {
        Ok(Level::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Level, E> {
        Ok(i64::try_from(value).map_or(Level::Number(value as f64), Level::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Level, E> {
        Ok(Level::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Level, E> {
        Ok(Level::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Level, E> {
        Ok(Level::Text(value))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            // Hundreds of zeros help nobody; the exponent is read back as the same number.
            Self::Number(value) if value.is_finite() && is_extreme(*value) => {
                write!(f, "{value:e}")
            }
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => f.pad(value),
        }
    }
}

/// Whether a number has more zeros than digits that count.
fn is_extreme(value: f64) -> bool {
    value != 0.0 && !(1e-20..1e21).contains(&value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Level) {
        assert_eq!(Level::parse(text), expected, "{text}");
        assert_eq!(Level::parse(&expected.to_string()), expected, "{text} printed and read again");
    }

    #[test]
    fn a_level_survives_printing_and_reading() {
        check("32", Level::Integer(32));
        check("0.001", Level::Number(0.001));
        check("1e-7", Level::Number(1e-7));
        check("1e300", Level::Number(1e300));
        assert_eq!(Level::Number(-2.5e-300).to_string(), "-2.5e-300");
        check("adam", Level::Text("adam".into()));
        check("true", Level::Truth(true));
        check("inf", Level::Text("inf".into()));
    }

    #[test]
    fn a_number_is_the_level_that_it_prints_as() {
        for value in [0.0, -0.0, 3.0, -7.5, 1e-300, 1e15, -1e18, 1e19, 1e300, 0.1] {
            assert_eq!(Level::of(value), Level::parse(&value.to_string()), "{value}");
        }
    }

    #[test]
    fn numbers_compare_by_value_and_texts_by_letter() {
        assert!(Level::Integer(1).same_as(&Level::Number(1.0)));
        assert!(!Level::Integer(1).same_as(&Level::Text("1".into())));
        assert!(!Level::Truth(true).same_as(&Level::Integer(1)));
    }

    #[test]
    fn levels_share_an_identity_just_when_they_are_the_same() {
        let texts = ["1", "1.0", "1e0", "0.1", "1e-1", "0", "-0.0", "true", "false", "1e300", "x"];
        let quoted = ["1", "true", "x y", "x\" y=\"2"].map(|text| Level::Text(text.into()));
        let levels: Vec<Level> = texts.into_iter().map(Level::parse).chain(quoted).collect();
        for a in &levels {
            for b in &levels {
                assert_eq!(a.identity() == b.identity(), a.same_as(b), "{a:?} and {b:?}");
            }
        }
    }
}
