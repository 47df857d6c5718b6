//! `trainwright network`.

use trainwright::{Error, NetworkRequest, terminal};

use crate::arguments::NetworkArguments;
use crate::output::show;

pub(crate) fn network(arguments: &NetworkArguments) -> anyhow::Result<u8> {
    let request = NetworkRequest {
        description: arguments.description.clone(),
        input: arguments.input.as_deref().map(dimensions).transpose()?,
        classes: arguments.classes,
    };
    let summary = trainwright::describe_network(&request)?;
    show("network", arguments.json, &summary, terminal::network)?;
    Ok(0)
}

/// Dimensions such as `64x64x3`.
pub(crate) fn dimensions(text: &str) -> Result<Vec<usize>, Error> {
    let number = |part: &str| part.parse().ok().filter(|&size| size > 0);
    text.split('x').map(number).collect::<Option<Vec<usize>>>().ok_or_else(|| {
        Error::Request(format!("--input {text}: dimensions look like 784, 28x28 or 64x64x3"))
    })
}
