//! Which network a job trains.

use serde::{Deserialize, Serialize};

/// Networks the trainer knows, as texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum NetworkName {
    /// Dense layers with ReLU between them, as wide and deep as the job's other keys say: `mlp`.
    Mlp,
    /// Logistic regression on sparse examples: `logistic`.
    Logistic,
    /// A description, such as `cnn:flowers`, or the path of a TOML file that holds one.
    Described(String),
}

const FORMS: &str = "write mlp, logistic, mlp:784-128-10, cnn:flowers, mobilenet-v2:1.0, lstm:128, \
                     bilstm:128 or the path of a .toml file";

impl TryFrom<String> for NetworkName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let family = text.split(':').next().unwrap_or_default();
        match text.as_str() {
            "mlp" => Ok(Self::Mlp),
            "logistic" => Ok(Self::Logistic),
            _ if text.ends_with(".toml")
                || family == "mobilenet-v2"
                || (text.contains(':') && ["mlp", "cnn", "lstm", "bilstm"].contains(&family)) =>
            {
                Ok(Self::Described(text))
            }
            _ => Err(format!("no such value: `{text}`; {FORMS}")),
        }
    }
}

impl From<NetworkName> for String {
    fn from(name: NetworkName) -> Self {
        match name {
            NetworkName::Mlp => "mlp".into(),
            NetworkName::Logistic => "logistic".into(),
            NetworkName::Described(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_texts() {
        for text in ["mlp", "logistic", "cnn:flowers", "mobilenet-v2", "my/net.toml"] {
            let name = NetworkName::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(name), text);
        }
        let error = NetworkName::try_from("resnet".to_owned()).unwrap_err();
        assert!(error.contains("`resnet`") && error.contains("cnn:flowers"), "{error}");
    }
}
