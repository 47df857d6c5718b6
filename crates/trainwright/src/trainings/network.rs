//! The verb `network`: what a network consists of and what it costs.

use std::path::Path;

use serde::Serialize;
use trainwright_networks::{Network, NetworkDescription, Operator};

use crate::Error;

/// A network that somebody asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRequest {
    /// A short text such as `mobilenet-v2:1.0`, or the path of a TOML file.
    pub description: String,
    /// Dimensions of one example, where the text leaves them open.
    pub input: Option<Vec<usize>>,
    /// How many classes, where the text leaves them open.
    pub classes: Option<usize>,
}

/// What a network consists of; everything is for one example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkSummary {
    /// The network's name.
    pub network: String,
    /// Dimensions of one example.
    pub input: Vec<usize>,
    /// How many classes it tells apart.
    pub classes: usize,
    /// All parameters.
    pub parameters: usize,
    /// Numbers that steps change without gradients.
    pub state: usize,
    /// Floating-point operations forward; learning takes about three times as many.
    pub flops: u64,
    /// Bytes that learning keeps from the forward to the backward step.
    pub activation_bytes: u64,
    /// The layers in their order.
    pub operators: Vec<Operator>,
}

/// Builds the network of a description and tells what it consists of.
///
/// # Errors
/// The file cannot be read, the description names no network, or its layers do not fit.
pub fn describe_network(request: &NetworkRequest) -> Result<NetworkSummary, Error> {
    let refused = |error: trainwright_networks::NetworksError| Error::Request(error.to_string());
    let description = description(request)?;
    let network = Network::new(&description).map_err(refused)?;
    let operators = network.operators().to_vec();
    Ok(NetworkSummary {
        network: network.name().to_owned(),
        input: network.input_shape().to_vec(),
        classes: network.classes(),
        parameters: network.parameter_count(),
        state: network.state_count(),
        flops: total(operators.iter().map(|operator| operator.flops)),
        activation_bytes: total(operators.iter().map(|operator| operator.activation_bytes)),
        operators,
    })
}

/// A sum, or the largest number where that is larger.
fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

pub(crate) fn description(request: &NetworkRequest) -> Result<NetworkDescription, Error> {
    let refused = |error: trainwright_networks::NetworksError| Error::Request(error.to_string());
    let NetworkRequest { description, input, classes } = request;
    let path = Path::new(description);
    if path.extension().is_none_or(|extension| extension != "toml") {
        return NetworkDescription::of(description, input.as_deref(), *classes).map_err(refused);
    }
    if input.is_some() || classes.is_some() {
        let reason =
            format!("{description} tells its own input and classes; leave the options out");
        return Err(Error::Request(reason));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Input { path: path.to_owned(), source })?;
    NetworkDescription::from_toml(&text).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(description: &str) -> NetworkRequest {
        NetworkRequest { description: description.to_owned(), input: None, classes: None }
    }

    #[test]
    fn sums_are_those_of_the_layers() {
        let own = describe_network(&ask("mlp:6-4-3")).unwrap();
        assert_eq!((own.input.as_slice(), own.classes), (&[6][..], 3));
        assert_eq!(own.parameters, 6 * 4 + 4 + 4 * 3 + 3);
        let sum: usize = own.operators.iter().map(|operator| operator.parameters).sum();
        assert_eq!(own.parameters, sum);
        assert_eq!(own.flops, own.operators.iter().map(|operator| operator.flops).sum::<u64>());
    }

    #[test]
    fn a_sum_that_overflows_is_the_largest_number() {
        assert_eq!(total([u64::MAX, 1].into_iter()), u64::MAX);
        assert_eq!(total([2, 3].into_iter()), 5);
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in ["resnet:9", "mlp:", "mlp:3-0-2"] {
            let error = describe_network(&ask(text)).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{text}: {error}");
        }
        let error = describe_network(&ask("gone.toml")).unwrap_err();
        assert!(error.to_string().starts_with("cannot read gone.toml: "), "{error}");
    }

    #[test]
    fn a_file_tells_its_own_input_and_classes() {
        let request = NetworkRequest { classes: Some(3), ..ask("net.toml") };
        assert_eq!(
            describe_network(&request).unwrap_err().to_string(),
            "net.toml tells its own input and classes; leave the options out"
        );
    }
}
