//! A statement that the data support, and how much it matters.

use serde::Serialize;

use super::catalogue::catalogue_entry;

/// A statement that the data support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable identifier.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The statement, with its figures.
    pub text: String,
    /// Where to read about it.
    pub reference: Option<&'static str>,
}

impl Finding {
    /// A finding of the catalogue, which knows where to read about it.
    pub fn new(id: &'static str, severity: Severity, text: String) -> Self {
        Self { id, severity, text, reference: catalogue_entry(id).map(|entry| entry.reference) }
    }
}

/// How much a finding matters to the conclusions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    #[serde(rename = "note")]
    Info,
    /// Read the figures with care.
    Warning,
    /// A conclusion drawn without it would be wrong.
    Serious,
}

impl Severity {
    /// The one word for it: on the screen, in JSON and in pages' styles.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "note",
            Self::Warning => "warning",
            Self::Serious => "serious",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_severity_is_its_name_in_json() {
        for severity in [Severity::Info, Severity::Warning, Severity::Serious] {
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.name());
        }
    }
}
