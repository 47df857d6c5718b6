//! Why a search cannot be made.

use trainwright_design::DesignError;
use trainwright_study::Configuration;

/// Why a search cannot be made.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum SearchError {
    #[error("no configuration meets the constraints; loosen one of them or widen a range")]
    NothingAllowed,
    #[error(
        "none of {tried} configurations by chance meets the constraints; loosen one of them, or \
         let ranges begin and end where they hold"
    )]
    NoneFound { tried: usize },
    #[error("there are no candidates")]
    NoCandidates,
    #[error("candidate {configuration} has {found} features where others have {expected}")]
    RaggedFeatures { configuration: Configuration, found: usize, expected: usize },
    #[error("a feature of candidate {configuration} is {value}")]
    BadFeature { configuration: Configuration, value: f64 },
    #[error("candidate {configuration} is there twice")]
    CandidateTwice { configuration: Configuration },
    #[error("{0}")]
    Condition(#[from] DesignError),
}

/// Why a search over cloud configurations cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum CloudError {
    #[error("there are no candidates to choose from")]
    NoCandidates,
    #[error("the configuration `{label}` is listed twice")]
    CandidateTwice { label: String },
    #[error("{property} of `{vm_type}` is {value}, where a number above 0 is needed")]
    NotPositive { vm_type: String, property: &'static str, value: f64 },
    #[error("no method is called `{name}`; there are {known}")]
    UnknownMethod { name: String, known: String },
    #[error("the method `{method}` learns from other workloads, and there is no history")]
    NoHistory { method: &'static str },
    #[error("Ernest needs at least {least} runs, and has {found}")]
    TooFewRuns { least: usize, found: usize },
    #[error("{what} is {value}, where a number above 0 is needed")]
    NotAbove0 { what: &'static str, value: f64 },
    #[error(
        "{cores} cores a machine, up to {machines} machines and {parts} parts of the input leave \
         no experiments that tell the four terms apart; allow more parts or fewer cores"
    )]
    NoExperiments { machines: u32, cores: u32, parts: u32 },
}
