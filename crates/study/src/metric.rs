//! What is measured, in which unit, and where it is read.

pub(crate) mod derived;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Expression;

/// A quantity measured in every trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Name, an identifier.
    pub name: String,
    /// Where its value is read.
    pub source: MetricSource,
    /// Which of several values counts.
    pub pick: Pick,
    /// Unit, mandatory for time and money.
    pub unit: Option<String>,
    /// Values outside are kept and flagged.
    pub range: Option<(f64, f64)>,
    /// Whether the study wants it small or large.
    pub objective: Option<Direction>,
}

impl Metric {
    /// Whether the metric is a time, by its unit.
    pub fn is_time(&self) -> bool {
        self.unit.as_deref().is_some_and(|unit| seconds_per(unit).is_some())
    }
}

/// Seconds in one of a time unit; nothing for a unit that is not a time.
pub fn seconds_per(unit: &str) -> Option<f64> {
    Some(match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "seconds" => 1.0,
        "min" | "minutes" => 60.0,
        "h" | "hours" => 3600.0,
        _ => return None,
    })
}

/// Where the value of a metric is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum MetricSource {
    /// JSON lines of the metrics file, else `::metric` lines of the standard output.
    Reported {
        /// Key in the JSON object.
        key: String,
    },
    /// Time from start to exit.
    Wall,
    /// JSON lines of the metrics file.
    Jsonl {
        /// Key in the JSON object.
        key: String,
    },
    /// `::metric {...}` lines of the standard output.
    Stdout {
        /// Key in the JSON object.
        key: String,
    },
    /// Lines of a text that match a pattern.
    Regex {
        /// Text to search.
        file: TextFile,
        /// Pattern with a group `value`, and perhaps a group `step`.
        pattern: Pattern,
    },
    /// A JSON file.
    Json {
        /// Path in the trial's working folder.
        file: String,
        /// JSON Pointer to the number, such as `/eval/accuracy`.
        pointer: String,
    },
    /// A CSV file with a header.
    Csv {
        /// Path in the trial's working folder.
        file: String,
        /// Column with the numbers.
        column: String,
    },
    /// TensorBoard event files.
    Tensorboard {
        /// Folder that is searched for event files, below the trial's working folder.
        file: String,
        /// Scalar to read.
        tag: String,
    },
    /// Computed from factors, other metrics and what the kernel measured.
    Expr {
        /// The formula.
        expr: Expression,
    },
}

/// A text that a trial leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextFile {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file; placeholders are allowed in its path.
    Path(String),
}

/// What is wrong with a pattern that does not say where its value is.
pub(crate) const NO_VALUE_GROUP: &str = "the pattern has no group `(?P<value>...)`";

/// A regular expression, kept with its text.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Reads a pattern, which must have a group named `value`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| error.to_string())?;
        if !regex.capture_names().any(|name| name == Some("value")) {
            return Err(NO_VALUE_GROUP.to_owned());
        }
        Ok(Self(regex))
    }

    /// The compiled form.
    pub fn regex(&self) -> &Regex {
        &self.0
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// Which of several values of a metric counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The last one.
    #[default]
    Last,
    /// The first one.
    First,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The arithmetic mean.
    Mean,
}

/// Whether a metric should be small or large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Small is good.
    Minimize,
    /// Large is good.
    Maximize,
}

/// A rule that reads a parameter back from the output; the trial fails where it differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// The factor.
    pub factor: String,
    /// Text to search.
    pub file: TextFile,
    /// Pattern with a group `value`.
    pub pattern: Pattern,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_needs_a_group_for_the_value() {
        for good in ["(?P<value>.)", "(?<value>.)", "(?P<step>\\d+) (?P<value>.*)"] {
            assert_eq!(Pattern::parse(good).unwrap().regex().as_str(), good);
        }
        for bad in ["", "(.)", "(?P<values>.)"] {
            assert_eq!(
                Pattern::parse(bad).unwrap_err(),
                "the pattern has no group `(?P<value>...)`"
            );
        }
        assert!(Pattern::parse("(?P<value>").unwrap_err().contains("unclosed group"));
    }

    #[test]
    fn a_pattern_is_kept_as_its_text_and_checked_when_read() {
        let own = Pattern::parse("m=(?P<value>.)").unwrap();
        let json = serde_json::to_value(&own).unwrap();
        assert_eq!(json, "m=(?P<value>.)");
        assert_eq!(serde_json::from_value::<Pattern>(json).unwrap(), own);
        assert!(serde_json::from_str::<Pattern>("\"m=(.)\"").is_err());
        assert_ne!(own, Pattern::parse("m=(?P<value>.*)").unwrap());
    }

    #[test]
    fn spellings_of_a_unit_are_the_same_time() {
        for (one, other) in [("us", "µs"), ("s", "seconds"), ("min", "minutes"), ("h", "hours")] {
            assert_eq!(seconds_per(one), seconds_per(other));
        }
        assert_eq!(seconds_per("ms").map(|own| own * 1000.0), Some(1.0));
        for none in ["", "S", "sec", "m", "days"] {
            assert_eq!(seconds_per(none), None, "{none}");
        }
    }

    #[test]
    fn every_source_survives_being_kept() {
        let text = || "t".to_owned();
        let pattern = Pattern::parse("(?P<value>.)").unwrap();
        for source in [
            MetricSource::Reported { key: text() },
            MetricSource::Wall,
            MetricSource::Jsonl { key: text() },
            MetricSource::Stdout { key: text() },
            MetricSource::Regex { file: TextFile::Path(text()), pattern: pattern.clone() },
            MetricSource::Regex { file: TextFile::Stderr, pattern },
            MetricSource::Json { file: text(), pointer: text() },
            MetricSource::Csv { file: text(), column: text() },
            MetricSource::Tensorboard { file: text(), tag: text() },
            MetricSource::Expr { expr: Expression::parse("a ^ 2").unwrap() },
        ] {
            let kept = serde_json::to_string(&source).unwrap();
            assert_eq!(serde_json::from_str::<MetricSource>(&kept).unwrap(), source, "{kept}");
        }
    }
}
