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
            if job.hidden_layers as usize >= Network::MOST_LAYERS {
                let (layers, most) = (job.hidden_layers as usize + 1, Network::MOST_LAYERS);
                return Err(NetworksError::TooManyLayers { layers, most }.into());
            }
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
    let kept = network.operators().iter().map(|operator| operator.activation_bytes);
    let bytes = kept.fold(0, u64::saturating_add);
    (EVALUATION_BYTES / bytes.max(1)).clamp(1, EVALUATION_BATCH) as usize
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::learners::fake::fake_job;

    fn job(network: &str) -> JobSpec {
        fake_job(json!({ "network": network, "data": "fashion-mnist-sample", "neurons": 9 }))
    }

    fn built(network: &str) -> Result<Network, TrainError> {
        let job = job(network);
        network_of(&job, &Pictures::open(&job, None).unwrap())
    }

    #[test]
    fn a_network_gets_the_inputs_and_outputs_that_the_pictures_need() {
        assert_eq!(built("mlp").unwrap().name(), "mlp:784-9-10");
        let lstm = built("lstm:3").unwrap();
        assert_eq!((lstm.input_shape(), lstm.classes()), (&[28, 28][..], 10));
    }

    #[test]
    fn a_network_that_does_not_suit_the_pictures_is_refused() {
        let error = built("mlp:100-9-10").unwrap_err().to_string();
        assert!(error.contains("100 numbers") && error.contains("[28, 28]"), "{error}");
        let error = built("mlp:784-9-3").unwrap_err().to_string();
        assert!(error.contains("3 outputs, but there are 10 classes"), "{error}");
    }

    #[test]
    fn a_file_describes_layers_and_is_held_to_the_pictures_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.toml");
        let text = |input: usize, outputs: usize| {
            format!(
                "name = \"own\"\ninput = [{input}]\n[[layer]]\nkind = \"dense\"\noutputs = {outputs}\n"
            )
        };
        let built_of = |text: String| {
            fs::write(&path, text).unwrap();
            built(path.to_str().unwrap())
        };
        assert_eq!(built_of(text(784, 12)).unwrap().name(), "own", "more outputs do no harm");
        let error = built_of(text(783, 10)).unwrap_err().to_string();
        assert!(error.contains("wants 783 numbers"), "{error}");
        let error = built_of(text(784, 9)).unwrap_err().to_string();
        assert!(error.contains("9 outputs"), "{error}");
        fs::remove_file(&path).unwrap();
        let error = built(path.to_str().unwrap()).unwrap_err();
        assert!(matches!(error, TrainError::Description { .. }), "{error}");
    }

    #[test]
    fn as_many_pictures_are_scored_at_once_as_memory_allows() {
        assert_eq!(evaluation_batch(&built("mlp").unwrap()), 256);
        let wide = Network::perceptron(784, &[1 << 22], 10).unwrap();
        assert_eq!(evaluation_batch(&wide), 3, "16 MiB each");
        let huge = Network::perceptron(784, &[1 << 27], 10).unwrap();
        assert_eq!(evaluation_batch(&huge), 1);
    }
}
