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
