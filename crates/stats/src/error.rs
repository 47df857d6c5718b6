//! Why a statistic cannot be computed.

/// Why a statistic cannot be computed from the numbers given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message documents its variant")]
pub enum StatsError {
    #[error("{what} needs at least {needed} values but has {found}")]
    TooFew { what: &'static str, needed: usize, found: usize },
    #[error("{what} is defined for at most {limit} values but has {found}")]
    TooMany { what: &'static str, limit: usize, found: usize },
    #[error("value {position} of {what} is {value}; only finite numbers can be used")]
    NotFinite { what: &'static str, position: usize, value: f64 },
    #[error("all {count} values of {what} equal {value}, so there is no variation to explain")]
    Constant { what: &'static str, count: usize, value: f64 },
    #[error("{what} has {found} values where {expected} are expected")]
    LengthMismatch { what: &'static str, expected: usize, found: usize },
    #[error("the first column of a model matrix must be the intercept (all ones)")]
    NoIntercept,
    #[error("{what} is {value}, outside {range}")]
    OutOfRange { what: &'static str, value: f64, range: &'static str },
    #[error("group {group} has zero variance, which makes the test statistic infinite")]
    ZeroVariance { group: usize },
    #[error("{what} is undefined: {reason}")]
    Undefined { what: &'static str, reason: &'static str },
    #[error("value {position} is {value}; a Box-Cox transformation needs positive values")]
    NotPositive { position: usize, value: f64 },
}
