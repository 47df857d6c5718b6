//! How gradients are made smaller on their way between replicas, as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How gradients are made smaller on their way between replicas.
///
/// ```
/// use trainwright_study::Compression;
///
/// let compression: Compression = "top-k:0.01".parse()?;
/// assert_eq!(compression, Compression::TopK { ratio: 0.01 });
/// assert_eq!(compression.to_string(), "top-k:0.01");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Compression {
    /// Not at all: `none`.
    #[default]
    None,
    /// Rounded to 11 significant bits: `f16`.
    F16,
    /// Rounded to 8 significant bits: `bf16`.
    Bf16,
    /// The largest numbers only, the others wait for a later step: `top-k:0.01`.
    TopK {
        /// Share of the numbers that are sent, above 0 and at most 1.
        ratio: f64,
    },
}

const FORMS: &str = "write none, f16, bf16 or top-k:0.01";

impl Compression {
    /// Whether nothing is made smaller.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl FromStr for Compression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("top-k:")) {
            ("none", _) => Ok(Self::None),
            ("f16", _) => Ok(Self::F16),
            ("bf16", _) => Ok(Self::Bf16),
            (_, Some(share)) => {
                let ratio: f64 =
                    share.parse().map_err(|_| format!("`{share}` is not a number; {FORMS}"))?;
                if !(ratio > 0.0 && ratio <= 1.0) {
                    return Err(format!(
                        "the share of top-k is above 0 and at most 1, this is {ratio}"
                    ));
                }
                Ok(Self::TopK { ratio })
            }
            _ => Err(format!("`{text}` is no way to compress; {FORMS}")),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::F16 => f.write_str("f16"),
            Self::Bf16 => f.write_str("bf16"),
            Self::TopK { ratio } => write!(f, "top-k:{ratio}"),
        }
    }
}

impl TryFrom<String> for Compression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Compression> for String {
    fn from(compression: Compression) -> Self {
        compression.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["none", "f16", "bf16", "top-k:0.01", "top-k:1"] {
            let read: Compression = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(read.is_none(), text == "none");
        }
    }

    #[test]
    fn other_words_and_shares_are_refused_with_the_forms() {
        let refused = |text: &str| text.parse::<Compression>().unwrap_err();
        assert_eq!(refused("zip"), format!("`zip` is no way to compress; {FORMS}"));
        assert_eq!(refused("top-k"), format!("`top-k` is no way to compress; {FORMS}"));
        assert_eq!(refused("top-k:x"), format!("`x` is not a number; {FORMS}"));
        for share in ["0", "1.5", "-1", "NaN"] {
            let found = refused(&format!("top-k:{share}"));
            assert_eq!(
                found,
                format!("the share of top-k is above 0 and at most 1, this is {share}")
            );
        }
    }
}
