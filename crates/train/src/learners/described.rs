//! The network of a job, for the pictures that it learns from.

use std::path::Path;

use trainwright_networks::{Network, NetworkDescription, NetworksError};
use trainwright_study::{JobSpec, NetworkName};

use crate::error::TrainError;
use crate::input::Pictures;

/// Most bytes that the examples of one evaluation step may keep, and most examples.
const EVALUATION_BYTES: u64 = 1 << 26;
const EVALUATION_BATCH: u64 = 256;

/// Builds the network that a job names, with the inputs and outputs that the pictures need.
pub(crate) fn network_of(job: &JobSpec, images: &Pictures) -> Result<Network, TrainError> {
    // Changes that the pictures do not allow are told before what follows from them.
    images.check_changes()?;
    let [rows, columns, channels] = images.input_shape();
    let description = match &job.network {
        NetworkName::Mlp | NetworkName::Logistic => {
            let hidden = vec![job.neurons as usize; job.hidden_layers as usize];
            let inputs = rows * columns * channels;
            return Ok(Network::perceptron(inputs, &hidden, images.classes())?);
        }
        NetworkName::Described(path) if path.ends_with(".toml") => read(Path::new(path))?,
        NetworkName::Described(text) => {
            let shape = [rows, columns, channels];
            let shape = if channels == 1 { &shape[..2] } else { &shape[..] };
            NetworkDescription::of(text, Some(shape), Some(images.classes()))?
        }
    };
    let network = Network::new(&description)?;
    let wanted: usize = network.input_shape().iter().product();
    if wanted != rows * columns * channels {
        let (network, wants) = (network.name().to_owned(), format!("{wanted} numbers"));
        let input = vec![rows, columns, channels];
        return Err(NetworksError::InputShape { network, wants, input }.into());
    }
    if network.classes() < images.classes() {
        let (outputs, classes) = (network.classes(), images.classes());
        let network = network.name().to_owned();
        return Err(NetworksError::ClassCount { network, outputs, classes }.into());
    }
    Ok(network)
}

fn read(path: &Path) -> Result<NetworkDescription, TrainError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| TrainError::Description { path: path.to_owned(), source })?;
    Ok(NetworkDescription::from_toml(&text)?)
}

/// Pictures that are scored at once; more would not be faster and would need more memory.
pub(crate) fn evaluation_batch(network: &Network) -> usize {
    let bytes: u64 = network.operators().iter().map(|operator| operator.activation_bytes).sum();
    (EVALUATION_BYTES / bytes.max(1)).clamp(1, EVALUATION_BATCH) as usize
}
