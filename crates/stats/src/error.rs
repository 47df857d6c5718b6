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
    #[error("value {position} of {what} is {}; only finite numbers can be used", shown(*value))]
    NotFinite { what: &'static str, position: usize, value: f64 },
    #[error("all {count} values of {what} equal {}, so there is no variation to explain", shown(*value))]
    Constant { what: &'static str, count: usize, value: f64 },
    #[error("{what} has {found} values where {expected} are expected")]
    LengthMismatch { what: &'static str, expected: usize, found: usize },
    #[error("the first column of a model matrix must be the intercept (all ones)")]
    NoIntercept,
    #[error("{what} is {}, outside {range}", shown(*value))]
    OutOfRange { what: &'static str, value: f64, range: &'static str },
    #[error("group {group} has zero variance, which makes the test statistic infinite")]
    ZeroVariance { group: usize },
    #[error("{what} is undefined: {reason}")]
    Undefined { what: &'static str, reason: &'static str },
    #[error("value {position} is {}; a Box-Cox transformation needs positive values", shown(*value))]
    NotPositive { position: usize, value: f64 },
}

/// A number as messages show it: very large and very small ones with an exponent instead of
/// hundreds of zeros, others as they were given.
///
/// ```
/// use trainwright_stats::shown;
///
/// assert_eq!((shown(2e300), shown(0.001)), ("2e300".to_owned(), "0.001".to_owned()));
/// ```
pub fn shown(value: f64) -> String {
    let size = value.abs();
    if value.is_finite() && size != 0.0 && !(1e-9..1e16).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}
